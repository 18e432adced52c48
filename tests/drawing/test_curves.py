"""The NLL as a search goes on, and what a method returns beside its evaluations."""

from dataclasses import replace

import numpy as np
import pytest

from boirl.baselines import BaselineRun
from boirl.drawing import convergence
from boirl.drawing.curves import FEW_THETAS
from boirl.evaluation import Evaluation


def curves(axes):
    return {line.get_label(): line for line in axes.lines}


def with_nll(found, values):
    """The same result with other NLLs, without a truth; NaN for a failure."""
    evaluations = [
        replace(one, nll=nll, failure="no values" if np.isnan(nll) else None)
        for one, nll in zip(found.evaluations, values, strict=False)
    ]
    problem = replace(found.problem, truth=None)
    return replace(found, problem=problem, evaluations=tuple(evaluations))


def test_every_evaluation_and_the_best_so_far_are_drawn(found):
    shown = curves(convergence(found).axes[0])
    lowest = min(found.best_nll, found.truth.nll)
    np.testing.assert_array_equal(shown["evaluation"].get_ydata(), found.nll - lowest)
    np.testing.assert_array_equal(
        shown["best so far"].get_ydata(), np.minimum.accumulate(found.nll) - lowest
    )
    assert shown["true reward"].get_ydata()[0] == found.truth.nll - lowest
    border = shown["not rejected at 95 % below"].get_ydata()[0]
    assert border == found.likelihood_ratio_tolerance()
    assert "failed" not in shown


@pytest.mark.parametrize("count", [2, 6, 8])
def test_evaluations_are_counted_in_whole_numbers(found, count):
    figure = convergence(found.truncate(count))
    ticks = figure.axes[0].get_xticks()
    np.testing.assert_array_equal(ticks, np.round(ticks))


def test_failures_are_marked(found):
    shown = curves(convergence(with_nll(found, [np.nan, 3.0, np.nan, 2.0])).axes[0])
    np.testing.assert_array_equal(shown["failed"].get_xdata(), [0, 2])
    np.testing.assert_array_equal(shown["failed"].get_ydata(), [1.0, 1.0])
    np.testing.assert_array_equal(shown["best so far"].get_ydata(), [np.nan, 1.0, 1.0, 0.0])


def test_the_best_has_a_place_on_the_logarithmic_scale(found):
    axes = convergence(with_nll(found, [3.0, -2.0])).axes[0]
    assert axes.get_yscale() == "symlog"
    assert axes.get_ylim()[0] < 0.0


def test_the_title_says_what_found_the_best(found):
    title = convergence(found).axes[0].get_title()
    assert title == f"gridworld2d, search with rho-matern: best NLL {found.best_nll:.4f}"


def baseline(found, **returned):
    return BaselineRun(found.problem, found.evaluations, "maxent", **returned)


@pytest.mark.parametrize("count", [3, FEW_THETAS])
def test_returned_thetas_have_a_panel_of_their_own(found, count):
    thetas = found.problem.box.from_unit(np.random.default_rng(0).random((count, 2)))
    figure = convergence(baseline(found, solutions=thetas))
    nll, panel = figure.axes
    assert nll.get_title().startswith("gridworld2d, maxent")
    assert (panel.get_title(), panel.get_xlabel()) == ("solutions", "steepness")
    np.testing.assert_array_equal(panel.lines[0].get_xydata(), thetas)
    np.testing.assert_array_equal(panel.lines[1].get_xydata(), [found.problem.truth])
    box = found.problem.box
    assert panel.get_xlim() == (box.low[0], box.high[0])


def test_samples_and_solutions_are_drawn_side_by_side(found):
    figure = convergence(baseline(found, samples=found.thetas, solutions=found.thetas[:2]))
    assert [axes.get_title() for axes in figure.axes[1:]] == ["samples", "solutions"]
    assert len(convergence(baseline(found)).axes) == 1


def test_a_result_without_truth_is_drawn(two_states):
    evaluations = tuple(two_states.evaluate(theta) for theta in ((0.5, 0.5), (-0.5, 0.5)))
    run = BaselineRun(two_states, evaluations, "random", solutions=np.zeros((1, 2)))
    figure = convergence(run)
    assert "true reward" not in curves(figure.axes[0])
    assert len(figure.axes[1].lines) == 1


def test_a_single_evaluation_is_drawn(two_states):
    run = BaselineRun(two_states, (Evaluation((0.0, 0.0), 2.0),), "random")
    shown = curves(convergence(run).axes[0])
    assert list(shown) == ["evaluation", "best so far", "not rejected at 95 % below"]


def test_the_best_so_far_meets_all_constraints(held):
    shown = curves(convergence(held).axes[0])
    lowest = min(held.nll.min(), held.truth.nll)
    best = shown["best so far"].get_ydata()
    assert np.isnan(best[0]), "the first evaluation breaks the constraint"
    assert best[-1] == held.best_nll - lowest
    broken = np.flatnonzero(~held.feasible)
    np.testing.assert_array_equal(shown["breaks a constraint"].get_xdata(), broken)
    border = shown["not rejected at 95 % below"].get_ydata()[0]
    assert border == pytest.approx(held.best_nll - lowest + held.likelihood_ratio_tolerance())
