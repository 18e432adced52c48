"""A Gaussian process with one set of hyperparameters."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from boirl.surrogate.doubt import Doubt
from boirl.surrogate.fitting import Surrogate
from boirl.surrogate.kernels import KERNELS
from boirl.surrogate.process import NOISE_FLOOR


@pytest.fixture(scope="module")
def seen(gridworld):
    thetas = gridworld.box.from_unit(np.random.default_rng(0).random((8, 3)))
    evaluations = [gridworld.evaluate(theta) for theta in thetas]
    nll = np.array([one.nll for one in evaluations])
    return thetas, nll, np.array([one.gradient for one in evaluations])


@pytest.fixture(scope="module", params=["linear", "log"])
def component(request, gridworld, gridworld_log_rho, seen):
    thetas, nll, gradients = seen
    surrogate = Surrogate(
        KERNELS["rho-matern"], gridworld_log_rho, gridworld.box, scale=request.param
    )
    return surrogate.fit(thetas, nll, gradients=gradients).components[0]


def test_the_expected_nll_is_the_mean_where_that_is_known_and_more_where_it_is_not(
    gridworld, gridworld_log_rho, seen, component
):
    thetas, nll, _ = seen
    unit = torch.tensor(gridworld.box.to_unit(thetas))
    projected = gridworld_log_rho.project(torch.tensor(thetas))
    known = component.expected_nll(unit, projected, 1.0, float(nll.min()) - 100.0)
    np.testing.assert_allclose(known.numpy(), nll, atol=0.05 * nll.std())
    # No NLL below the least one is expected, and the less is known the more is.
    for least in (nll.max() + 1.0, nll.max() + 5.0):
        assert (component.expected_nll(unit, projected, 1.0, least) >= least).all()
    wide, narrow = (
        component.expected_nll(unit, projected, c, float(nll.mean())) for c in (100.0, 1.0)
    )
    assert (wide >= narrow - 1e-9).all()


def test_what_is_far_worse_than_the_best_is_predicted_to_a_share(seen, component):
    _, nll, _ = seen
    values = {**component.values, "doubt": [0.1**2]}
    sure = replace(component, doubt=Doubt(float(nll.min()), 5.0), values=values)
    mean = sure.output.forward(np.array([nll.min(), nll.min() + 4.0, nll.min() + 20.0]))
    sd = sure.with_unexplained(mean, np.full(3, 1e-9))
    # What matters is explained up to the noise that is learned.
    np.testing.assert_allclose(sd[:2], np.sqrt(sure.noise + NOISE_FLOOR) * sure.spread)
    # A tenth of 20, where three quarters are beyond what matters.
    _, far = sure.output.back(mean[2], sd[2])
    assert far == pytest.approx(0.1 * 0.75 * 20.0, rel=1e-3)


def test_without_gradients_noise_is_noise(gridworld, gridworld_log_rho, seen):
    thetas, nll, _ = seen
    surrogate = Surrogate(KERNELS["rho-matern"], gridworld_log_rho, gridworld.box)
    component = surrogate.fit(thetas, nll).components[0]
    mean = component.output.forward(nll + 1e6)
    np.testing.assert_allclose(component.with_unexplained(mean, np.full(8, 2.0)), 2.0)
