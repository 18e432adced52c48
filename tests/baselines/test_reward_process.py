"""A Gaussian process over rewards, beside the same formulas written out in NumPy."""

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from boirl.baselines.reward_process import (
    DEVIATIONS,
    LOG_RELEVANCE,
    LOG_VARIANCE,
    NOISE,
    RewardProcess,
    choose_inducing,
)

FEATURES = np.random.default_rng(0).standard_normal((7, 2))
INDUCING = np.array([5, 0, 3])


@pytest.fixture
def process():
    return RewardProcess(torch.as_tensor(FEATURES), INDUCING)


def point(process, values, relevance, variance):
    """The point of the cube with these values in standard deviations."""

    def unit(x, low, high):
        return (np.asarray(x) - low) / (high - low)

    parts = (
        unit(values, -DEVIATIONS, DEVIATIONS),
        unit(np.log(relevance), *LOG_RELEVANCE),
        unit([np.log(variance)], *LOG_VARIANCE),
    )
    return torch.tensor(np.concatenate(parts))


def covariance(one, other, relevance, variance, same):
    squares = (one[:, None] - other[None]) ** 2 + NOISE * ~same[..., None]
    return variance * np.exp(-0.5 * squares @ relevance)


def test_rewards_and_prior_are_those_of_the_formulas(process):
    white, relevance, variance = np.array([0.5, -1.0, 2.0]), np.array([0.3, 2.0]), 3.0
    chosen = FEATURES[INDUCING]
    between = covariance(chosen, chosen, relevance, variance, np.eye(3, dtype=bool))
    cross = covariance(FEATURES, chosen, relevance, variance, np.zeros((7, 3), dtype=bool))
    values = np.linalg.cholesky(between) @ white
    inverse = np.linalg.inv(between)
    belief = process.belief(point(process, white, relevance, variance))
    np.testing.assert_allclose(belief.rewards, cross @ inverse @ values, atol=1e-10)
    expected = (
        multivariate_normal(np.zeros(3), between).logpdf(values)
        + 1.5 * np.log(2.0 * np.pi)
        - 0.5 * np.trace(inverse @ inverse)
        - np.log1p(relevance).sum()
    )
    assert float(belief.log_prior) == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(belief.relevance, relevance)
    assert float(belief.variance) == pytest.approx(variance)


def test_a_feature_that_does_not_count_changes_nothing(process):
    white = np.array([0.5, -1.0, 2.0])
    moved = FEATURES.copy()
    moved[:, 1] += np.random.default_rng(1).standard_normal(7)
    other = RewardProcess(torch.as_tensor(moved), INDUCING)
    lowest = np.exp(LOG_RELEVANCE[0])
    for relevance, alike in (([1.0, lowest], True), ([1.0, 1.0], False)):
        place = point(process, white, relevance, 1.0)
        one, two = (p.belief(place).rewards.numpy() for p in (process, other))
        assert np.allclose(one, two, atol=0.05) == alike


def test_slopes_are_those_of_small_differences(process):
    rng = np.random.default_rng(2)
    place = torch.tensor(process.start(rng), requires_grad=True)

    def total(unit):
        belief = process.belief(unit)
        return belief.rewards @ torch.arange(7.0, dtype=torch.float64) + belief.log_prior

    assert torch.autograd.gradcheck(total, (place,), atol=1e-4)


def test_starts_are_in_the_cube_and_differ(process):
    starts = [process.start(np.random.default_rng(seed)) for seed in (0, 0, 1)]
    assert starts[0].shape == (process.dimension,)
    assert all((start >= 0.0).all() and (start <= 1.0).all() for start in starts)
    np.testing.assert_array_equal(starts[0], starts[1])
    assert not np.allclose(starts[0], starts[2])


def test_demonstrated_states_come_first_and_no_features_come_twice():
    features = np.array([[0.0], [1.0], [1.0], [2.0], [3.0]])
    shown = np.array([2, 2, 2, 1, 4])
    rng = np.random.default_rng(0)
    chosen = choose_inducing(features, shown, 2, rng)
    assert chosen.tolist() == [2, 4]
    assert sorted(features[choose_inducing(features, shown, 9, rng), 0]) == [0.0, 1.0, 2.0, 3.0]
