"""From points of the unit cube to what a kernel is a function of."""

import numpy as np
import pytest
import torch

from boirl.surrogate.latent import LatentSpace, jacobians
from boirl.surrogate.warping import SCALES


@pytest.fixture(params=SCALES)
def space(request, gridworld, gridworld_log_rho):
    latent_range = gridworld_log_rho.range_over(gridworld.box)
    return LatentSpace.of(gridworld_log_rho, gridworld.box, request.param, latent_range)


def test_coordinates_span_the_unit_interval_together(space):
    latent = space(torch.tensor(np.random.default_rng(0).random((500, 3))))
    assert latent.shape == (500, 5)
    across = (latent * 5.0**0.5).numpy()
    assert across.min() >= -0.05
    assert across.max() <= 1.05
    assert np.ptp(across, axis=0).min() > 0.5


def test_jacobians_are_those_of_finite_differences(space):
    unit = torch.tensor(np.random.default_rng(0).uniform(0.1, 0.9, (4, 3)))
    found = jacobians(space, unit)
    for axis in range(3):
        step = 1e-6 * torch.eye(3, dtype=torch.float64)[axis]
        slope = (space(unit + step) - space(unit - step)) / 2e-6
        torch.testing.assert_close(found[:, :, axis], slope, rtol=1e-4, atol=1e-6)


def test_what_was_projected_already_is_not_projected_again(space, gridworld):
    unit = torch.tensor(np.random.default_rng(0).random((4, 3)))
    projected = space.projection.project(torch.tensor(gridworld.box.from_unit(unit.numpy())))
    torch.testing.assert_close(space.inputs(unit, projected=projected).latent.x, space(unit))
