"""Chains on densities whose moments are known."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, truncnorm

from boirl.metrics.exact_chains import sample_exactly


def sample(log_density, dimension, seed=0, **options):
    return sample_exactly(log_density, dimension, seed, **options)


def test_a_narrow_correlated_normal_distribution():
    covariance = 1e-4 * np.array([[1.0, 0.95], [0.95, 1.0]])
    target = multivariate_normal([0.3, 0.6], covariance)
    found = sample(target.logpdf, 2)
    points = found.points.reshape(-1, 2)
    np.testing.assert_allclose(points.mean(axis=0), [0.3, 0.6], atol=1e-3)
    np.testing.assert_allclose(np.cov(points.T), covariance, rtol=0.15)
    assert found.r_hat < 1.01
    assert found.effective_sample_size >= 5000.0
    assert found.points.shape[0] * found.points.shape[1] < found.evaluations


def test_a_density_that_the_cube_cuts_off():
    """A ridge into a corner, as where a posterior presses against the bounds of the box."""
    exact = truncnorm(-10.0, 0.5)

    def ridge(unit):
        return exact.logpdf((unit[:, 0] - 0.95) / 0.1) - 200 * (unit[:, 1] - unit[:, 0]) ** 2

    found = sample(ridge, 2)
    first = found.points[..., 0].ravel()
    for share in (0.1, 0.5, 0.9):
        # The ridge itself is cut off a little at the corner, hence no tighter.
        assert np.quantile(first, share) == pytest.approx(0.95 + 0.1 * exact.ppf(share), abs=0.02)
    assert found.r_hat < 1.01


def test_two_modes_have_their_shares():
    one, other = multivariate_normal([0.2, 0.2], 1e-3), multivariate_normal([0.8, 0.7], 1e-3)
    found = sample(lambda unit: np.log(0.3 * one.pdf(unit) + 0.7 * other.pdf(unit) + 1e-300), 2)
    assert (found.points[..., 0] < 0.5).mean() == pytest.approx(0.3, abs=0.03)


def test_nan_is_a_density_of_zero():
    found = sample(lambda unit: np.where(unit[:, 0] > 0.25, np.nan, 0.0), 1)
    assert found.points.max() <= 0.25
    assert found.points.mean() == pytest.approx(0.125, abs=0.005)


def test_the_uniform_distribution_in_many_dimensions():
    found = sample(lambda unit: np.zeros(len(unit)), 6, least_effective=1000.0)
    np.testing.assert_allclose(found.points.reshape(-1, 6).mean(axis=0), 0.5, atol=0.03)
    np.testing.assert_allclose(found.points.reshape(-1, 6).std(axis=0), 12**-0.5, atol=0.02)


def test_the_same_seed_gives_the_same_chains():
    options = {"least_effective": 10.0, "most_rounds": 1, "particles": 64}
    first, second = (sample(lambda u: -50.0 * u.sum(axis=1), 2, **options) for _ in range(2))
    np.testing.assert_array_equal(first.points, second.points)
    assert (sample(lambda u: -50.0 * u.sum(axis=1), 2, 1, **options).points != first.points).any()
