"""Constraints on parameters."""

import numpy as np
import pytest
import torch

from boirl.constraints import bounds, linear
from boirl.errors import InvalidInputError
from boirl.types import Box

BOX = Box(("time", "left"), np.array([-4.0, -2.0]), np.array([0.0, 2.0]))
THETAS = torch.tensor([[-3.0, 1.0], [-1.0, -1.0]], dtype=torch.float64)


def test_margins_are_positive_where_they_hold():
    (one,) = linear({"time": 1.0, "left": 2.0}, at_most=-2.0)
    np.testing.assert_allclose(one.margin(THETAS, BOX), [-1.0 / 12.0, 1.0 / 12.0])
    (other,) = linear({"time": 1.0, "left": 2.0}, at_least=-2.0)
    np.testing.assert_allclose(other.margin(THETAS, BOX), [1.0 / 12.0, -1.0 / 12.0])


def test_bounds_are_linear():
    found = bounds(time=(-2.0, None), left=(-1.0, 1.5))
    assert [one.name for one in found] == ["1 time >= -2", "1 left <= 1.5", "1 left >= -1"]
    for one in found:
        one.check(BOX)
    assert found[0].facts() == {
        "kind": "linear",
        "name": "1 time >= -2",
        "weights": {"time": -1.0},
        "limit": 2.0,
    }


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: linear({"time": 1.0}), "expected one at least"),
        (lambda: bounds(time=3.0), "expected a lower and an upper one"),
        (lambda: linear({"speed": 1.0}, at_most=0.0)[0].check(BOX), "time, left"),
        (lambda: linear({"time": 1.0}, at_most=-5.0)[0].check(BOX), "leaves nothing of the box"),
    ],
)
def test_wrong_constraints_are_refused(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()
