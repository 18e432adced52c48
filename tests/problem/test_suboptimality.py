"""Shortfalls of demonstrations under a reward: optimal values less returns."""

from dataclasses import replace

import numpy as np
import pytest

import boirl
from boirl.policies import expected_return
from boirl.rewards import LinearReward, ShapedReward

THETA = (1.0, -0.5)


def optimal_values(problem, theta):
    """By plain sweeps."""
    mdp = problem.mdp
    rewards = mdp.expected_rewards(problem.reward, np.array([theta]))[0]
    values = np.zeros(mdp.n_states)
    for _ in range(2000):
        values = (rewards + mdp.gamma * mdp.expect_next(values[:, None])[..., 0]).max(axis=1)
        values[mdp.terminal] = 0.0
    return values, rewards


def test_on_deterministic_dynamics_it_is_the_optimum_less_the_return(random_problem):
    problem = random_problem(3, deterministic=True, count=8)
    values, rewards = optimal_values(problem, THETA)
    by_hand = []
    for states, actions, following in problem.demonstrations:
        paid = np.broadcast_to(rewards, (4, 3))[states, actions]
        discounts = 0.9 ** np.arange(len(states))
        rest = 0.9 ** len(states) * values[following[-1]]
        by_hand.append(values[states[0]] - discounts @ paid - rest)
    found = problem.suboptimality(THETA)
    np.testing.assert_allclose(found.shortfalls, by_hand, atol=1e-9)
    assert found.shortfall == pytest.approx(np.mean(by_hand))


def test_on_average_it_is_the_optimum_less_the_expected_return(random_problem):
    problem = random_problem(4, "logsumexp")
    shown = problem.demonstrate(THETA, 4000, seed=1, horizon=120)
    found = problem.with_demonstrations(shown).suboptimality(THETA)
    values, rewards = optimal_values(problem, THETA)
    start = np.bincount(shown.starts, minlength=4) / 4000
    policy = problem.policy(THETA).log_probabilities[None]
    gap = start @ values - expected_return(problem.mdp, policy, rewards, start, 400)[0]
    spread = found.shortfalls.std() / 4000**0.5
    assert abs(found.shortfall - gap) < 4.0 * spread


def test_who_takes_the_best_action_has_no_shortfall(random_problem):
    problem = random_problem(5)
    sharp = replace(problem, solver=boirl.TabularSolver(inverse_temperature=1e6))
    best = sharp.demonstrate(THETA, 30, seed=0, horizon=10)
    found = problem.with_demonstrations(best).suboptimality(THETA)
    assert found.relative == pytest.approx(0.0, abs=1e-9)
    assert (problem.suboptimality(THETA).shortfalls >= 0.0).all()


def test_uniform_choice_has_a_suboptimality_of_one(random_problem):
    problem = random_problem(6, count=4000, horizon=8)
    found = problem.suboptimality(THETA)
    assert found.relative == pytest.approx(1.0, abs=4.0 * found.standard_error)
    assert 0.0 < found.standard_error < 0.03


def test_neither_scale_nor_shaping_matters(random_problem):
    problem = random_problem(7)
    one, twice = problem.suboptimality(THETA), problem.suboptimality(2.0 * np.array(THETA))
    assert twice.relative == pytest.approx(one.relative)
    assert twice.shortfall == pytest.approx(2.0 * one.shortfall)
    potential = np.random.default_rng(0).normal(size=(4, 1))
    shaped = replace(problem, reward=ShapedReward(problem.reward, potential, 0.9))
    assert shaped.suboptimality((*THETA, 0.7)).relative == pytest.approx(one.relative)


def test_who_ends_early_is_compared_with_all_that_chance_would_have_done():
    following = np.array([[1, 0], [1, 1]])
    mdp = boirl.TabularMDP.from_next_states(following, 1.0, terminal=[1])
    family = LinearReward(np.array([[-1.0], [0.0]]), {"cost": (0.0, 2.0)})
    walks = boirl.Demonstrations.from_trajectories([([0, 1], [0]), ([0, 0, 1], [1, 0])])
    problem = boirl.TabularProblem(mdp, family, walks, horizon=60)
    found = problem.suboptimality([1.0])
    # Every stay costs 1; chance stays once on average.
    np.testing.assert_allclose(found.shortfalls, [0.0, 1.0])
    np.testing.assert_allclose(found.uniform_shortfalls, [1.0, 1.0])
    assert found.relative == 0.5


def test_a_finite_horizon_has_optimal_values_of_its_own():
    # The prize is three steps away, and only two are left after the first wrong one.
    following = np.array([[1, 0], [2, 0], [3, 0], [3, 3]])
    mdp = boirl.TabularMDP.from_next_states(following, 1.0, terminal=[3])
    prize = np.zeros((4, 2, 1))
    prize[2, 0, 0] = 1.0
    walks = boirl.Demonstrations.from_trajectories([([0, 1, 2, 3], [0, 0, 0]), ([0, 0], [1])])
    solver = boirl.TabularSolver("logsumexp", horizon=3)
    problem = boirl.TabularProblem(mdp, LinearReward(prize, {"prize": (0.0, 5.0)}), walks, solver)
    np.testing.assert_allclose(problem.suboptimality([2.0]).shortfalls, [0.0, 2.0])


def test_a_reward_under_which_all_is_the_same_says_so(random_problem):
    found = random_problem(8).suboptimality([0.0, 0.0])
    assert np.isnan(found.relative)
    assert "earns the same" in str(found)
    single = random_problem(8, count=1).suboptimality(THETA)
    assert np.isnan(single.standard_error)
    assert str(single).startswith(f"suboptimality {single.relative:.3f} (0: optimal")
    assert repr(single).startswith("Suboptimality(relative ")


def test_by_default_it_is_of_the_estimate(random_problem):
    problem = random_problem(9, "logsumexp", count=30)
    estimate = boirl.maximum_likelihood(problem)
    np.testing.assert_array_equal(problem.suboptimality().theta, estimate.theta)
