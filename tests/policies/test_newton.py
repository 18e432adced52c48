"""Newton's method gives what sweeps give, in all of its ways to solve a step."""

import numpy as np
import pytest

from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError, SolverError
from boirl.policies import TabularSolver
from boirl.policies.newton import SuccessorClasses


def deterministic(seed, n_states=40, n_actions=4):
    """Random dynamics with some staying in place, some shared successors and a sink."""
    rng = np.random.default_rng(seed)
    next_states = rng.integers(0, n_states, (n_states, n_actions))
    next_states[::3, 1] = np.arange(n_states)[::3]
    next_states[5] = next_states[7]
    next_states[-1] = n_states - 1
    return TabularMDP.from_next_states(next_states, gamma=0.95)


def stochastic(seed, n_states=25, n_actions=3):
    weights = np.random.default_rng(seed).random((n_states, n_actions, n_states)) ** 8
    return TabularMDP.from_probabilities(weights / weights.sum(-1, keepdims=True), gamma=0.95)


@pytest.mark.parametrize("bellman", ["max", "logsumexp"])
@pytest.mark.parametrize("beta", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("build", [deterministic, stochastic])
@pytest.mark.parametrize("on_states", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_newton_agrees_with_sweeps(bellman, beta, build, on_states, seed):
    mdp = build(seed)
    shape = (3, mdp.n_states, 1 if on_states else mdp.n_actions)
    rewards = np.random.default_rng(seed + 10).normal(scale=3.0, size=shape)
    swept = TabularSolver(bellman, beta, method="sweeps").solve_batch(mdp, rewards)
    solved = TabularSolver(bellman, beta, method="newton").solve_batch(mdp, rewards)
    assert solved.converged.all()
    np.testing.assert_allclose(solved.values, swept.values, atol=1e-9)
    np.testing.assert_allclose(solved.log_policies, swept.log_policies, atol=1e-9)
    assert solved.sweeps < 40


def test_states_share_a_class_exactly_when_they_share_their_ways_on():
    mdp = deterministic(0)
    classes = SuccessorClasses.of(mdp)
    for one in range(mdp.n_states):
        for other in range(mdp.n_states):
            ways = [sorted(set_aside(mdp, state)) for state in (one, other)]
            assert (classes.of_state[one] == classes.of_state[other]) == (ways[0] == ways[1])


def set_aside(mdp, state):
    return [int(following) for following in mdp.next_states[state] if following != state]


def test_large_problems_are_solved_by_newton_on_their_own():
    mdp = deterministic(3, n_states=600)
    rewards = np.random.default_rng(0).normal(size=(1, 600, 1))
    solution = TabularSolver("logsumexp").solve_batch(mdp, rewards)
    assert solution.converged.all()
    assert solution.sweeps < 40


def test_a_singular_matrix_ends_one_of_a_batch_and_not_the_others(monkeypatch):
    def fail(*_):
        raise np.linalg.LinAlgError

    mdp = stochastic(0)
    rewards = np.random.default_rng(0).normal(size=(3, 25, 1))
    together = TabularSolver("logsumexp", method="newton").solve_batch(mdp, rewards)
    monkeypatch.setattr(np.linalg, "solve", fail)
    apart = TabularSolver("logsumexp", method="newton").solve_batch(mdp, rewards)
    assert apart.converged.all()
    np.testing.assert_allclose(apart.values, together.values, atol=1e-10)


def test_newton_refuses_what_it_cannot_solve():
    mdp = TabularMDP.from_next_states([[1, 1], [1, 1]], gamma=1.0)
    with pytest.raises(InvalidInputError, match="needs gamma below 1, or a terminal state"):
        TabularSolver("max", method="newton").solve(mdp, np.zeros((2, 1)))
    with pytest.raises(InvalidInputError, match="method is 'magic'"):
        TabularSolver("max", method="magic")


def test_a_fixed_number_of_sweeps_means_sweeps():
    mdp = deterministic(3, n_states=600)
    with pytest.raises(SolverError, match="after 3 sweeps"):
        TabularSolver("max", max_sweeps=3).solve(mdp, np.ones((600, 1)))
