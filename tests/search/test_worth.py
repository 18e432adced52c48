"""What it is worth to evaluate a theta whose density is uncertain."""

import numpy as np
import pytest
import torch
from botorch.acquisition.analytic import _log_ei_helper

from boirl.search.worth import expected_improvement, worst_temperature, worth


def test_the_worst_temperature_is_that_of_a_fine_grid():
    rng = np.random.default_rng(0)
    x, y = 10.0 ** rng.uniform(-4.0, 2.0, 200), 10.0 ** rng.uniform(-3.0, 4.0, 200)
    found, cooled = worst_temperature(x, y)
    t = 10.0 ** np.linspace(-8.0, 0.0, 20_001)[:, None]
    grid = t * x + np.log(-np.expm1(-2.0 * t * x)) - t * y
    np.testing.assert_allclose(found, grid.max(axis=0), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(cooled / x, t[grid.argmax(axis=0), 0], rtol=2e-3)


def test_a_mean_below_the_best_is_taken_at_its_own_temperature():
    found, cooled = worst_temperature(np.array([0.5]), np.array([-3.0]))
    assert float(found[0]) == pytest.approx(np.log(2.0 * np.sinh(0.5)) + 3.0)
    assert float(cooled[0]) == 0.5


def test_the_expected_improvement_is_that_of_botorch():
    u = np.concatenate([-(10.0 ** np.linspace(4.0, -3.0, 300)), 10.0 ** np.linspace(-3.0, 2.0, 99)])
    leaf = torch.tensor(u, requires_grad=True)
    expected = _log_ei_helper(leaf)
    (slope,) = torch.autograd.grad(expected.sum(), leaf)
    log_height, _, below = expected_improvement(u)
    np.testing.assert_allclose(log_height, expected.detach().numpy(), rtol=1e-8)
    np.testing.assert_allclose(below, slope.numpy(), rtol=1e-5)


def test_slopes_are_those_of_differences():
    rng = np.random.default_rng(1)
    x = torch.tensor(10.0 ** rng.uniform(-6.0, 3.0, 500), requires_grad=True)
    y = torch.tensor(10.0 ** rng.uniform(-6.0, 5.0, 500) * rng.choice([-1, 1], 500))
    y.requires_grad_()
    slopes = torch.autograd.grad(worth(x, y).sum(), (x, y))
    for one, slope in zip((x, y), slopes, strict=True):
        step = 1e-6 * one.detach().abs()
        above, below = (
            worth(*(z + sign * step if z is one else z for z in (x, y))).detach()
            for sign in (1.0, -1.0)
        )
        numeric = (above - below) / (2.0 * step)
        size = (above.abs() + below.abs()) * 1e-9 / step
        assert ((numeric - slope).abs() <= 1e-4 * slope.abs() + size).all()
