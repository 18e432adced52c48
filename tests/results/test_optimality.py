"""Is the best an optimum? On a parabola whose answers are known."""

from dataclasses import replace

import numpy as np
import pytest

from boirl.evaluation import Evaluation
from boirl.results.optimality import (
    Slopes,
    check_edge,
    check_stalled,
    check_ties,
    promised_gain,
)

CURVATURE = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.fixture
def parabola(found):
    """Builder of a search of `20 + x H x / 2` in the unit cube, x from a centre."""
    box = found.problem.box

    def build(units, centre=(0.5, 0.5, 0.5), curvature=CURVATURE, gradients=True):
        evaluations = []
        for unit in units:
            apart = unit - np.array(centre)
            slope = curvature @ apart / (box.high - box.low) if gradients else None
            nll = 20.0 + 0.5 * apart @ curvature @ apart
            theta = tuple(box.from_unit(np.asarray(unit)).tolist())
            evaluations.append(Evaluation(theta, nll, gradient=slope))
        return replace(found, evaluations=tuple(evaluations))

    return build


UNITS = np.random.default_rng(1).random((12, 3))


def test_the_promised_gain_is_exact_on_a_parabola(parabola):
    search = parabola(UNITS)
    gain = promised_gain(search, Slopes.of(search))
    assert gain == pytest.approx(search.best_nll - 20.0, rel=0.05)


def test_nothing_is_promised_at_the_optimum(parabola):
    search = parabola([*UNITS, np.full(3, 0.5)])
    assert promised_gain(search, Slopes.of(search)) == pytest.approx(0.0, abs=1e-12)


def test_a_step_does_not_leave_the_box(parabola):
    """With the centre outside, the best on the border is all that can be had in that direction."""
    centre = (0.5, 0.5, 1.5)
    search = parabola([*UNITS, (0.5, 0.5, 1.0)], centre)
    assert promised_gain(search, Slopes.of(search)) == pytest.approx(0.0, abs=1e-9)
    inside = parabola(UNITS, centre)
    gain = promised_gain(inside, Slopes.of(inside))
    assert 0.0 < gain < inside.best_nll - 20.0


def test_without_gradients_nothing_is_promised(parabola):
    search = parabola(UNITS, gradients=False)
    assert promised_gain(search, Slopes.of(search)) is None
    assert Slopes.of(search).at(0) is None


def test_a_search_that_ended_too_early_is_seen_by_its_gradient(parabola):
    stopped = parabola([*(0.2 * UNITS)])
    finding = check_stalled(stopped, Slopes.of(stopped), stopped.thetas)
    tolerance = stopped.likelihood_ratio_tolerance()
    assert finding.needs_attention
    assert finding.data["promised_gain"] > tolerance
    assert "exact gradient promises" in finding.message
    assert "maximum_likelihood" in finding.message


def test_a_search_at_its_optimum_is_fine(parabola):
    ended = parabola([*UNITS, np.full(3, 0.5)])
    finding = check_stalled(ended, Slopes.of(ended), ended.thetas)
    assert not finding.needs_attention
    assert finding.data["evaluations_since_best"] == 0


def test_a_surrogate_that_expects_better_is_listened_to(found, made_up):
    unimproved = made_up(np.where(found.nll < 24.0, np.nan, found.nll))
    better = found.within(0.01)
    assert unimproved.predict_nll(better)[0].min() > 0
    finding = check_stalled(unimproved, Slopes.of(unimproved), found.thetas)
    assert finding.data["promised_gain"] is None
    expected = unimproved.best_nll - unimproved.predict_nll(found.thetas)[0].min()
    assert finding.data["expected_gain"] == pytest.approx(max(0.0, expected))


@pytest.mark.parametrize("gradients", [True, False])
def test_bounds_that_hold_the_best_are_named(parabola, gradients):
    search = parabola([*UNITS, (0.0, 0.5, 1.0)], (-0.5, 0.7, 1.5), gradients=gradients)
    finding = check_edge(search, Slopes.of(search))
    names = search.names
    assert finding.needs_attention
    assert finding.data["held"] == {names[0]: "lower", names[2]: "upper"}
    assert f"{names[0]} (lower bound), {names[2]} (upper bound)" in finding.message


def test_a_parameter_that_nothing_depends_on_is_on_its_bound_by_chance(parabola):
    flat = np.diag([3.0, 2.0, 0.0])
    search = parabola([*UNITS, (0.5, 0.5, 1.0)], curvature=flat)
    finding = check_edge(search, Slopes.of(search))
    assert not finding.needs_attention
    assert finding.data["held"] == {}
    assert finding.data["resting"] == {search.names[2]: "upper"}
    assert f"on that of {search.names[2]} (upper bound)" in finding.message


def test_tied_directions_are_found(parabola):
    tied = np.array([1.0, -1.0, 0.5])
    away = np.eye(3) - np.outer(tied, tied) / (tied @ tied)
    search = parabola(UNITS, curvature=30.0 * away)
    finding = check_ties(search, Slopes.of(search))
    (one,) = finding.data["ties"]
    box = search.problem.box
    direction = one["direction"] / (box.high - box.low)
    np.testing.assert_allclose(direction / direction[0], tied, rtol=1e-6)
    assert one["change"] < 1e-9
    assert all(name in finding.message for name in search.names)
    assert not finding.needs_attention


def test_what_changes_something_is_not_tied(parabola):
    search = parabola(UNITS)
    assert check_ties(search, Slopes.of(search)).data["ties"] == []
    few = parabola(UNITS[:3])
    assert check_ties(few, Slopes.of(few)) is None


def test_a_tie_of_the_gridworld_is_found(found):
    (one,) = check_ties(found, Slopes.of(found)).data["ties"]
    np.testing.assert_allclose(np.abs(one["direction"]), [0.0, 0.0, 8.0], atol=1e-6)
