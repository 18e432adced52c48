"""Hyperparameters that fit the evaluations."""

import numpy as np
import pytest
import torch

from boirl.demonstrations import Demonstrations
from boirl.projections import Identity, LogRho, sample_rollouts
from boirl.surrogate.fitting import Surrogate
from boirl.surrogate.kernels import KERNELS


def test_hyperparameters_round_trip_through_build(surrogate, evaluations, elsewhere):
    fitted = surrogate.fit(*evaluations)
    rebuilt = surrogate.build(*evaluations, fitted.hyperparameters)
    for found, expected in zip(
        rebuilt.posterior(elsewhere), fitted.posterior(elsewhere), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    default = surrogate.build(*evaluations).posterior(elsewhere)[0]
    assert not np.allclose(default, fitted.posterior(elsewhere)[0])


def test_a_fit_is_the_same_every_time(named_surrogate, evaluations):
    first, again = (named_surrogate.fit(*evaluations).hyperparameters for _ in range(2))
    assert first == again


def test_the_order_of_evaluations_is_irrelevant(named_surrogate, evaluations, elsewhere):
    thetas, nll = evaluations
    forward = named_surrogate.build(thetas, nll)
    backward = named_surrogate.build(thetas[::-1].copy(), nll[::-1].copy())
    unit = torch.tensor(forward.box.to_unit(elsewhere))
    for one, other in zip(forward.marginals(unit), backward.marginals(unit), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)


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
    assert mean[0] == pytest.approx(nll.mean(), rel=0.1)


def test_a_warm_start_leads_to_as_good_a_fit(named_surrogate, evaluations, elsewhere):
    thetas, nll = evaluations
    early = named_surrogate.fit(thetas[:8], nll[:8])
    warm = named_surrogate.fit(thetas, nll, warm_start=early.hyperparameters)
    assert np.abs(warm.posterior(thetas)[0] - nll).max() <= 0.1 * nll.std()


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
    assert np.isfinite(mean).all()
    assert np.ptp(mean) <= evaluations[1].std()


@pytest.fixture(scope="module")
def exact(gridworld, gridworld_log_rho):
    """A surrogate and twelve evaluations with their gradients."""
    thetas = gridworld.box.from_unit(np.random.default_rng(0).random((12, 3)))
    seen = [gridworld.evaluate(theta) for theta in thetas]
    surrogate = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box)
    nll, gradients = np.array([one.nll for one in seen]), np.array([one.gradient for one in seen])
    return surrogate, thetas, nll, gradients


def test_gradients_make_predictions_better(gridworld, exact, elsewhere):
    surrogate, thetas, nll, gradients = (exact[0], *(numbers[:6] for numbers in exact[1:]))
    truth = gridworld.nll_batch(elsewhere)
    with_slopes = surrogate.fit(thetas, nll, gradients=gradients).posterior(elsewhere)[0]
    without = surrogate.fit(thetas, nll).posterior(elsewhere)[0]
    assert np.abs(with_slopes - truth).mean() < 0.7 * np.abs(without - truth).mean()


def test_the_slopes_of_the_mean_are_the_gradients(exact):
    surrogate, thetas, nll, gradients = exact
    fitted = surrogate.fit(thetas, nll, gradients=gradients)
    unit = torch.tensor(surrogate.box.to_unit(thetas), requires_grad=True)
    (slopes,) = torch.autograd.grad(fitted.marginals(unit)[0].sum(), unit)
    expected = gradients * (surrogate.box.high - surrogate.box.low)
    assert np.abs(slopes.numpy() - expected).max() <= 0.02 * np.abs(expected).max()


def test_of_many_gradients_those_of_the_best_are_used(exact, monkeypatch):
    surrogate, thetas, nll, gradients = exact
    monkeypatch.setattr("boirl.surrogate.fitting.MAX_ROWS", 12 + 3 * 4)
    fitted = surrogate.build(thetas, nll, gradients=gradients)
    sloped = fitted.components[0].process.data.inputs.theta.layout.numbers
    assert sorted(sloped.tolist()) == sorted(np.argsort(nll)[:4].tolist())


def test_a_fit_of_the_better_scale_warms_up_the_other_one(exact):
    surrogate, thetas, nll, gradients = exact
    fitted = surrogate.fit(thetas, nll, gradients=gradients, draws=1)
    assert len(fitted.hyperparameters["components"]) == 1
    assert [one["scale"] for one in fitted.warm_start["components"]] == ["linear", "log"]
    again = surrogate.fit(thetas, nll, fitted.warm_start, gradients=gradients, draws=1)
    assert again.components[0].scale == fitted.components[0].scale
    assert again.posterior(thetas)[0] == pytest.approx(fitted.posterior(thetas)[0], rel=1e-3)


def test_a_wall_far_away_does_not_bend_the_landscape_where_it_matters(gridworld):
    """Next to a parabola, an NLL that rises by thousands of nats within a hundredth of the box."""
    box, rng = gridworld.box, np.random.default_rng(0)
    unit = rng.random((24, 3))
    unit[-3:, 0] = [0.985, 0.99, 0.995]

    def landscape(u):
        wall = np.exp(300.0 * (u[:, 0] - 0.97))
        gradient = 4.0 * (u - 0.5)
        gradient[:, 0] += 300.0 * wall
        return 2.0 * ((u - 0.5) ** 2).sum(axis=1) + wall, gradient / (box.high - box.low)

    nll, gradients = landscape(unit)
    surrogate = Surrogate(KERNELS["matern"], Identity(box), box, n_demonstrations=50)
    fitted = surrogate.fit(box.from_unit(unit), nll, gradients=gradients)
    near = 0.5 + 0.15 * (rng.random((50, 3)) - 0.5)
    error = fitted.posterior(box.from_unit(near))[0] - landscape(near)[0]
    assert 50 * np.abs(error).mean() < 2.0, "in nats; 100 if all is explained alike"
