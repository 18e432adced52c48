"""Likelihoods from values that were kept, for many policies at once."""

import numpy as np
import pytest

import boirl
from boirl.policies import TabularSolver
from boirl.problem import rescoring
from boirl.rewards import LinearReward

BELLMANS = ("max", "boltzmann", "logsumexp")


def reward_of(kind):
    rng = np.random.default_rng(1000)
    bounds = {"first": (-2.0, 2.0), "second": (-2.0, 2.0)}
    if kind == "state":
        return LinearReward(rng.standard_normal((4, 2)), bounds)
    if kind == "state_action":
        return LinearReward(rng.standard_normal((4, 3, 2)), bounds)
    return LinearReward(rng.standard_normal((4, 2)), bounds, of_next=True)


@pytest.mark.parametrize("kind", ["state", "state_action", "transition"])
@pytest.mark.parametrize("deterministic", [False, True])
def test_they_are_those_of_the_policies(random_problem, kind, deterministic, monkeypatch):
    monkeypatch.setattr(rescoring, "AT_ONCE", 30)
    for bellman in BELLMANS:
        problem = random_problem(1000, bellman, deterministic, reward_of(kind))
        thetas = problem.box.from_unit(np.random.default_rng(1000).random((5, 2)))
        evaluations = [problem.evaluate(theta) for theta in thetas]
        other = problem.with_demonstrations(problem.demonstrations.subset([3, 1]))
        found = other.kept_log_likelihoods(evaluations)
        expected = [other.log_likelihoods(problem.policy_of(one)) for one in evaluations]
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_policies_may_depend_on_the_steps_left(random_problem):
    from dataclasses import replace

    problem = replace(random_problem(1000), solver=TabularSolver(horizon=8))
    evaluations = [problem.evaluate(theta) for theta in ([0.5, 1.0], [-1.0, 0.3])]
    expected = [one.log_likelihoods for one in evaluations]
    np.testing.assert_allclose(problem.kept_log_likelihoods(evaluations), expected, rtol=1e-10)


def test_rewards_in_some_states_are_those_of_the_table(random_problem):
    for kind in ("state", "state_action", "transition"):
        problem = random_problem(1000, reward=reward_of(kind))
        thetas = np.array([[1.0, 0.5], [-1.0, 2.0]])
        table = problem.mdp.expected_rewards(problem.reward, thetas)
        found = rescoring.rewards_in(problem.mdp, problem.reward, thetas, np.array([2, 0]))
        np.testing.assert_allclose(found, table[:, [2, 0]], rtol=1e-12)


def test_a_problem_without_a_table_goes_policy_by_policy():
    town = boirl.load_problem("road-network", n_links=40, n_demonstrations=3)
    evaluation = town.evaluate(town.truth)
    found = super(type(town), town).kept_log_likelihoods([evaluation])
    np.testing.assert_allclose(found[0], evaluation.log_likelihoods, rtol=1e-10)
