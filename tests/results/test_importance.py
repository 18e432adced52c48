"""Weighted points of densities whose moments are known, from poor guesses too."""

import numpy as np
import pytest
from scipy.stats import genpareto, multivariate_normal

from boirl.results.importance import effective_size, importance_sample, smooth_tail

COVARIANCE = 1e-4 * np.array([[1.0, 0.9], [0.9, 1.0]])
NARROW = multivariate_normal([0.3, 0.6], COVARIANCE)


def weighted(drawn):
    weights = np.exp(drawn.log_weights - drawn.log_weights.max())
    return weights / weights.sum()


@pytest.mark.parametrize(
    "guess",
    [
        NARROW.rvs(200, random_state=1),
        np.random.default_rng(1).random((200, 2)),
        NARROW.rvs(200, random_state=1) + np.array([0.1, -0.1]),
    ],
    ids=["right", "uniform", "beside"],
)
def test_moments_are_exact_whatever_the_guess(guess):
    drawn = importance_sample(NARROW.logpdf, guess, 4000, np.random.default_rng(0))
    assert drawn.points.shape == (4000, 2)
    np.testing.assert_allclose(drawn.log_density, NARROW.logpdf(drawn.points))
    weights = weighted(drawn)
    np.testing.assert_allclose(weights @ drawn.points, [0.3, 0.6], atol=2e-3)
    centred = drawn.points - [0.3, 0.6]
    np.testing.assert_allclose((weights * centred.T) @ centred, COVARIANCE, rtol=0.2)
    assert effective_size(drawn.log_weights) > 1000


def test_two_modes_have_their_shares_though_the_guess_knows_of_one_alone():
    one, other = multivariate_normal([0.2, 0.2], 4e-3), multivariate_normal([0.8, 0.7], 4e-3)
    guess = one.rvs(200, random_state=2)
    drawn = importance_sample(
        lambda unit: np.log(0.3 * one.pdf(unit) + 0.7 * other.pdf(unit) + 1e-300),
        np.clip(guess, 0.0, 1.0),
        4000,
        np.random.default_rng(0),
    )
    share = weighted(drawn) @ (drawn.points[:, 0] < 0.5)
    assert share == pytest.approx(0.3, abs=0.03)


def test_a_density_that_the_cube_cuts_off_and_one_that_is_zero_somewhere():
    def corner(unit):
        return np.where(unit[:, 1] > 0.5, -np.inf, -20.0 * unit[:, 0])

    guess = np.random.default_rng(3).random((100, 2))
    drawn = importance_sample(corner, guess, 4000, np.random.default_rng(0))
    weights = weighted(drawn)
    assert weights @ drawn.points[:, 0] == pytest.approx(0.05, abs=0.005)
    assert weights @ drawn.points[:, 1] == pytest.approx(0.25, abs=0.02)
    assert weights[drawn.points[:, 1] > 0.5].sum() == 0.0


def test_a_density_that_is_zero_everywhere_has_no_weights():
    guess = np.random.default_rng(3).random((100, 1))
    drawn = importance_sample(
        lambda unit: np.full(len(unit), -np.inf), guess, 60, np.random.default_rng(0)
    )
    assert effective_size(drawn.log_weights) == 0.0


def test_the_same_generator_gives_the_same_points():
    guess = np.random.default_rng(3).random((100, 2))
    one, other = (
        importance_sample(NARROW.logpdf, guess, 100, np.random.default_rng(5)) for _ in range(2)
    )
    np.testing.assert_array_equal(one.points, other.points)
    np.testing.assert_array_equal(one.log_weights, other.log_weights)


def test_the_effective_size_counts_equal_weights():
    assert effective_size(np.full(50, -3.0)) == pytest.approx(50.0)
    assert effective_size(np.array([0.0, -np.inf, -800.0])) == pytest.approx(1.0)


@pytest.mark.parametrize("shape", [0.1, 0.5, 1.2])
def test_the_shape_of_a_tail_is_found(shape):
    weights = genpareto(shape).rvs(20_000, random_state=np.random.default_rng(4))
    smoothed, k = smooth_tail(np.log(weights))
    assert k == pytest.approx(shape, abs=0.15)
    assert smoothed.max() <= np.log(weights).max()
    order = np.argsort(weights)
    assert (np.diff(smoothed[order]) >= -1e-9).all()


def test_weights_without_a_tail_stay_as_they_are():
    alike = np.zeros(100)
    smoothed, k = smooth_tail(alike)
    np.testing.assert_array_equal(smoothed, alike)
    assert k == -np.inf
    few = np.log(np.arange(1.0, 11.0))
    assert smooth_tail(few)[1] == np.inf
