import numpy as np
import pytest
import torch

from boirl.errors import InvalidInputError
from boirl.rewards import CallableReward, RewardFamily, Transitions
from boirl.types import Parameter

STATES = Transitions(np.arange(3))


def squares(theta, transitions):
    return theta[:, :1] * torch.as_tensor(transitions.states) ** 2


def test_a_function_is_called_with_rows_whatever_the_batch():
    family = CallableReward(squares, {"weight": (0, 5)})
    theta = torch.ones(2, 4, 1, dtype=torch.float64)
    assert family(theta, STATES).tolist() == [[[0.0, 1.0, 4.0]] * 4] * 2


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda theta, steps: theta[:, :1], r"returned shape \(2, 1\) .*expected \(2, 3\)"),
        (lambda theta, steps: torch.zeros(3), r"returned shape \(3,\) for 2 thetas"),
        (lambda theta, steps: squares(theta, steps).T, r"expected \(2, 3\).*transpose it"),
        (lambda theta, steps: squares(theta, steps)[..., None], "check its shape"),
    ],
)
def test_a_function_with_the_wrong_shape_is_refused(function, message):
    family = CallableReward(function, {"weight": (0, 5)})
    with pytest.raises(InvalidInputError, match=message):
        family(torch.ones(2, 1, dtype=torch.float64), STATES)


def test_a_family_of_ones_own_with_the_wrong_shape_is_refused():
    class Half(RewardFamily):
        def evaluate(self, theta, transitions):
            return theta[..., :1]

    family = Half([Parameter("weight", 0.0, 1.0)])
    with pytest.raises(InvalidInputError, match=r"Half returned rewards of shape \(2, 1\)"):
        family(torch.ones(2, 1, dtype=torch.float64), STATES)


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, 1.0), (0.0, np.inf), (np.nan, 1.0)])
def test_bounds_must_be_finite_and_in_order(low, high):
    with pytest.raises(InvalidInputError, match="parameter 'weight' has bounds"):
        CallableReward(squares, {"weight": (low, high)})


def test_a_parameter_is_fixed_at_a_finite_number():
    with pytest.raises(InvalidInputError, match="'weight' is fixed at nan"):
        Parameter("weight", 0.0, 1.0, fixed=float("nan"))


def test_names_are_unique():
    twice = [Parameter("weight", 0.0, 1.0), Parameter("weight", 0.0, 2.0)]
    with pytest.raises(InvalidInputError, match="not unique"):
        CallableReward(squares, twice)


def test_what_a_reward_depends_on_is_one_of_three():
    with pytest.raises(InvalidInputError, match="depends_on is 'action'"):
        CallableReward(squares, {"weight": (0, 1)}, depends_on="action")


def test_one_parameter_at_least_is_free():
    family = CallableReward(squares, {"weight": (0, 5)}).fix(weight=1.0)
    with pytest.raises(InvalidInputError, match="every parameter is fixed"):
        _ = family.box


@pytest.mark.parametrize(
    ("theta", "message"),
    [
        ([0.5], r"theta has shape \(1,\); expected 2 numbers \(a, b\)"),
        ([[0.5, 3.0]], r"has b = 3; expected a number in \[-1, 1\]"),
        ([0.5, np.nan], "has b = nan"),
        ("text", "theta is 'text'; expected 2 numbers"),
    ],
)
def test_the_box_names_the_number_that_does_not_fit(theta, message):
    box = CallableReward(squares, {"a": (0, 1), "b": (-1, 1)}).box
    with pytest.raises(InvalidInputError, match=message):
        box.check(theta)


def test_the_box_maps_to_the_unit_cube_and_back():
    box = CallableReward(squares, {"a": (0.1, 0.7), "b": (-3, 1)}).box
    unit = np.random.default_rng(0).random((50, 2))
    np.testing.assert_allclose(box.to_unit(box.from_unit(unit)), unit, atol=1e-14)


def test_the_corners_of_the_unit_cube_lie_in_the_box():
    box = CallableReward(squares, {"a": (0.1, 0.7), "b": (-1.3, 0.1)}).box
    assert box.check(box.from_unit(np.array([[0.0, 0.0], [1.0, 1.0]]))).tolist() == [
        [0.1, -1.3],
        [0.7, 0.1],
    ]
