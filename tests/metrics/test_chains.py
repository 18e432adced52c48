"""R-hat and effective sample size, on chains whose mixing is known."""

import numpy as np
import pytest

from boirl.metrics.chains import effective_sample_size, r_hat


def autoregressive(coefficient, chains, steps, seed):
    """Chains that forget at a known pace, from their stationary distribution."""
    rng = np.random.default_rng(seed)
    noise = np.sqrt(1.0 - coefficient**2) * rng.standard_normal((chains, steps))
    values = np.empty((chains, steps))
    values[:, 0] = rng.standard_normal(chains)
    for step in range(1, steps):
        values[:, step] = coefficient * values[:, step - 1] + noise[:, step]
    return values


@pytest.mark.parametrize("chains", [1, 4])
@pytest.mark.parametrize("transform", [np.asarray, np.exp, np.tan, np.floor])
def test_independent_draws_have_mixed_whatever_they_are(chains, transform):
    draws = transform(np.random.default_rng(0).standard_normal((chains, 1000)))
    assert r_hat(draws) == pytest.approx(1.0, abs=0.01)
    assert effective_sample_size(draws) == pytest.approx(draws.size, rel=0.15)


@pytest.mark.parametrize("coefficient", [-0.5, 0.5, 0.9])
def test_effective_sample_size_of_chains_that_forget_at_a_known_pace(coefficient):
    draws = autoregressive(coefficient, 8, 5000, seed=0)
    expected = draws.size * (1.0 - coefficient) / (1.0 + coefficient)
    assert effective_sample_size(draws) == pytest.approx(expected, rel=0.1)
    assert r_hat(draws) < 1.02


def test_the_error_of_a_mean_is_what_the_effective_sample_size_says():
    runs = [autoregressive(0.8, 2, 500, seed) for seed in range(200)]
    error = np.std([run.mean() for run in runs])
    expected = np.mean([1.0 / effective_sample_size(run) for run in runs]) ** 0.5
    assert error == pytest.approx(expected, rel=0.15)


def test_chains_in_different_places_have_not_mixed():
    draws = np.random.default_rng(0).standard_normal((4, 500))
    draws[3] += 3.0
    assert r_hat(draws) > 1.3
    assert effective_sample_size(draws) < 20


def test_chains_of_different_spread_have_not_mixed():
    draws = np.random.default_rng(0).standard_normal((4, 500))
    draws[3] *= 10.0
    assert r_hat(draws) > 1.1


def test_a_chain_that_drifts_has_not_mixed():
    draws = np.random.default_rng(0).standard_normal((1, 500)) + np.linspace(0.0, 4.0, 500)
    assert r_hat(draws) > 1.3


def test_a_shift_too_small_to_matter_goes_unnoticed():
    draws = np.random.default_rng(0).standard_normal((4, 500))
    draws[3] += 0.05
    assert r_hat(draws) < 1.02


def test_what_never_moves_tells_nothing():
    constant = np.ones((3, 100))
    assert np.isnan(r_hat(constant))
    assert np.isnan(effective_sample_size(constant))


def test_chains_that_are_stuck_in_different_places_count_once_each():
    stuck = np.repeat([[1.0], [2.0], [5.0]], 100, axis=1)
    assert 1e3 < r_hat(stuck) < np.inf
    assert effective_sample_size(stuck) == pytest.approx(3.0, rel=0.05)


def test_numbers_that_take_two_values_are_measured_like_others():
    draws = np.random.default_rng(0).choice((-1.0, 1.0), (4, 500))
    assert r_hat(draws) == pytest.approx(1.0, abs=0.01)
    draws[3] = 1.0
    assert r_hat(draws) > 1.1


def test_one_stuck_chain_among_others_is_noticed():
    draws = np.random.default_rng(0).standard_normal((4, 200))
    draws[0] = 2.0
    assert r_hat(draws) > 1.1


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_too_short_chains_tell_nothing(steps):
    draws = np.random.default_rng(0).standard_normal((4, steps))
    assert np.isnan(r_hat(draws))
    assert np.isnan(effective_sample_size(draws))


def test_order_and_scale_do_not_matter():
    draws = autoregressive(0.5, 4, 301, seed=1)
    for other in (draws[::-1], 7.0 - 3.0 * draws):
        assert r_hat(other) == pytest.approx(r_hat(draws), rel=1e-3)
        assert effective_sample_size(other) == pytest.approx(effective_sample_size(draws), rel=1e-9)
