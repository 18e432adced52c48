"""Noise of evaluations: the rule, and that a fitted surrogate knows how noisy evaluations are."""

import numpy as np
import pytest
import torch
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood

from boirl.errors import InvalidInputError
from boirl.projections import Identity
from boirl.surrogate.fitting import Surrogate
from boirl.surrogate.kernels import KERNELS
from boirl.surrogate.noise import (
    NoiseModel,
    PartlyKnownNoise,
    build_likelihood,
    check_standard_errors,
    noise_variances,
    pooled_variance,
)

REPEATED, TIMES = 5, 4


@pytest.fixture(params=["rho-rbf", "rbf"])
def surrogate(request, gridworld, gridworld_log_rho):
    kernel = KERNELS[request.param]
    projection = gridworld_log_rho if kernel.projected else Identity(gridworld.box)
    return Surrogate(kernel, projection, gridworld.box, "linear")


def noisy_evaluations(problem, noise, seed):
    """Forty evaluations, five thetas four times each; thetas, NLLs and sample standard errors."""
    rng = np.random.default_rng(seed)
    thetas = problem.box.from_unit(rng.random((40 - REPEATED * (TIMES - 1), 3)))
    thetas = np.concatenate([thetas, np.repeat(thetas[:REPEATED], TIMES - 1, axis=0)])
    pairs = problem.nll_batch(thetas) + np.sqrt(2.0) * noise * rng.standard_normal((2, 40))
    return thetas, pairs.mean(axis=0), pairs.std(axis=0, ddof=1) / np.sqrt(2.0)


APART = np.array([[0.0], [0.4], [0.7], [1.0]])
"""Thetas that are no neighbours of each other."""


def test_variances_lie_between_ones_own_and_the_pooled_one():
    nll_se = np.array([1e-9, 0.1, 0.2, 0.5])
    own, pooled = nll_se**2, pooled_variance(nll_se)
    found = noise_variances(nll_se, APART, APART)
    assert ((found >= np.minimum(own, pooled)) & (found <= np.maximum(own, pooled))).all()
    assert found.mean() == pytest.approx(pooled)
    assert found[0] > 0.1 * pooled  # a lucky pair is not exact


def test_evaluations_without_a_standard_error_have_the_pooled_variance():
    reported, some = np.array([0.1, 0.3]), np.array([0.0, 0.1, 0.3, 0.0])
    assert pooled_variance(some) == pooled_variance(reported)
    found = noise_variances(some, APART, APART)
    np.testing.assert_allclose(found[[0, 3]], pooled_variance(reported))
    assert noise_variances(np.zeros(4), APART, APART).tolist() == [0.0] * 4


def test_repeats_at_one_theta_tell_how_noisy_it_is_there():
    rng = np.random.default_rng(0)
    unit = np.repeat([[0.2], [0.8]], 10, axis=0)
    true = np.repeat([0.1, 3.0], 10)
    reported = true * np.abs(rng.standard_normal(20))
    found = np.sqrt(noise_variances(reported, unit, np.array([[0.2], [0.8], [0.5]])))
    assert found[1] == pytest.approx(3.0, rel=0.5)
    assert found[0] < 1.0  # mostly its own, though the pooled variance is 450 times as large
    assert found[0] < found[2] < found[1] + 1.0


@pytest.mark.parametrize("wrong", [-0.1, np.nan, np.inf])
def test_impossible_standard_errors_are_refused(wrong):
    with pytest.raises(
        InvalidInputError, match=f"evaluation 1 is {wrong}; expected a finite number"
    ):
        check_standard_errors([0.0, wrong], 2)


def test_as_many_standard_errors_as_evaluations_are_expected():
    with pytest.raises(InvalidInputError, match=r"shape \(3,\); .* each of 2 evaluations"):
        check_standard_errors([0.1, 0.2, 0.3], 2)
    assert check_standard_errors(None, 2).tolist() == [0.0, 0.0]


def test_the_likelihood_is_that_of_gpytorch():
    given = torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64)
    found = build_likelihood(given, 1e-4).double()
    reference = FixedNoiseGaussianLikelihood(given, learn_additional_noise=True)
    reference.second_noise = found.noise.detach()
    for size in (3, 3, 2):
        at = torch.zeros(size, 1, dtype=torch.float64)
        covariance = found._shaped_noise_covar(torch.Size([size]), [at]).to_dense()
        if size == 3:
            expected = reference._shaped_noise_covar(torch.Size([size]), [at]).to_dense()
            torch.testing.assert_close(covariance, expected.to(covariance))
        else:
            torch.testing.assert_close(covariance, found.noise * torch.eye(size).double())
    assert not isinstance(build_likelihood(torch.zeros(3), 1e-4), PartlyKnownNoise)


@pytest.mark.parametrize("reported", [True, False])
@pytest.mark.parametrize("noise", [2.0, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_spread_of_repeats_is_known(surrogate, gridworld, reported, noise, seed):
    thetas, nll, nll_se = noisy_evaluations(gridworld, noise, seed)
    fitted = surrogate.fit(thetas, nll, nll_se=nll_se if reported else None)
    _, latent = fitted.posterior(thetas[:REPEATED])
    mean, sd = fitted.posterior(thetas[:REPEATED], observed=True)
    assert (sd > latent).all()
    # Four repeats are few: their own spread is off by up to a factor of three.
    factor = 2.0 if reported else 1.5
    assert (sd >= noise / factor).all()
    assert (sd <= noise * factor).all()
    np.testing.assert_array_equal(mean, fitted.posterior(thetas[:REPEATED])[0])


@pytest.mark.parametrize("reported", [True, False])
@pytest.mark.parametrize("times", [3, 12])
def test_repeats_teach_the_nll_like_a_mean(gridworld, times, reported):
    # Two thetas so far apart that neither informs the other.
    surrogate = Surrogate(KERNELS["rbf"], Identity(gridworld.box), gridworld.box, "linear")
    corners = np.stack([gridworld.box.low, gridworld.box.high])
    thetas, noise = np.repeat(corners, times, axis=0), 1.0
    deviations = np.linspace(-1.0, 1.0, times)
    deviations *= noise / deviations.std(ddof=1)
    nll = np.concatenate([20.0 + deviations, 80.0 - deviations])
    nll_se = np.full(2 * times, noise) if reported else None
    _, sd = surrogate.fit(thetas, nll, nll_se=nll_se).posterior(corners)
    assert (sd >= noise / np.sqrt(times) / 2.0).all()
    assert (sd <= noise / np.sqrt(times) * 2.0).all()


@pytest.mark.parametrize("noise", [2.0, 10.0])
def test_what_began_without_noise_learns_it_later(surrogate, gridworld, noise):
    thetas, nll, _ = noisy_evaluations(gridworld, noise, seed=0)
    exact = gridworld.nll_batch(thetas)
    early = surrogate.fit(thetas[:10], exact[:10])
    assert not early.learns_noise
    warm = surrogate.fit(thetas, nll, warm_start=early.hyperparameters)
    _, sd = warm.posterior(thetas[:REPEATED], observed=True)
    assert (sd >= noise / 2.0).all()


def test_reported_noise_is_passed_through_the_scale(gridworld):
    thetas, nll, _ = (some[5:25] for some in noisy_evaluations(gridworld, 1.0, seed=0))
    for scale in ("linear", "log"):
        surrogate = Surrogate(KERNELS["rbf"], Identity(gridworld.box), gridworld.box, scale)
        fitted = surrogate.build(thetas, nll, nll_se=np.full(20, 1e-3))
        # A small change of an NLL, as an output, is what the noise is in units of outputs.
        step = fitted.output.forward(nll + 5e-4) - fitted.output.forward(nll - 5e-4)
        in_outputs = fitted.given_noise.sqrt().numpy() * fitted.output_scale
        np.testing.assert_allclose(in_outputs, step, rtol=1e-3)


def test_noise_makes_evaluations_count_less(surrogate, gridworld):
    thetas, nll, _ = noisy_evaluations(gridworld, 1.0, seed=0)
    exact, noisy = (
        surrogate.build(thetas, nll, nll_se=np.full(40, error)) for error in (0.0, 20.0)
    )
    assert (noisy.posterior(thetas)[1] > exact.posterior(thetas)[1]).all()
    nothing = surrogate.build(thetas, nll)
    np.testing.assert_array_equal(nothing.posterior(thetas), exact.posterior(thetas))
    assert noisy.hyperparameters.keys() == exact.hyperparameters.keys()


def test_the_posterior_under_noise_is_that_of_botorch(surrogate, gridworld):
    fitted = surrogate.fit(*noisy_evaluations(gridworld, 5.0, seed=0)[:2], nll_se=np.full(40, 5.0))
    at = gridworld.box.from_unit(np.random.default_rng(1).random((30, 3)))
    mean, sd = fitted.posterior(at)
    with torch.no_grad():
        reference = fitted.model.posterior(torch.tensor(gridworld.box.to_unit(at)))
    np.testing.assert_allclose(mean, reference.mean[:, 0], rtol=1e-6)
    np.testing.assert_allclose(sd, reference.variance[:, 0].sqrt(), rtol=1e-6)


def test_luck_is_not_taken_for_the_best(surrogate, gridworld):
    thetas, _, _ = noisy_evaluations(gridworld, 1.0, seed=0)
    nll = gridworld.nll_batch(thetas)
    plain = surrogate.fit(thetas, nll)
    assert plain.best_index == nll.argmin()
    assert plain.best_output == nll.min()
    # One evaluation of a theta that was evaluated four times comes out far too low.
    repeats = np.flatnonzero((thetas == thetas[nll[:REPEATED].argmax()]).all(axis=1))
    nll[repeats[0]] = nll.min() - 5.0
    lucky = surrogate.fit(thetas, nll, nll_se=np.full(40, 10.0))
    assert lucky.noisy
    assert lucky.best_index not in repeats
    assert lucky.best_output > nll.min()
    assert lucky.resolution > plain.resolution


PLACES = np.array([[0.2, 0.2], [0.8, 0.8], [0.5, 0.5]])


@pytest.mark.parametrize("times", [4, 8, 32])
def test_repeats_say_more_than_standard_errors_and_only_where_they_are(times):
    deviations = np.linspace(-1.0, 1.0, times)
    deviations /= deviations.std(ddof=1)
    unit = np.repeat(PLACES, [times, times, 1], axis=0)
    nll = np.concatenate([50.0 + 10.0 * deviations, 90.0 + 0.1 * deviations, [70.0]])
    noise = NoiseModel(nll, np.ones(2 * times + 1), unit)
    wild, calm, alone = np.sqrt(noise.variances(PLACES))
    # Between the spread and the standard error of 1, as if the latter were two more repeats.
    weight = (times - 1) / (times + 1)
    assert wild == pytest.approx(10.0**weight)
    assert calm == pytest.approx(0.1**weight)
    assert alone == pytest.approx(1.0)
    assert noise.is_unknown(unit).tolist() == [False] * (2 * times) + [True]


@pytest.mark.parametrize("seed", range(5))
def test_many_repeats_tell_noise_that_differs_from_place_to_place(seed):
    rng = np.random.default_rng(seed)
    true = np.array([10.0, 0.1])
    pairs = 50.0 + np.sqrt(2.0) * np.repeat(true, 40) * rng.standard_normal((2, 80))
    nll_se = pairs.std(axis=0, ddof=1) / np.sqrt(2.0)
    noise = NoiseModel(pairs.mean(axis=0), nll_se, np.repeat(PLACES[:2], 40, axis=0))
    ratios = np.sqrt(noise.variances(PLACES[:2])) / true
    assert ((ratios > 1.0 / 1.5) & (ratios < 1.5)).all()


def test_repeats_of_exact_evaluations_are_not_taken_for_noise():
    unit = np.full((6, 2), 0.3)
    noise = NoiseModel(np.full(6, 5.0), np.zeros(6), unit)
    assert noise.variances(unit).tolist() == [0.0] * 6
    assert noise.is_unknown(unit).all()
