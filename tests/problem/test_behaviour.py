"""How differently policies act."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boirl.policies.actions import Categorical, CensoredGaussian
from boirl.policies.network import NetworkPolicy
from boirl.problem.behaviour import (
    largest_differences,
    mean_total_variation,
    sampled_differences,
    sampled_total_variation,
)

SEEDS = st.integers(0, 10_000)


def random_probabilities(seed, n=4, states=5, actions=3):
    return np.random.default_rng(seed).dirichlet(np.ones(actions), size=(n, states))


@given(seed=SEEDS)
def test_total_variation_is_a_distance(seed):
    probabilities = random_probabilities(seed)
    visits = np.random.default_rng(seed).integers(1, 9, size=5)
    distances = mean_total_variation(probabilities, visits)
    np.testing.assert_allclose(distances, distances.T, atol=1e-15)
    np.testing.assert_allclose(np.diag(distances), 0.0)
    assert ((distances >= 0.0) & (distances <= 1.0 + 1e-12)).all()
    around = distances[:, :, None] + distances[None]
    assert (distances[:, None, :] <= around + 1e-12).all()


def test_total_variation_by_hand():
    first, second = [[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.25, 0.75]]
    distances = mean_total_variation(np.array([first, second]), np.array([1, 3]))
    # Wholly different in the state that is visited once, by a quarter in the other one.
    assert distances[0, 1] == pytest.approx((1.0 + 3 * 0.25) / 4)


def test_differences_come_largest_first():
    one = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    other = np.array([[0.6, 0.4], [0.5, 0.5], [0.9, 0.1]])
    first, second = largest_differences(np.array([7, 8, 9]), one, other, 2)
    assert (first.state, first.action, first.other_action) == (9, 1, 0)
    assert first.distance == pytest.approx(0.7)
    assert (second.state, second.distance) == (7, pytest.approx(0.3))  # type: ignore[comparison-overlap]
    assert len(largest_differences(np.array([7, 8, 9]), one, other, 10)) == 3


def chooser(slope):
    """Two choices; the second the likelier the larger the only number it sees."""
    weights = (np.array([[0.0, slope]]),)
    return NetworkPolicy(weights, (np.zeros(2),), "tanh", Categorical(2))


def mover(target, log_sd=-1.0):
    """Draws from a normal distribution around a target, clipped."""
    actions = CensoredGaussian((-1.0,), (1.0,))
    return NetworkPolicy(
        (np.zeros((1, 1)),), (np.array([target]),), "tanh", actions, np.array([log_sd])
    )


def test_sampled_distances_are_close_to_the_exact_ones():
    policies = [chooser(slope) for slope in (0.0, 1.0, -2.0)]
    states = np.random.default_rng(1000).normal(size=(4000, 1))
    probabilities = np.stack(
        [
            np.exp([policy.log_prob(states, np.full(len(states), action)) for action in (0, 1)]).T
            for policy in policies
        ]
    )
    exact = mean_total_variation(probabilities, np.ones(len(states), dtype=int))
    found = sampled_total_variation(policies, states, np.random.default_rng(1000))
    np.testing.assert_allclose(found, exact, atol=0.02)
    np.testing.assert_array_equal(np.diag(found), 0.0)


def test_sampled_distances_between_vectors():
    policies = [mover(-0.5), mover(0.0), mover(0.5), mover(0.0)]
    found = sampled_total_variation(policies, np.zeros((500, 1)), np.random.default_rng(1000))
    np.testing.assert_allclose(found, found.T)
    assert found[1, 3] == 0.0
    assert 0.0 < found[0, 1] < found[0, 2] <= 1.0


def test_states_in_which_sampled_policies_differ_most():
    states = np.array([[0.0], [3.0], [-1.0], [0.1]])
    found = sampled_differences(chooser(2.0), chooser(0.0), states, 2, np.random.default_rng(1000))
    assert [float(one.state[0]) for one in found] == [3.0, -1.0]
    assert found[0].action == 1
    assert found[0].distance > found[1].distance > 0.0
    same = sampled_differences(chooser(2.0), chooser(2.0), states, 1, np.random.default_rng(0))
    assert same[0].distance == 0.0
