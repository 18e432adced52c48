"""A Gaussian process that has seen evaluations."""

import numpy as np
import pytest
import torch

from boirl.projections import Identity
from boirl.surrogate.fitting import Surrogate
from boirl.surrogate.kernels import KERNELS


def test_it_knows_more_at_the_evaluations_than_elsewhere(surrogate, evaluations, elsewhere):
    fitted = surrogate.fit(*evaluations)
    assert fitted.posterior(evaluations[0])[1].max() < fitted.posterior(elsewhere)[1].max()


def test_gradients_of_the_marginals_match_finite_differences(surrogate, evaluations):
    fitted = surrogate.fit(*evaluations)
    unit = torch.tensor(np.random.default_rng(3).uniform(0.1, 0.9, (4, 3)), requires_grad=True)
    assert torch.autograd.gradcheck(fitted.marginals, unit, atol=1e-3, rtol=1e-4)


def test_the_mean_alone_is_that_of_the_marginals(surrogate, evaluations):
    fitted = surrogate.fit(*evaluations)
    unit = torch.tensor(np.random.default_rng(3).uniform(0.1, 0.9, (4, 3)))
    torch.testing.assert_close(fitted.mean(unit), fitted.marginals(unit)[0])


def test_gradients_are_finite_at_the_evaluations_themselves(surrogate, evaluations):
    # There the distance is 0, whose root has no slope.
    fitted = surrogate.fit(*evaluations)
    unit = torch.tensor(surrogate.box.to_unit(evaluations[0]), requires_grad=True)
    mean, sd = fitted.marginals(unit)
    (mean.sum() + sd.sum()).backward()
    assert torch.isfinite(unit.grad).all()


def test_rewards_with_the_same_behaviour_share_what_is_known(gridworld, gridworld_log_rho):
    thetas = gridworld.box.from_unit(np.random.default_rng(0).random((12, 3)))
    seen = [gridworld.evaluate(theta) for theta in thetas]
    nll, gradients = np.array([one.nll for one in seen]), np.array([one.gradient for one in seen])
    surrogate = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box)
    fitted = surrogate.fit(thetas, nll, gradients=gradients)
    translated = np.array([[1.25, 5.0, -4.0], [1.25, 5.0, 0.0], [1.25, 5.0, 4.0]])
    mean, _ = fitted.posterior(translated)
    assert np.ptp(mean) <= 0.02 * nll.std()


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


def test_sampled_landscapes_are_in_an_interval_as_often_as_it_says(fitted, elsewhere):
    drawn = fitted.sample(elsewhere, 20_000, np.random.default_rng(0))
    assert drawn.shape == (20_000, len(elsewhere))
    for level in (0.5, 0.95):
        low, high = fitted.interval(elsewhere, level)
        inside = ((low <= drawn) & (drawn <= high)).mean(axis=0)
        np.testing.assert_allclose(inside, level, atol=5.0 * np.sqrt(0.25 / 20_000))


def test_the_seed_decides_about_sampled_landscapes(fitted, elsewhere):
    first, again, other = (
        fitted.sample(elsewhere, 2, np.random.default_rng(seed)) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_rewards_with_the_same_behaviour_have_one_latent_point(fitted):
    translated = np.array([[1.25, 5.0, -4.0], [1.25, 5.0, 4.0]])
    first, second = fitted.latent(translated)
    assert np.allclose(first, second, atol=1e-8) == fitted.kernel.projected


def test_what_was_seen_is_known_by_its_number(fitted, evaluations):
    thetas, _ = evaluations
    assert fitted.size == 12
    assert fitted.best_index == fitted.denoised_nll.argmin()
    best = fitted.box.to_unit(thetas[fitted.best_index])
    np.testing.assert_array_equal(fitted.best_unit, best)
    assert fitted.best_nll == fitted.denoised_nll.min()


def test_under_noise_evaluations_are_compared_by_what_is_expected(
    gridworld, gridworld_log_rho, evaluations
):
    thetas, nll = evaluations
    surrogate = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box, "linear")
    noisy = surrogate.fit(thetas, nll, nll_se=np.full(12, 0.3 * nll.std()))
    assert noisy.noisy
    np.testing.assert_array_equal(noisy.denoised_nll, noisy.posterior(thetas)[0])
    assert noisy.noise_variance > 0.0
    assert noisy.best_index == noisy.denoised_nll.argmin()


def test_asking_twice_gives_the_same_and_later_changes_do_not_matter(fitted, elsewhere):
    first = fitted.posterior(elsewhere)
    again = fitted.posterior(elsewhere.copy())
    np.testing.assert_array_equal(first, again)
    moved = elsewhere.copy()
    moved[0] = fitted.thetas[0]
    assert fitted.posterior(moved)[0][0] != first[0][0]


def test_it_goes_through_the_evaluations(surrogate, evaluations):
    thetas, nll = evaluations
    assert np.abs(surrogate.fit(thetas, nll).posterior(thetas)[0] - nll).max() <= 0.1 * nll.std()


def test_an_evaluation_that_comes_out_otherwise_widens_what_is_predicted(
    gridworld, gridworld_log_rho
):
    thetas = gridworld.box.from_unit(np.random.default_rng(0).random((8, 3)))
    seen = [gridworld.evaluate(theta) for theta in thetas]
    nll, gradients = np.array([one.nll for one in seen]), np.array([one.gradient for one in seen])
    surrogate = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box, "linear")
    fitted = surrogate.fit(thetas, nll, gradients=gradients)
    assert not fitted.noisy
    shifted = nll + np.where(np.arange(8) == 7, 50.0 * nll.std(), 0.0)
    surprised = surrogate.build(thetas, shifted, fitted.hyperparameters, gradients=gradients)
    assert surprised.calibration > fitted.calibration


def test_the_joint_has_the_marginals(surrogate, evaluations, elsewhere):
    fitted = surrogate.fit(*evaluations)
    unit = torch.tensor(fitted.box.to_unit(elsewhere))
    with torch.no_grad():
        mean, covariance = fitted.joint(unit)
        expected, sd = fitted.marginals(unit)
    torch.testing.assert_close(mean, expected)
    torch.testing.assert_close(covariance.diagonal().sqrt(), sd, rtol=1e-3, atol=1e-4)


def test_latent_points_are_scaled(fitted, evaluations):
    latent = fitted.latent(evaluations[0])
    assert latent.shape == (12, 5 if fitted.kernel.projected else 3)
    assert np.abs(latent).max() <= 1.1


def test_an_exact_evaluation_removes_all_but_what_the_process_cannot_follow(gridworld, surrogate):
    thetas = gridworld.box.from_unit(np.random.default_rng(3).random((12, 3)))
    seen = [gridworld.evaluate(theta) for theta in thetas]
    nll, gradients = np.array([e.nll for e in seen]), np.array([e.gradient for e in seen])
    fitted = surrogate.fit(thetas, nll, gradients=gradients)
    # What matters is so many nats of all demonstrations together.
    matters = fitted.best_nll + fitted.components[0].doubt.matters
    expected = torch.tensor([fitted.best_nll, matters, matters + 5.0, matters + 10.0])
    sd = torch.full((4,), 20.0, dtype=torch.float64)
    left = sd.square() - fitted.removable_sd(expected, sd).square()
    assert (left[1:].diff() > 0.0).all()
    np.testing.assert_allclose(left[:2], 0.0, atol=1e-3)
    # A second evaluation of a theta removes nothing.
    mean, sd = fitted.marginals(torch.tensor(gridworld.box.to_unit(thetas)))
    assert float(fitted.removable_sd(mean, sd).max()) < 0.1 * float(nll.std())
    assert float(fitted.removable_sd(mean, torch.zeros_like(sd)).max()) < 1e-9


def test_exact_evaluations_without_gradients_have_the_noise_that_is_learned(fitted):
    sd = torch.tensor([2.0, 3.0], dtype=torch.float64)
    removed = fitted.removable_sd(torch.tensor([20.0, 90.0], dtype=torch.float64), sd).square()
    left = sd.square() * fitted.noise_variance / (sd.square() + fitted.noise_variance)
    torch.testing.assert_close(removed, sd.square() - left)
