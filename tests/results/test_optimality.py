"""Is the best an optimum? On a parabola whose answers are known."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import boirl
from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.results.optimality import (
    Slopes,
    check_edge,
    check_jumps,
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


@pytest.fixture(scope="module")
def stepped():
    """Who walks a line is paid beyond a threshold; what else there is pays little."""
    places = torch.linspace(0.0, 1.0, 15, dtype=torch.float64)

    def paid(theta, transitions):
        beyond = (places[transitions.states] > theta[:, :1]).double()
        return theta[:, 1:] * beyond

    here = np.arange(15)
    ways = np.stack([np.maximum(here - 1, 0), np.minimum(here + 1, 14), here], axis=1)
    mdp = boirl.TabularMDP.from_next_states(ways, 0.9)
    reward = boirl.CallableReward(paid, {"threshold": (0.1, 0.9), "height": (0.0, 5.0)})
    problem = boirl.TabularProblem(mdp, reward, name="step")
    shown = problem.demonstrate([0.6, 3.0], 30, seed=400, horizon=10)
    return problem.with_demonstrations(shown)


def test_a_reward_that_jumps_is_not_said_to_be_tied(stepped):
    search = boirl.explore(stepped, evaluations=15, seed=401)
    health = search.health()
    assert health.named("rewards tied").data["ties"] == []
    jumps = health.named("reward jumps")
    assert jumps.data["parameters"] == ["threshold"]
    assert "reward jumps: the reward changes along threshold" in str(search)


def test_the_bound_of_a_parameter_that_jumps_is_judged_by_what_is_expected(stepped):
    """The slope at the bound is 0, and the NLL rises from there."""

    def predict(theta):
        return 8.0 + (theta[0] > 0.1), 0.1

    at_bound = SimpleNamespace(
        problem=stepped, best=np.array([0.1, 3.0]), best_index=0, predict_nll=predict
    )
    flat = Slopes(np.array([0]), np.array([[0.0, 0.6]]), np.zeros((1, 2)))
    assert check_edge(at_bound, flat).data["resting"] == {"threshold": "lower"}
    jumping = replace(flat, jumping=("threshold",))
    assert check_edge(at_bound, jumping).data["held"] == {"threshold": "lower"}


def test_a_reward_that_jumps_has_no_maximum_by_its_gradient(stepped):
    with pytest.raises(InvalidInputError, match=r"along threshold.*reward\.fix"):
        boirl.maximum_likelihood(stepped)
    held = replace(stepped, reward=stepped.reward.fix(threshold=0.6))
    assert boirl.maximum_likelihood(held).converged


def test_a_smooth_reward_does_not_jump(found):
    finding = check_jumps(Slopes.of(found))
    assert not finding.needs_attention
    assert finding.data["parameters"] == []


def test_without_gradients_nothing_is_said_of_jumps(parabola):
    assert check_jumps(Slopes.of(parabola(UNITS, gradients=False))) is None
