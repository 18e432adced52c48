import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boirl.demonstrations import Demonstrations
from boirl.policies import TabularPolicy
from boirl.problem.likelihood import negative_log_likelihood, negative_log_likelihoods

SEEDS = st.integers(0, 10_000)


@pytest.fixture
def ragged():
    return Demonstrations.from_trajectories([([0, 1, 0], [0, 1, 0]), ([1], [0])])


def random_log_policies(seed, n):
    probabilities = np.random.default_rng(seed).dirichlet(np.ones(3), size=(n, 4))
    return np.log(probabilities)


def test_it_sums_over_steps_and_averages_over_trajectories(ragged):
    policy = TabularPolicy(np.log([[0.5, 0.5], [0.25, 0.75]]))
    expected = -(np.log(0.5) + np.log(0.75) + np.log(0.5) + np.log(0.25)) / 2
    assert negative_log_likelihood(policy, ragged) == pytest.approx(expected, rel=1e-14)


@given(seed=SEEDS)
def test_a_batch_equals_one_policy_at_a_time(random_problem, seed):
    demonstrations = random_problem(seed).demonstrations
    policies = random_log_policies(seed, 3)
    singly = [negative_log_likelihood(TabularPolicy(one), demonstrations) for one in policies]
    np.testing.assert_allclose(
        negative_log_likelihoods(policies, demonstrations), singly, rtol=1e-12
    )


@given(seed=SEEDS)
def test_the_order_of_demonstrations_is_irrelevant(random_problem, seed):
    demonstrations = random_problem(seed).demonstrations
    order = np.random.default_rng(seed).permutation(len(demonstrations))
    policies = random_log_policies(seed, 1)
    np.testing.assert_allclose(
        negative_log_likelihoods(policies, demonstrations.subset(order)),
        negative_log_likelihoods(policies, demonstrations),
        rtol=1e-13,
    )


def test_every_demonstration_twice_is_the_same_evidence(ragged):
    policies = random_log_policies(0, 2)
    twice = Demonstrations.concatenate([ragged, ragged])
    np.testing.assert_allclose(
        negative_log_likelihoods(policies, twice), negative_log_likelihoods(policies, ragged)
    )
