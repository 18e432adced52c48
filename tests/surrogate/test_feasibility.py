"""Where evaluations succeed."""

import numpy as np
import pytest
import torch

from boirl.surrogate.feasibility import Feasibility


@pytest.fixture
def half():
    """Evaluations that fail where the first coordinate is above 0.6."""
    unit = np.random.default_rng(0).random((40, 3))
    fails = unit[:, 0] > 0.6
    return Feasibility(unit[~fails], unit[fails])


def test_without_a_failure_everything_is_feasible():
    unit = np.random.default_rng(0).random((5, 2))
    found = Feasibility(unit, np.empty((0, 2))).log_probability(torch.tensor(unit))
    assert found.tolist() == [0.0] * 5


def test_a_border_is_learned(half):
    unit = np.random.default_rng(1).random((500, 3))
    clear = np.abs(unit[:, 0] - 0.6) > 0.15
    chance = half.log_probability(torch.tensor(unit[clear])).exp().numpy()
    assert ((chance > 0.5) == (unit[clear, 0] < 0.6)).mean() > 0.97


def test_it_has_slopes(half):
    unit = torch.tensor(np.random.default_rng(1).random((5, 3)), requires_grad=True)
    half.log_probability(unit).sum().backward()
    assert (unit.grad[:, 0] < 0.0).all()
