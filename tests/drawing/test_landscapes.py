"""The landscape of the NLL: what it shows, and how it survives unusual searches."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import QuadMesh

import boirl
from boirl.drawing import landscape
from boirl.drawing.landscapes import affordable_evaluations, outside_limits
from boirl.drawing.scales import NllScale
from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.policies import TabularSolver


@pytest.fixture
def _few_points(monkeypatch):
    monkeypatch.setattr("boirl.drawing.landscapes.GRID", 9)


def panels(figure):
    """The axes that are not colour bars, by title."""
    return {axes.get_title(): axes for axes in figure.axes if axes.get_title()}


def landscape_nlls(found):
    """The exact NLLs of the grid that is drawn."""
    low, high = found.problem.box.low, found.problem.box.high
    x, y = np.meshgrid(*(np.linspace(low[i], high[i], 9) for i in (0, 1)))
    return found.problem.nll_batch(np.column_stack([x.ravel(), y.ravel()]))


def drawn(axes):
    """The numbers of a coloured panel, flat."""
    return np.ravel(axes.collections[0].get_array())


@pytest.mark.usefixtures("_few_points")
def test_the_predicted_nll_and_its_standard_deviation_are_drawn(found):
    shown = panels(landscape(found))
    assert list(shown) == ["posterior mean", "posterior standard deviation"]
    low, high = found.problem.box.low, found.problem.box.high
    x, y = np.meshgrid(*(np.linspace(low[i], high[i], 9) for i in (0, 1)))
    mean, sd = found.predict_nll(np.column_stack([x.ravel(), y.ravel()]))
    scale = NllScale.of(found)
    np.testing.assert_allclose(drawn(shown["posterior mean"]), scale.excess(mean))
    doubt = drawn(shown["posterior standard deviation"])
    np.testing.assert_allclose(doubt, np.maximum(sd, scale.floor))


@pytest.mark.usefixtures("_few_points")
def test_the_exact_nll_is_drawn_where_asked_for(found):
    shown = panels(landscape(found, exact=True))
    assert list(shown) == ["exact NLL", "posterior mean", "posterior standard deviation"]
    corner = found.problem.evaluate(found.problem.box.low).nll
    exact = shown["exact NLL"].collections[0]
    lowest = float(np.min([*found.nll, *landscape_nlls(found)]))
    assert drawn(shown["exact NLL"])[0] == pytest.approx(corner - lowest)
    assert exact.norm.vmax == shown["posterior mean"].collections[0].norm.vmax


def test_nothing_is_solved_but_the_truth(found, monkeypatch):
    fresh = replace(found, evaluations=found.evaluations)
    solved = []
    solve = TabularSolver.solve_batch

    def spy(self, mdp, rewards, *rest):
        solved.append(len(rewards))
        return solve(self, mdp, rewards, *rest)

    monkeypatch.setattr(TabularSolver, "solve_batch", spy)
    landscape(fresh)
    assert sum(solved) == 1


@pytest.mark.usefixtures("_few_points")
def test_other_parameters_are_held_at_the_best_theta():
    found = boirl.explore(boirl.load_problem("gridworld"), evaluations=4, seed=1002, kernel="rbf")
    figure = landscape(found, ("translation", "steepness"))
    axes = panels(figure)["posterior mean"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("translation", "steepness")
    assert f"drawn at midpoint = {found.best[1]:.3g}" in figure.get_suptitle()
    corner = [found.problem.box.low[0], found.best[1], found.problem.box.low[2]]
    expected = NllScale.of(found).excess(found.predict_nll(corner)[0])
    assert drawn(axes)[0] == pytest.approx(expected)


def test_a_reward_with_one_parameter_is_a_curve():
    problem = boirl.load_problem("gridworld2d")
    reward = problem.reward.fix(midpoint=5.0)
    single = boirl.TabularProblem(problem.mdp, reward, problem.demonstrations, truth=(1.25,))
    result = boirl.explore(single, evaluations=5)
    axes = landscape(result).axes[0]
    assert axes.get_xlabel() == "steepness"
    labels = {line.get_label(): line for line in axes.lines}
    assert "exact NLL" not in labels
    np.testing.assert_array_equal(labels["true reward"].get_xdata(), [1.25, 1.25])
    exact = {line.get_label(): line for line in landscape(result, exact=True).axes[0].lines}
    x, y = exact["exact NLL"].get_data()
    assert y[-1] == pytest.approx(single.nll([x[-1]]))


def test_a_search_without_truth_or_with_failures_is_drawn(two_states):
    result = boirl.explore(two_states, evaluations=5)
    failed = Evaluation(result.evaluations[2].theta, np.nan, failure="no values")
    evaluations = (*result.evaluations[:2], failed, *result.evaluations[3:])
    figure = landscape(replace(result, evaluations=evaluations))
    assert "true reward" not in {text.get_text() for text in figure.legends[0].get_texts()}


@pytest.mark.parametrize("names", [("steepness", "colour"), ("colour", "steepness")])
def test_an_unknown_parameter_is_reported(found, names):
    with pytest.raises(InvalidInputError, match=r"no parameter 'colour'; .*'steepness'"):
        landscape(found, names)


def test_predictions_below_the_best_have_a_colour(two_states):
    low, high = (0.5, 0.5), (-0.9, 0.9)
    evaluations = tuple(
        Evaluation(theta, nll) for theta, nll in ((low, 0.1), (high, 9.0), ((0.0, 0.0), 0.2))
    )
    result = replace(boirl.explore(two_states, evaluations=2), evaluations=evaluations)
    for axes in panels(landscape(result)).values():
        assert np.isfinite(axes.collections[0].norm(drawn(axes))).all()


@pytest.mark.usefixtures("_few_points")
def test_borders_that_cross_the_picture_are_drawn_and_explained(found):
    figure = landscape(found, exact=True)
    scale = NllScale.of(found, landscape_nlls(found))
    exact = panels(figure)["exact NLL"]
    excess = drawn(exact)
    crossing = [one for one in scale.levels if excess.min() <= one < excess.max()]
    assert len(exact.collections) == 1 + len(crossing) > 2
    explained = {text.get_text() for text in figure.legends[0].get_texts()}
    assert {"border of 1 %", "border of 10 %"} <= explained


def test_many_held_parameters_are_not_listed():
    found = boirl.explore(
        boirl.load_problem("terrain", side=5, n_terrains=6), evaluations=3, kernel="rbf", seed=1000
    )
    title = landscape(found).get_suptitle()
    assert title == "terrain: 3 evaluations with rbf (drawn at the best theta)"


def test_ticks_of_a_logarithmic_colour_bar_are_plain_numbers(two_states):
    evaluations = tuple(Evaluation((x, -x), nll) for x, nll in ((0.1, 0.4), (0.9, 40.0)))
    result = replace(boirl.explore(two_states, evaluations=2), evaluations=evaluations)
    figure = landscape(result)
    figure.draw_without_rendering()
    bar = next(axes for axes in figure.axes if axes.get_label() == "<colorbar>")
    both = [*bar.get_yticklabels(), *bar.get_yticklabels(minor=True)]
    texts = {text.get_text() for text in both} - {""}
    assert {"0.1", "1", "10"} <= texts
    assert not any("$" in text for text in texts)


@pytest.mark.parametrize(("seconds", "count"), [(0.0, 3600), (1e-9, 3600), (0.1, 150), (60.0, 100)])
def test_an_exact_picture_evaluates_what_it_can_afford(found, seconds, count):
    evaluations = tuple(replace(one, seconds=seconds) for one in found.evaluations)
    assert affordable_evaluations(replace(found, evaluations=evaluations), 3600, 100) == count


@pytest.mark.usefixtures("_few_points")
def test_where_there_are_no_solutions_is_covered(held):
    figure = landscape(held)
    shown = panels(figure)["posterior mean"]
    _, cover = (one for one in shown.collections if isinstance(one, QuadMesh))
    box = held.problem.box
    x, y = np.meshgrid(*(np.linspace(box.low[i], box.high[i], 9) for i in (0, 1)))
    outside = outside_limits(held, np.column_stack([x.ravel(), y.ravel()]))
    assert outside.any()
    assert not outside.all()
    np.testing.assert_array_equal(~np.ma.getmaskarray(cover.get_array()).ravel(), outside)
    assert "no solution" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert NllScale.of(held).lowest == held.best_nll
