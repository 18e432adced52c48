"""Exact gradients of the NLL and exact visits, against differences and roll-outs."""

from pathlib import Path

import numpy as np
import pytest

import boirl
from boirl.policies.tabular import expected_visits
from boirl.problem.explanation import explain
from boirl.rewards import CallableReward

BORLANGE = Path(__file__).parents[3] / "shared" / "borlange"


def by_differences(problem, theta, step=1e-5):
    gradient = []
    for number in range(problem.box.dimension):
        moved = np.zeros(problem.box.dimension)
        moved[number] = step
        higher, lower = problem.nll(theta + moved), problem.nll(theta - moved)
        gradient.append((higher - lower) / (2 * step))
    return np.array(gradient)


def inner_theta(problem, seed):
    unit = np.random.default_rng(seed).uniform(0.05, 0.95, problem.box.dimension)
    return problem.box.from_unit(unit)


@pytest.mark.parametrize("bellman", ["max", "logsumexp", "boltzmann"])
@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("depends_on", ["state", "state_action", "transition"])
def test_gradients_equal_differences(random_problem, bellman, deterministic, depends_on):
    weights = np.random.default_rng(5).normal(size=(3, 4, 3, 4))

    def function(theta, transitions):
        index = [transitions.states, slice(None), slice(None)]
        if depends_on != "state":
            index[1] = transitions.actions
        if depends_on == "transition":
            index[2] = transitions.next_states
        tables = [table[tuple(index)] for table in weights]
        while tables[0].ndim > 1:
            tables = [table.mean(axis=-1) for table in tables]
        one, two, three = (boirl.rewards.family.as_float64(table) for table in tables)
        return theta[:, :1] * one + (theta[:, 1:] * two).sin() + three

    family = CallableReward(function, {"a": (-2, 2), "b": (-2, 2)}, depends_on)
    for seed in range(3):
        problem = random_problem(seed, bellman, deterministic, family)
        theta = inner_theta(problem, seed)
        nll, gradient = problem.nll_and_gradient(theta)
        assert nll == pytest.approx(problem.nll(theta), abs=1e-12)
        np.testing.assert_allclose(gradient, by_differences(problem, theta), atol=1e-6)


@pytest.mark.parametrize("bellman", ["max", "logsumexp", "boltzmann"])
def test_gradients_on_gridworld(bellman):
    problem = boirl.load_problem("gridworld", bellman=bellman, inverse_temperature=0.5)
    for seed in range(5):
        theta = inner_theta(problem, seed)
        _, gradient = problem.nll_and_gradient(theta)
        np.testing.assert_allclose(gradient, by_differences(problem, theta), atol=1e-6)


def test_a_linear_gradient_is_features_expected_less_those_demonstrated(random_problem):
    """Ziebart's gradient, by roll-outs of visits from every demonstrated step on."""
    problem = random_problem(3, "logsumexp", True)
    theta = inner_theta(problem, 0)
    policy = problem.policy(theta)
    features = problem.reward.state_features(problem.mdp.n_states)
    states, following = problem.demonstrations.states, problem.demonstrations.next_states
    expected = np.zeros(features.shape[1])
    for state, after in zip(states, following, strict=True):
        # log pi(a|s) = r(s) + gamma V(s') - V(s), and V sums what is expected from a state on.
        for sign, start in ((1.0, state), (-problem.gamma, after)):
            begin = np.eye(problem.mdp.n_states)[start]
            visits = expected_visits(problem.mdp, policy, begin, 400, problem.gamma)
            expected += sign * (visits @ features)
        expected -= features[state]
    _, gradient = problem.nll_and_gradient(theta)
    np.testing.assert_allclose(gradient, expected / len(problem.demonstrations), atol=1e-9)


def test_slopes_are_zero_where_a_reward_cannot_matter(random_problem):
    problem = random_problem(1, "logsumexp")
    rewards = problem.mdp.expected_rewards(problem.reward, np.array([inner_theta(problem, 0)]))[0]
    parts = (problem.mdp, problem.solver)
    slopes = explain(*parts, rewards, problem.demonstrations).slopes
    # A constant added to all rewards of a discounted task changes nothing.
    assert slopes.sum() == pytest.approx(0.0, abs=1e-9)


def test_visits_equal_roll_outs(random_problem):
    problem = random_problem(2, "max")
    policy = problem.policy(inner_theta(problem, 0))
    rng = np.random.default_rng(0)
    starts = rng.choice(problem.mdp.n_states, size=20_000, p=problem.mdp.start)
    drawn = policy.sample(problem.mdp, starts, 8, rng)
    counted = np.bincount(drawn.states, 0.9**drawn.step_numbers) / len(starts)
    exact = expected_visits(problem.mdp, policy, problem.mdp.start, 8, 0.9)
    np.testing.assert_allclose(counted, exact, atol=0.03)


@pytest.mark.skipif(not BORLANGE.exists(), reason="the Borlange data are not at ../shared/borlange")
def test_visits_and_gradients_on_borlange():
    problem = boirl.load_problem("borlange-virtual", data=str(BORLANGE))
    theta = np.array([-1.7, -0.8, -1.2])
    policy, rng = problem.policy(theta), np.random.default_rng(0)
    starts = problem.demonstrations.starts
    repeats = 30
    by_state = np.array(
        [
            np.bincount(
                policy.sample(problem.mdp, starts, problem.steps, rng).states,
                minlength=problem.mdp.n_states,
            )
            for _ in range(repeats)
        ]
    )
    first = np.bincount(starts, minlength=problem.mdp.n_states).astype(np.float64)
    exact = expected_visits(problem.mdp, policy, first, problem.steps)
    assert exact.sum() == pytest.approx(len(starts) * problem.steps)
    error = by_state.std(axis=0, ddof=1) / np.sqrt(repeats)
    often = exact > 5.0
    deviation = (by_state.mean(axis=0) - exact)[often] / error[often]
    assert often.sum() > 500
    # Student's t with 29 degrees of freedom: a deviation of 1.04, one in 300 beyond 3.2.
    assert 0.9 < deviation.std() < 1.2
    assert (np.abs(deviation) > 3.2).mean() < 0.02
    _, gradient = problem.nll_and_gradient(theta)
    np.testing.assert_allclose(gradient, by_differences(problem, theta), rtol=1e-6, atol=1e-5)


def test_without_a_discount_an_evaluation_has_an_nll_and_no_gradient():
    mdp = boirl.TabularMDP.from_next_states(np.array([[1, 0], [2, 0], [2, 2]]), gamma=1.0)
    reward = boirl.LinearReward(np.array([[-1.0], [-1.0], [0.0]]), {"cost": (0.5, 2.0)})
    walk = boirl.Demonstrations.from_trajectories([([0, 1, 2], [0, 0])])
    evaluation = boirl.TabularProblem(mdp, reward, walk).evaluate([1.0])
    assert evaluation.ok
    assert evaluation.gradient is None
