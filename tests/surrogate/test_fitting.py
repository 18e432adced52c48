"""Hyperparameters that fit the evaluations."""

import numpy as np
import pytest
import torch

import boirl
from boirl.demonstrations import Demonstrations
from boirl.projections import LogRho, Projection, sample_rollouts
from boirl.surrogate.fitting import Surrogate
from boirl.surrogate.kernels import KERNELS, get_kernel


def test_a_kernel_on_theta_is_added_where_the_projection_leaves_something_unexplained():
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

    assert surrogate.fit_with_theta_kernel(thetas, one(thetas)).kernel.theta_kernel_dims == 0
    assert (
        surrogate.fit_with_theta_kernel(thetas[:5], both(thetas[:5])).kernel.theta_kernel_dims == 0
    )
    detailed = surrogate.fit_with_theta_kernel(thetas, both(thetas))
    assert detailed.kernel.theta_kernel_dims == 2
    error = np.abs(detailed.posterior(others)[0] - both(others)).mean()
    plain = surrogate.fit(thetas, both(thetas))
    assert error < 0.2 * np.abs(plain.posterior(others)[0] - both(others)).mean()
    low, high = detailed.interval(others)
    assert ((low <= both(others)) & (both(others) <= high)).mean() > 0.9
    # The written-out marginals are those of BoTorch's posterior, and groups see no dims.
    reference = detailed.model.posterior(torch.tensor(others))
    np.testing.assert_allclose(detailed.posterior(others)[0], reference.mean[:, 0].detach(), 1e-6)
    assert detailed.latent(others).shape == (200, 1)


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
