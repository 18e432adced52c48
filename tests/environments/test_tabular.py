import numpy as np
import pytest
import scipy.sparse as sp
import torch

from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError, SolverError
from boirl.problem import TabularProblem
from boirl.rewards import CallableReward, LinearReward

RING = np.array([[1, 0], [2, 0], [0, 1]])


def dense(mdp):
    return mdp.transition.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)


def test_deterministic_dynamics_are_recognised(random_mdp):
    assert TabularMDP.from_next_states(RING, 0.9).next_states.tolist() == RING.tolist()
    assert random_mdp(0).next_states is None


def test_the_three_ways_to_give_dynamics_agree():
    table = TabularMDP.from_next_states(RING, 0.9)
    probabilities = dense(table)
    by_array = TabularMDP.from_probabilities(probabilities, 0.9)
    matrices = [sp.csr_array(probabilities[:, action]) for action in range(2)]
    by_matrices = TabularMDP.from_probabilities(matrices, 0.9)
    np.testing.assert_array_equal(dense(by_array), probabilities)
    np.testing.assert_array_equal(dense(by_matrices), probabilities)
    np.testing.assert_array_equal(by_matrices.next_states, RING)


def test_expected_values_are_averages_over_next_states(random_mdp):
    mdp = random_mdp(0)
    values = np.random.default_rng(1).normal(size=(mdp.n_states, 3))
    expected = np.einsum("sat,tn->san", dense(mdp), values)
    np.testing.assert_allclose(mdp.expect_next(values), expected, rtol=1e-13)


def test_the_shortcut_for_deterministic_dynamics_gives_the_same(random_mdp):
    mdp = random_mdp(0, deterministic=True)
    values = np.random.default_rng(1).normal(size=(mdp.n_states, 3))
    expected = np.einsum("sat,tn->san", dense(mdp), values)
    np.testing.assert_array_equal(mdp.expect_next(values), expected)


def test_rewards_of_steps_are_averaged_over_next_states(random_mdp):
    mdp = random_mdp(0)
    paid = np.random.default_rng(1).normal(size=(4, 3, 4))
    family = LinearReward(
        lambda steps: paid[steps.states, steps.actions, steps.next_states][:, None],
        {"weight": (-2.0, 2.0)},
    )
    expected = (dense(mdp) * paid).sum(axis=2)
    found = mdp.expected_rewards(family, np.array([[1.0], [-2.0]]))
    np.testing.assert_allclose(found, [expected, -2.0 * expected], rtol=1e-13)


@pytest.mark.parametrize("deterministic", [False, True])
def test_one_reward_described_in_three_ways_is_one_reward(random_mdp, deterministic):
    mdp = random_mdp(0, deterministic=deterministic)
    paid = np.arange(4.0)[:, None]
    bounds = {"weight": (-2.0, 2.0)}
    by_state = LinearReward(paid, bounds)
    by_action = LinearReward(np.repeat(paid[:, None], 3, axis=1), bounds)
    by_step = LinearReward(lambda steps: paid[steps.states], bounds)
    theta = np.array([[1.5]])
    expected = np.broadcast_to(mdp.expected_rewards(by_state, theta), (1, 4, 3))
    np.testing.assert_allclose(mdp.expected_rewards(by_action, theta), expected)
    np.testing.assert_allclose(mdp.expected_rewards(by_step, theta), expected)


def test_next_states_are_drawn_as_often_as_they_are_likely():
    # Zeros within, before and after the probabilities; one certain row among uncertain ones.
    probabilities = np.array(
        [
            [[0.0, 0.2, 0.8], [0.5, 0.0, 0.5]],
            [[0.0, 1.0, 0.0], [0.7, 0.3, 0.0]],
            [[0.1, 0.1, 0.8], [1.0, 0.0, 0.0]],
        ]
    )
    mdp = TabularMDP.from_probabilities(probabilities, 0.9)
    rng, n = np.random.default_rng(0), 20_000
    for state, action in np.ndindex(3, 2):
        drawn = mdp.sample_next(np.full(n, state), np.full(n, action), rng)
        p = probabilities[state, action]
        error = 4.5 * np.sqrt(p * (1.0 - p) / n)
        assert (np.abs(np.bincount(drawn, minlength=3) / n - p) <= error).all(), (state, action)


@pytest.mark.parametrize("gamma", [0.0, -0.1, 1.01, np.nan])
def test_gamma_lies_in_zero_to_one(gamma):
    with pytest.raises(InvalidInputError, match="gamma is"):
        TabularMDP.from_next_states(RING, gamma)


@pytest.mark.parametrize(
    ("next_states", "message"),
    [
        (np.array([0, 1]), r"next_states has shape \(2,\)"),
        (np.array([[0.0], [1.0]]), "type float64"),
        (np.array([[0, 1], [0, 2]]), "action 1 in state 1 leads to state 2"),
        (np.array([[0, -1], [0, 1]]), "action 1 in state 0 leads to state -1"),
    ],
)
def test_next_states_outside_the_mdp_are_named(next_states, message):
    with pytest.raises(InvalidInputError, match=message):
        TabularMDP.from_next_states(next_states, 0.9)


def test_probabilities_that_do_not_sum_to_one_are_named():
    probabilities = dense(TabularMDP.from_next_states(RING, 0.9))
    probabilities[2, 1, 0] = 0.25
    with pytest.raises(InvalidInputError, match=r"after state 2, action 1 sum to 1\.25"):
        TabularMDP.from_probabilities(probabilities, 0.9)


@pytest.mark.parametrize("wrong", [(-0.5, 1.5), (np.nan, 1.0)])
def test_negative_or_missing_probabilities_are_refused(wrong):
    probabilities = dense(TabularMDP.from_next_states(RING, 0.9))
    probabilities[0, 0, :2] = wrong
    with pytest.raises(InvalidInputError, match="negative or NaN"):
        TabularMDP.from_probabilities(probabilities, 0.9)


def test_probabilities_have_three_axes():
    with pytest.raises(InvalidInputError, match="expected S x A x S"):
        TabularMDP.from_probabilities(np.ones((2, 3, 4)) / 4, 0.9)


@pytest.mark.parametrize(
    "start", [[0.5, 0.5], [0.5, 0.5, 0.5], [np.nan, 0.5, 0.5], [1.5, -0.5, 0.0]]
)
def test_the_start_is_a_distribution_over_states(start):
    with pytest.raises(InvalidInputError, match="start distribution"):
        TabularMDP.from_next_states(RING, 0.9, start)


def test_a_reward_that_is_not_finite_names_the_state():
    family = CallableReward(
        lambda theta, steps: theta[:, :1] / torch.as_tensor(2 - steps.states), {"weight": (0, 1)}
    )
    mdp = TabularMDP.from_next_states(RING, 0.9)
    problem = TabularProblem(mdp, family, Demonstrations.from_arrays([[0, 1]], [[0, 0]]))
    with pytest.raises(SolverError, match=r"reward of state 2 is not finite .* \(1\.0,\)"):
        problem.policy((1.0,))
