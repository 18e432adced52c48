"""Maximum-entropy IRL: descents by exact gradients, and several solutions."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import boirl
from boirl import baselines
from boirl.errors import InvalidInputError, SolverError
from boirl.experiments.suite import suite_problem
from boirl.rewards import CallableReward


@pytest.fixture(scope="module")
def run(gridworld):
    return baselines.get("maxent").run(gridworld, 100, seed=1000)


def test_the_lowest_nll_is_found(run, gridworld):
    found = boirl.explore(gridworld, evaluations=15, seed=1000)
    assert run.best_nll <= found.best_nll + 1e-4
    assert gridworld.esor(run.best) >= gridworld.esor(gridworld.truth)
    gradient = run.evaluations[run.best_index].gradient
    at_border = np.isclose(run.best, gridworld.box.low) | np.isclose(run.best, gridworld.box.high)
    assert np.abs(gradient[~at_border]).max() < 1e-2


def test_several_starts_give_several_behaviours(run, gridworld):
    assert len(run.solutions) >= 2
    policies = [gridworld.policy(theta) for theta in run.solutions]
    distances = gridworld.behaviour_distances(policies)
    assert distances[0, 1] > gridworld.same_behaviour
    nll = gridworld.nll_batch(run.solutions)
    assert np.diff(nll).min() > 0
    assert nll[0] == pytest.approx(run.best_nll, rel=1e-3)


def test_starts_are_counted(run):
    starts = [one.facts["start"] for one in run.evaluations]
    assert starts[0] == 1
    assert set(np.diff(starts)) == {0, 1}
    assert run.facts["descents"] == starts[-1]


def test_a_descent_goes_down(run):
    for number in (1, 2):
        nll = [one.nll for one in run.evaluations if one.facts["start"] == number]
        assert nll[-1] == pytest.approx(min(nll), rel=1e-6)


def test_every_evaluation_keeps_its_gradient(run, gridworld):
    one = run.evaluations[5]
    nll, gradient = gridworld.nll_and_gradient(one.theta)
    assert one.nll == pytest.approx(nll, abs=1e-12)
    np.testing.assert_allclose(one.gradient, gradient)


def test_twenty_parameters_are_no_obstacle():
    problem = boirl.load_problem("terrain")
    run = baselines.get("maxent").run(problem, 40, seed=1000)
    assert run.best_nll < problem.nll(problem.truth)


def change_third_evaluation(problem, monkeypatch, change):
    real, calls = type(problem)._evaluate, []

    def sometimes(self, theta, seed, report):
        calls.append(theta)
        evaluation = real(self, theta, seed, report)
        return change(evaluation) if len(calls) == 3 else evaluation

    monkeypatch.setattr(type(problem), "_evaluate", sometimes)


def test_a_theta_without_a_policy_shortens_a_step(random_problem, monkeypatch):
    def fail(evaluation):
        raise SolverError("no values")

    problem = random_problem(0, "logsumexp")
    change_third_evaluation(problem, monkeypatch, fail)
    run = baselines.get("maxent").run(problem, 12, seed=0)
    assert np.flatnonzero(np.isnan(run.nll)).tolist() == [2]
    assert [one.facts["start"] for one in run.evaluations[:5]] == [1] * 5
    assert run.nll[3] < run.nll[1]


def test_a_theta_without_a_derivative_shortens_a_step(random_problem, monkeypatch):
    problem = random_problem(0, "logsumexp")
    change_third_evaluation(problem, monkeypatch, lambda one: replace(one, gradient=None))
    run = baselines.get("maxent").run(problem, 12, seed=0)
    assert np.isfinite(run.nll).all()
    assert [one.facts["start"] for one in run.evaluations[:5]] == [1] * 5
    assert run.nll[3] < run.nll[1]


def test_descents_beside_the_border_of_divergence_arrive():
    problem = suite_problem("town", 1)
    run = baselines.get("maxent").run(problem, 120, seed=1000)
    descents = np.array([one.facts["start"] for one in run.evaluations])
    nll = np.where(np.isnan(run.nll), np.inf, run.nll)
    ends = [nll[descents == number].min() for number in np.unique(descents)[:-1]]
    solved = [end for end in ends if np.isfinite(end)]
    assert np.isnan(run.nll).any()
    assert len(solved) >= 2
    np.testing.assert_allclose(solved, run.best_nll, rtol=1e-5)


def test_rewards_without_derivatives_are_refused(random_problem):
    def untracked(theta, steps):
        return theta.detach() * torch.as_tensor(steps.states % 2)

    family = CallableReward(untracked, {"weight": (-2.0, 2.0)})
    with pytest.raises(InvalidInputError, match=r"not differentiable .*write it in torch"):
        baselines.get("maxent").run(random_problem(0, reward=family), 3)


def test_learned_policies_are_refused_in_one_line():
    class Learned:
        is_model_free, name = True, "maze"

    with pytest.raises(InvalidInputError, match=r"'maze'.*use gcl or airl") as refused:
        baselines.get("maxent").run(Learned(), 1)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "steps is 0; expected at least 1"),
        ({"tolerance": 0.0}, "tolerance is 0.0; expected a positive number"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(InvalidInputError, match=message):
        baselines.get("maxent", **settings)
