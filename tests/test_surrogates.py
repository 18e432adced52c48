from dataclasses import replace

import numpy as np
import pytest
import torch

import boirl
from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.kernels import KERNELS, KernelSpec, get_kernel
from boirl.projections import Identity, LogRho, Projection, sample_rollouts
from boirl.surrogates import Surrogate

SPECS = {
    "rho-rbf": get_kernel("rho-rbf"),
    "rho-rbf without linear": get_kernel("rho-rbf", linear=False),
    "rho-matern 3/2": KernelSpec("rho-matern", projected=True, smoothness=1.5, linear=True),
    "rho-matern 5/2": KernelSpec("rho-matern", projected=True, smoothness=2.5),
    "rbf": get_kernel("rbf"),
    "rbf with linear": get_kernel("rbf", linear=True),
    "matern 3/2": get_kernel("matern"),
    "matern 5/2": get_kernel("matern", smoothness=2.5),
}


@pytest.fixture(params=SPECS)
def surrogate(request, gridworld, gridworld_log_rho):
    kernel = SPECS[request.param]
    projection = gridworld_log_rho if kernel.projected else Identity(gridworld.box)
    return Surrogate(kernel, projection, gridworld.box)


@pytest.fixture(params=KERNELS)
def named_surrogate(request, gridworld, gridworld_log_rho):
    kernel = KERNELS[request.param]
    projection = gridworld_log_rho if kernel.projected else Identity(gridworld.box)
    return Surrogate(kernel, projection, gridworld.box)


@pytest.fixture(scope="module")
def evaluations(gridworld):
    """Twelve thetas and their NLL."""
    thetas = gridworld.box.from_unit(np.random.default_rng(0).random((12, 3)))
    return thetas, gridworld.nll_batch(thetas)


@pytest.fixture(scope="module")
def elsewhere(gridworld):
    return gridworld.box.from_unit(np.random.default_rng(1).random((30, 3)))


def test_the_posterior_is_that_of_botorch(surrogate, evaluations, elsewhere):
    fitted = surrogate.fit(*evaluations)
    at = np.concatenate([elsewhere, evaluations[0]])
    mean, sd = fitted.posterior(at)
    with torch.no_grad():
        reference = fitted.model.posterior(torch.tensor(surrogate.box.to_unit(at)))
    np.testing.assert_allclose(mean, reference.mean[:, 0], rtol=1e-6)
    np.testing.assert_allclose(sd, reference.variance[:, 0].sqrt(), rtol=1e-6)


@pytest.mark.parametrize("detail", [0, 2])
def test_the_kernel_written_out_is_that_of_gpytorch(surrogate, detail):
    kernel = replace(surrogate.kernel, detail=detail)
    points = torch.tensor(np.random.default_rng(2).random((9, 4 + detail)))
    with torch.no_grad():
        module = kernel.build(4).double()
        amplitudes = kernel.amplitudes(module)
        expected = module(points[:5], points).to_dense()
    torch.testing.assert_close(kernel.covariance(points[:5], points, amplitudes), expected)
    diagonal = kernel.covariance(points, points, amplitudes).diagonal()
    torch.testing.assert_close(kernel.variance(points, amplitudes), diagonal)


def test_detail_is_added_where_the_projection_leaves_something_unexplained():
    """A projection that sees one of two parameters, and landscapes of one and of both."""
    box = boirl.LinearReward(np.eye(2), {"seen": (0.0, 1.0), "unseen": (0.0, 1.0)}).box

    class First(Projection):
        dimension = 1

        def project(self, theta):
            return theta[..., :1]

    surrogate = Surrogate(get_kernel("rho-rbf"), First(), box, "linear")
    rng = np.random.default_rng(0)
    thetas, others = rng.random((25, 2)), rng.random((200, 2))

    def one(theta):
        return np.sin(4.0 * theta[:, 0])

    def both(theta):
        return one(theta) + 0.3 * np.cos(5.0 * theta[:, 1])

    assert surrogate.fit_in_detail(thetas, one(thetas)).kernel.detail == 0
    assert surrogate.fit_in_detail(thetas[:5], both(thetas[:5])).kernel.detail == 0
    detailed = surrogate.fit_in_detail(thetas, both(thetas))
    assert detailed.kernel.detail == 2
    error = np.abs(detailed.posterior(others)[0] - both(others)).mean()
    plain = surrogate.fit(thetas, both(thetas))
    assert error < 0.2 * np.abs(plain.posterior(others)[0] - both(others)).mean()
    low, high = detailed.interval(others)
    assert ((low <= both(others)) & (both(others) <= high)).mean() > 0.9
    # The written-out marginals are those of BoTorch's posterior, and groups see no detail.
    reference = detailed.model.posterior(torch.tensor(others))
    np.testing.assert_allclose(detailed.posterior(others)[0], reference.mean[:, 0].detach(), 1e-6)
    assert detailed.latent(others).shape == (200, 1)


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


def test_hyperparameters_round_trip_through_build(surrogate, evaluations, elsewhere):
    fitted = surrogate.fit(*evaluations)
    rebuilt = surrogate.build(*evaluations, fitted.hyperparameters)
    assert rebuilt.hyperparameters == fitted.hyperparameters
    for found, expected in zip(
        rebuilt.posterior(elsewhere), fitted.posterior(elsewhere), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    default = surrogate.build(*evaluations).posterior(elsewhere)[0]
    assert not np.allclose(default, fitted.posterior(elsewhere)[0])


def test_a_fit_is_the_same_every_time(named_surrogate, evaluations):
    first, again = (named_surrogate.fit(*evaluations).hyperparameters for _ in range(2))
    assert first == again


def test_the_order_of_evaluations_is_irrelevant(named_surrogate, evaluations, elsewhere):
    thetas, nll = evaluations
    forward = named_surrogate.build(thetas, nll).posterior(elsewhere)
    backward = named_surrogate.build(thetas[::-1].copy(), nll[::-1].copy()).posterior(elsewhere)
    np.testing.assert_allclose(forward, backward, rtol=1e-7)


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


AWKWARD = {
    "one": ([[1.0, 2.0, 0.0]], [30.0]),
    "two": ([[1.0, 2.0, 0.0], [-1.0, 3.0, 1.0]], [30.0, 60.0]),
    "one ten times": ([[1.0, 2.0, 0.0]] * 10, [30.0] * 10),
    "one ten times, with outputs that disagree": ([[1.0, 2.0, 0.0]] * 10, list(range(10))),
    "two that only translation tells apart": ([[1.0, 2.0, -1.0], [1.0, 2.0, 3.0]], [30.0, 30.0]),
    "a pair alike and one other": (
        [[1.0, 2.0, -1.0], [1.0, 2.0, 3.0], [-1.0, 3.0, 0.0]],
        [30.0, 30.0 + 1e-9, 60.0],
    ),
    "all outputs equal": ([[1.0, 2.0, 0.0], [-1.0, 3.0, 1.0], [2.0, -9.0, 3.0]], [30.0] * 3),
    "huge outputs": ([[1.0, 2.0, 0.0], [-1.0, 3.0, 1.0], [2.0, -9.0, 3.0]], [1e8, 2e8, 9e8]),
}


@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_evaluations_never_break_a_fit(named_surrogate, elsewhere, case):
    thetas, nll = np.array(AWKWARD[case][0]), np.array(AWKWARD[case][1], dtype=np.float64)
    fitted = named_surrogate.fit(thetas, nll)
    for at in (thetas, elsewhere):
        mean, sd = fitted.posterior(at)
        assert np.isfinite(mean).all()
        assert (sd > 0.0).all()
        assert np.isfinite(sd).all()


def test_disagreeing_outputs_of_one_theta_are_averaged(named_surrogate):
    thetas, nll = np.array([[1.0, 2.0, 0.0]] * 10), np.arange(10.0)
    mean, _ = named_surrogate.fit(thetas, nll).posterior(thetas[:1])
    assert mean[0] == pytest.approx(nll.mean(), rel=0.02)


def test_a_warm_start_leads_to_as_good_a_fit(named_surrogate, evaluations, elsewhere):
    thetas, nll = evaluations
    early = named_surrogate.fit(thetas[:8], nll[:8])
    warm = named_surrogate.fit(thetas, nll, warm_start=early.hyperparameters)
    noise = warm.model.likelihood.noise.item() ** 0.5 * warm.output_scale
    assert np.abs(warm.posterior(thetas)[0] - nll).max() <= 2.0 * noise


@pytest.mark.parametrize("count", [1, 2])
def test_a_flat_coordinate_is_ignored(gridworld, gridworld_log_rho, evaluations, count):
    # A demonstration in the sink looks like all of its roll-outs: its rho is 1 / (1 + count).
    sink = Demonstrations.from_arrays(np.full((1, 15), 36), np.zeros((1, 15), dtype=int))
    rollouts = sample_rollouts(gridworld, sink, count, np.random.default_rng(0))
    with_flat = LogRho(
        gridworld,
        Demonstrations.concatenate([gridworld_log_rho.demonstrations, sink]),
        [*gridworld_log_rho.rollouts, *rollouts],
    )
    fitted = Surrogate(KERNELS["rho-rbf"], with_flat, gridworld.box).fit(*evaluations)
    steps = np.linspace(-4.0, 4.0, 41)
    translated = np.stack([np.full(41, 1.25), np.full(41, 5.0), steps], axis=1)
    mean, _ = fitted.posterior(translated)
    np.testing.assert_allclose(mean, mean[0], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("cubic", {}, "there is no kernel 'cubic'; expected one of rho-rbf, rbf, matern"),
        ("rbf", {"smoothness": 1.5}, "kernel 'rbf' has no smoothness"),
        ("matern", {"smoothness": 0.5}, r"smoothness of a Matern kernel is 0\.5"),
    ],
)
def test_unknown_kernels_are_refused(name, options, message):
    with pytest.raises(InvalidInputError, match=message):
        get_kernel(name, **options)
