"""A Gaussian process that has seen evaluations."""

import numpy as np
import pytest
import torch

from boirl.projections import Identity
from boirl.surrogate.fitting import Surrogate
from boirl.surrogate.kernels import KERNELS


def test_the_posterior_is_that_of_botorch(surrogate, evaluations, elsewhere):
    fitted = surrogate.fit(*evaluations)
    at = np.concatenate([elsewhere, evaluations[0]])
    mean, sd = fitted.posterior(at)
    with torch.no_grad():
        reference = fitted.model.posterior(torch.tensor(surrogate.box.to_unit(at)))
    np.testing.assert_allclose(mean, reference.mean[:, 0], rtol=1e-6)
    np.testing.assert_allclose(sd, reference.variance[:, 0].sqrt(), rtol=1e-6)


def test_it_goes_through_the_evaluations_within_the_noise(surrogate, evaluations):
    thetas, nll = evaluations
    fitted = surrogate.fit(thetas, nll)
    noise = fitted.model.likelihood.noise.item() ** 0.5 * fitted.output_scale
    assert np.abs(fitted.posterior(thetas)[0] - nll).max() <= 2.0 * noise
    assert noise <= 0.1 * nll.std()


def test_it_knows_more_at_the_evaluations_than_elsewhere(surrogate, evaluations, elsewhere):
    fitted = surrogate.fit(*evaluations)
    assert fitted.posterior(evaluations[0])[1].max() < fitted.posterior(elsewhere)[1].max()


def test_gradients_of_the_marginals_match_finite_differences(surrogate, evaluations):
    fitted = surrogate.fit(*evaluations)
    unit = torch.tensor(np.random.default_rng(3).uniform(0.1, 0.9, (4, 3)), requires_grad=True)
    assert torch.autograd.gradcheck(fitted.marginals, unit, atol=1e-3, rtol=1e-4)


def test_gradients_are_finite_at_the_evaluations_themselves(surrogate, evaluations):
    # There the distance is 0, whose root has no slope.
    fitted = surrogate.fit(*evaluations)
    unit = torch.tensor(surrogate.box.to_unit(evaluations[0]), requires_grad=True)
    mean, sd = fitted.marginals(unit)
    (mean.sum() + sd.sum()).backward()
    assert torch.isfinite(unit.grad).all()


def test_rewards_with_the_same_behaviour_share_what_is_known(
    gridworld, gridworld_log_rho, evaluations
):
    fitted = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box).fit(*evaluations)
    translated = np.array([[1.25, 5.0, -4.0], [1.25, 5.0, 0.0], [1.25, 5.0, 4.0]])
    mean, sd = fitted.posterior(translated)
    np.testing.assert_allclose(mean, mean[0], rtol=1e-8)
    np.testing.assert_allclose(sd, sd[0], rtol=1e-6)


@pytest.fixture(
    scope="module",
    params=[(kernel, scale) for kernel in ("rho-rbf", "rbf") for scale in ("linear", "log")],
    ids=" ".join,
)
def fitted(request, gridworld, gridworld_log_rho, evaluations):
    kernel, scale = KERNELS[request.param[0]], request.param[1]
    projection = gridworld_log_rho if kernel.projected else Identity(gridworld.box)
    return Surrogate(kernel, projection, gridworld.box, scale).fit(*evaluations)


def test_the_posterior_mean_is_inside_every_interval_and_surer_ones_are_wider(fitted, elsewhere):
    mean, _ = fitted.posterior(elsewhere)
    last_low = last_high = mean
    for level in (0.5, 0.9, 0.95, 0.99):
        low, high = fitted.interval(elsewhere, level)
        assert (low < last_low).all()
        assert (last_high < high).all()
        last_low, last_high = low, high
    np.testing.assert_array_equal(fitted.interval(elsewhere), fitted.interval(elsewhere, 0.95))


def test_an_interval_is_symmetric_where_the_output_is_gaussian(fitted, elsewhere):
    mean, sd = fitted.posterior(elsewhere)
    low, high = (fitted.output.forward(end) for end in fitted.interval(elsewhere))
    np.testing.assert_allclose(0.5 * (low + high), fitted.output.forward(mean), rtol=1e-6)
    if fitted.scale == "linear":
        np.testing.assert_allclose(high - low, 2.0 * 1.959964 * sd, rtol=1e-5)


def test_sampled_landscapes_are_in_an_interval_as_often_as_it_says(fitted, elsewhere):
    drawn = fitted.sample(elsewhere, 20_000, np.random.default_rng(0))
    assert drawn.shape == (20_000, len(elsewhere))
    for level in (0.5, 0.95):
        low, high = fitted.interval(elsewhere, level)
        inside = ((low <= drawn) & (drawn <= high)).mean(axis=0)
        np.testing.assert_allclose(inside, level, atol=5.0 * np.sqrt(0.25 / 20_000))


def test_sampled_landscapes_have_the_mean_and_the_spread_of_the_posterior(fitted, elsewhere):
    forward = fitted.output.forward
    low, high = (forward(end) for end in fitted.interval(elsewhere))
    mean, sd = forward(fitted.posterior(elsewhere)[0]), (high - low) / (2.0 * 1.959964)
    outputs = forward(fitted.sample(elsewhere, 20_000, np.random.default_rng(0)))
    assert (np.abs(outputs.mean(axis=0) - mean) <= 5.0 * sd / np.sqrt(20_000)).all()
    # Up to the jitter, which shows where the posterior is very sure.
    np.testing.assert_allclose(outputs.std(axis=0), sd, rtol=0.05)


def test_a_sampled_landscape_is_smooth(fitted, elsewhere):
    unit = fitted.box.to_unit(elsewhere[:10])
    near = fitted.box.from_unit(np.where(unit < 0.5, unit + 1e-3, unit - 1e-3))
    thetas = np.concatenate([elsewhere[:10], near])
    outputs = fitted.output.forward(fitted.sample(thetas, 2000, np.random.default_rng(0)))
    correlations = np.corrcoef(outputs.T)[:10, 10:]
    assert np.diag(correlations).min() > 0.8
    assert np.abs(np.median(correlations)) < 0.5


def test_sampled_landscapes_have_the_covariance_of_botorch(fitted, elsewhere):
    drawn = fitted.output.forward(fitted.sample(elsewhere[:6], 100_000, np.random.default_rng(0)))
    with torch.no_grad():
        unit = torch.tensor(fitted.box.to_unit(elsewhere[:6]))
        reference = fitted.model.posterior(unit).distribution.covariance_matrix.numpy()
    scale = np.sqrt(np.outer(np.diag(reference), np.diag(reference)))
    np.testing.assert_allclose(np.cov(drawn.T) / scale, reference / scale, atol=0.06)


def test_sampled_landscapes_pass_through_the_evaluations(fitted, evaluations):
    thetas, nll = evaluations
    outputs = fitted.output.forward(fitted.sample(thetas, 100, np.random.default_rng(0)))
    noise = fitted.model.likelihood.noise.item() ** 0.5 * fitted.output_scale
    assert np.abs(outputs - fitted.output.forward(nll)).max() <= 6.0 * noise


def test_the_seed_decides_about_sampled_landscapes(fitted, elsewhere):
    first, again, other = (
        fitted.sample(elsewhere, 2, np.random.default_rng(seed)) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_latent_points_are_those_that_the_model_has_seen(fitted, evaluations, elsewhere):
    latent = fitted.latent(evaluations[0])
    np.testing.assert_allclose(latent, fitted.model.train_inputs[0], atol=1e-10)
    assert fitted.latent(elsewhere).shape == (30, latent.shape[1])
    assert latent.shape[1] == (5 if fitted.kernel.projected else 3)


def test_rewards_with_the_same_behaviour_have_one_latent_point(fitted):
    translated = np.array([[1.25, 5.0, -4.0], [1.25, 5.0, 4.0]])
    first, second = fitted.latent(translated)
    assert np.allclose(first, second, atol=1e-8) == fitted.kernel.projected


def test_what_was_seen_is_known_by_its_number(fitted, evaluations):
    thetas, nll = evaluations
    assert fitted.size == 12
    assert fitted.best_index == nll.argmin()
    np.testing.assert_array_equal(fitted.best_unit, fitted.box.to_unit(thetas[nll.argmin()]))
    assert fitted.best_output == pytest.approx(float(fitted.output.forward(nll.min())))
    assert not fitted.noisy
    np.testing.assert_array_equal(fitted.denoised_nll, nll)


def test_standardised_outputs_stand_for_outputs(fitted, evaluations):
    outputs = fitted.output.forward(evaluations[1])
    assert fitted.output_centre == pytest.approx(outputs.mean())
    assert fitted.output_scale == pytest.approx(outputs.std(ddof=1))
    targets = fitted.output_centre + fitted.output_scale * fitted.model.train_targets.numpy()
    np.testing.assert_allclose(targets, outputs, rtol=1e-9)


def test_differences_within_the_floor_are_not_resolved(fitted):
    assert fitted.resolution == pytest.approx(1e-3 * fitted.output_scale)


def test_a_small_difference_of_outputs_is_one_of_nlls(fitted):
    best, step = fitted.nll.min(), 1e-4
    rise = float(fitted.output.forward(best + step) - fitted.output.forward(best))
    assert fitted.nll_per_output == pytest.approx(step / rise, rel=1e-3)


def test_under_noise_evaluations_are_compared_by_what_is_expected(
    gridworld, gridworld_log_rho, evaluations
):
    thetas, nll = evaluations
    surrogate = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box, "linear")
    noisy = surrogate.fit(thetas, nll, nll_se=np.full(12, 0.3 * nll.std()))
    assert noisy.noisy
    np.testing.assert_array_equal(noisy.denoised_nll, noisy.posterior(thetas)[0])
    assert noisy.resolution > 10.0 * surrogate.fit(thetas, nll).resolution
    assert noisy.best_index == noisy.denoised_nll.argmin()


def test_asking_twice_gives_the_same_and_later_changes_do_not_matter(fitted, elsewhere):
    first = fitted.posterior(elsewhere)
    again = fitted.posterior(elsewhere.copy())
    np.testing.assert_array_equal(first, again)
    moved = elsewhere.copy()
    moved[0] = fitted.thetas[0]
    assert fitted.posterior(moved)[0][0] != first[0][0]


def test_evidence_prefers_what_the_landscape_is_like(gridworld, gridworld_log_rho, evaluations):
    """The projection explains more than theta itself, on the same scale."""
    thetas, nll = evaluations
    on_projection = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box, "linear")
    on_theta = Surrogate(KERNELS["rbf"], Identity(gridworld.box), gridworld.box, "linear")
    found = [one.fit(thetas, nll).evidence() for one in (on_projection, on_theta)]
    assert np.isfinite(found).all()
    assert found[0] > found[1]
