"""The operators: their derivatives, and what they make of terminal states."""

import numpy as np
import pytest

from boirl.environments import TabularMDP
from boirl.policies.operators import BellmanEquation

OPERATORS = ("max", "boltzmann", "logsumexp")


def equation(random_mdp, bellman, beta=1.0, terminal=(), gamma=0.9):
    base = random_mdp(0, n_states=5)
    start = np.eye(5)[0]
    mdp = TabularMDP(base.transition, base.n_actions, gamma, start, np.array(terminal, dtype=int))
    rewards = np.random.default_rng(1).normal(size=(5, base.n_actions, 2))
    return BellmanEquation(mdp, rewards, bellman, beta)


@pytest.mark.parametrize("bellman", OPERATORS)
@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("terminal", [(), (3,)])
def test_slopes_are_derivatives(random_mdp, bellman, beta, terminal):
    asked = equation(random_mdp, bellman, beta, terminal)
    q = asked.q(np.zeros((5, 2)))
    values, slopes = asked.back_up_with_slopes(q)
    np.testing.assert_allclose(values, asked.back_up(q.copy()), atol=1e-13)
    step = 1e-6
    for action in range(q.shape[1]):
        moved = [q.copy(), q.copy()]
        moved[0][:, action] += step
        moved[1][:, action] -= step
        above, below = (asked.back_up(one) for one in moved)
        np.testing.assert_allclose(slopes[:, action], (above - below) / (2 * step), atol=1e-6)


@pytest.mark.parametrize("bellman", OPERATORS)
def test_nothing_happens_in_terminal_states(random_mdp, bellman):
    asked = equation(random_mdp, bellman, terminal=(1, 3))
    q = asked.q(np.zeros((5, 2)))
    probabilities = np.exp(asked.log_policies(q))
    values = asked.back_up(q.copy())
    assert (values[[1, 3]] == 0.0).all()
    assert (probabilities[[1, 3]] == 0.0).all()
    np.testing.assert_allclose(probabilities[[0, 2, 4]].sum(axis=1), 1.0)
    also, slopes = asked.back_up_with_slopes(q)
    assert (also[[1, 3]] == 0.0).all()
    assert (slopes[[1, 3]] == 0.0).all()


def test_without_a_discount_equally_good_actions_are_mixed(random_mdp):
    tied = equation(random_mdp, "max", gamma=1.0, terminal=(4,))
    q = np.zeros((5, 3, 2))
    q[:, 2] = -1.0
    np.testing.assert_allclose(tied.back_up_with_slopes(q)[1][0, :, 0], [0.5, 0.5, 0.0])
    discounted = equation(random_mdp, "max")
    np.testing.assert_allclose(discounted.back_up_with_slopes(q)[1][0, :, 0], [1.0, 0.0, 0.0])


def test_some_of_a_batch_are_the_same_equations(random_mdp):
    asked = equation(random_mdp, "logsumexp")
    values = np.random.default_rng(2).normal(size=(5, 2))
    np.testing.assert_allclose(
        asked.of(np.array([1])).q(values[:, [1]])[..., 0], asked.q(values)[..., 1], rtol=1e-13
    )
    assert asked.size == 2
