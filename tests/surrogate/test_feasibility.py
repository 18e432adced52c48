"""Where evaluations succeed."""

import numpy as np
import pytest
import torch

from boirl.surrogate.feasibility import Feasibility
from boirl.types import HalfSpace


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


def test_slopes_lead_away_from_failures(half):
    unit = np.random.default_rng(1).random((20, 3))
    near = torch.tensor(unit[np.abs(unit[:, 0] - 0.6) < 0.2], requires_grad=True)
    half.log_probability(near).sum().backward()
    assert (near.grad[:, 0] < 0.0).all()


def test_what_is_likely_to_fail_is_worth_less_than_anything_else(half):
    unit = torch.tensor([[0.9, 0.5, 0.5], [0.3, 0.5, 0.5]], requires_grad=True)
    unit = unit.to(torch.float64)
    found = half.worth(unit, torch.tensor([1e4, -1e4], dtype=torch.float64))
    assert found[0] < found[1]


def test_a_border_is_as_sharp_as_the_evaluations_say():
    """Outcomes on a line that depend on its side alone, or on luck as well."""
    rng = np.random.default_rng(2)
    unit = rng.random((200, 1))
    at = torch.tensor([[0.45], [0.55]])

    def step(fails):
        chance = Feasibility(unit[~fails], unit[fails]).log_probability(at.double()).exp()
        return float(chance[0] - chance[1])

    exact = unit[:, 0] > 0.5
    lucky = exact ^ (rng.random(200) < 0.3)
    assert step(exact) > 0.6
    assert step(lucky) < 0.4


def test_what_is_ruled_out_is_neither_possible_nor_worth_anything():
    unit = np.random.default_rng(0).random((200, 2))
    corner = HalfSpace(np.array([0.6, 0.8]), 1.0)
    found = Feasibility(unit, np.empty((0, 2)), (corner,))
    beyond = unit @ corner.normal >= corner.offset
    chance, worth = found.log_probability(torch.tensor(unit)), torch.zeros(200)
    np.testing.assert_array_equal(chance.numpy() == -np.inf, beyond)
    np.testing.assert_array_equal(found.worth(torch.tensor(unit), worth).numpy() < -1e5, beyond)
    assert [found.is_ruled_out(point) for point in unit] == beyond.tolist()
