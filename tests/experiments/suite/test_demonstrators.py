"""What generators share."""

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.experiments.suite.demonstrators import (
    demonstrated_problem,
    draw_bounds,
    draw_count,
    explained_problem,
    operator_of,
    table_solution,
)
from boirl.policies import TabularSolver
from boirl.rewards import LinearReward


def test_neighbouring_seeds_cover_all_operators():
    for first in (0, 100, 1003):
        operators = {operator_of(seed) for seed in range(first, first + 3)}
        assert operators == {"max", "boltzmann", "logsumexp"}


def test_counts_are_log_uniform():
    rng = np.random.default_rng(0)
    counts = np.array([draw_count(rng, 10, 500) for _ in range(2000)])
    assert counts.min() >= 10
    assert counts.max() <= 500
    assert np.median(counts) == pytest.approx(np.sqrt(10 * 500), rel=0.1)


def test_boxes_hold_zero_and_are_not_symmetric():
    bounds = draw_bounds(np.random.default_rng(0), 5, 3.0)
    for low, high in bounds.values():
        assert -3.0 <= low <= -1.0 < 1.0 <= high <= 3.0
        assert low != -high


def test_demonstrations_are_those_of_the_truth(random_mdp):
    mdp = random_mdp(0)
    features = np.random.default_rng(1).uniform(-1.0, 1.0, (4, 2))
    reward = LinearReward(features, {"a": (-8.0, 8.0), "b": (-8.0, 8.0)})
    problem = demonstrated_problem(
        mdp, reward, TabularSolver("logsumexp"), np.random.default_rng(2), 400, 5, "some"
    )
    chosen = problem.demonstrations.actions[problem.demonstrations.states == 0]
    shares = np.bincount(chosen, minlength=3) / len(chosen)
    policy = problem.policy(problem.truth)
    np.testing.assert_allclose(shares, policy.probabilities[0], atol=0.08)
    assert (problem.name, len(problem.demonstrations)) == ("some", 400)


def test_a_reward_of_another_kind_can_be_demonstrated(random_mdp):
    mdp, solver = random_mdp(0), TabularSolver("logsumexp")
    policy = table_solution(mdp, solver, np.array([0.0, 3.0, 0.0, 0.0]))
    reward = LinearReward(np.eye(4)[:, :2], {"a": (-1.0, 1.0), "b": (-1.0, 1.0)})
    rng = np.random.default_rng(0)
    problem = explained_problem(mdp, reward, solver, policy, rng, 10, 5, "other")
    assert problem.truth is None
    assert problem.demonstrations.lengths.tolist() == [5] * 10


def test_a_generator_without_policies_is_named(random_mdp):
    reward = LinearReward(np.full((4, 1), 1.0), {"a": (1.0, 2.0)})
    solver = TabularSolver("max", max_sweeps=1)
    with pytest.raises(InvalidInputError, match=r"none of 50 thetas of problem 'bad' has a policy"):
        demonstrated_problem(random_mdp(0), reward, solver, np.random.default_rng(0), 5, 5, "bad")
