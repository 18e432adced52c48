"""The covariance of values with what was observed."""

import numpy as np
import pytest
import torch

from boirl.surrogate.kernels import PROFILES
from boirl.surrogate.pairs import Pair, Points
from boirl.surrogate.predictive import predictive_covariance

A, L = 1.5, 0.7


def observed(numbers):
    rng = np.random.default_rng(0)
    x, jacobian = rng.random((4, 3)), rng.normal(size=(len(numbers), 3, 2))
    return Points.sloped(torch.tensor(x), torch.tensor(numbers), torch.tensor(jacobian))


@pytest.mark.parametrize("numbers", [[0, 1, 2, 3], [3, 1]])
@pytest.mark.parametrize("smoothness", PROFILES)
def test_it_is_the_covariance_of_the_pair_and_so_are_its_slopes(numbers, smoothness):
    data = observed(numbers)
    x = torch.tensor(np.random.default_rng(1).random((5, 3)), requires_grad=True)

    def covariance(x):
        given = (data.rows, data.own, data.layout, PROFILES[smoothness], A, L**-2)
        return predictive_covariance(x, *given)

    # An amplitude that is fitted takes the general way.
    amplitude = torch.tensor([A], dtype=torch.float64, requires_grad=True)
    lengthscale = torch.tensor([L], dtype=torch.float64)
    general = Pair(Points.plain(x), data).stationary(PROFILES[smoothness], amplitude, lengthscale)
    torch.testing.assert_close(covariance(x), general)
    assert torch.autograd.gradcheck(covariance, x)
