"""Parameters and the box that they span."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boirl.errors import InvalidInputError
from boirl.types import Box, Parameter, silent

BOX = Box(("a", "b"), np.array([0.1, -1.3]), np.array([0.7, 0.1]))


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, 1.0), (0.0, np.inf), (np.nan, 1.0)])
def test_bounds_are_finite_and_in_order(low, high):
    with pytest.raises(InvalidInputError, match="parameter 'weight' has bounds"):
        Parameter("weight", low, high)


def test_a_parameter_is_fixed_at_a_finite_number():
    assert Parameter("weight", 0.0, 1.0, fixed=5.0).fixed == 5.0
    with pytest.raises(InvalidInputError, match="'weight' is fixed at inf"):
        Parameter("weight", 0.0, 1.0, fixed=float("inf"))


def test_thetas_become_rows():
    assert BOX.dimension == 2
    assert BOX.check([0.5, 0.0]).shape == (1, 2)
    assert BOX.check(np.full((3, 2), 0.1)).shape == (3, 2)
    assert BOX.check_one([[0.5, 0.0]]).tolist() == [0.5, 0.0]
    assert BOX.check(np.empty((0, 2))).shape == (0, 2)


@pytest.mark.parametrize(
    ("theta", "message"),
    [
        ([0.5], r"theta has shape \(1,\); expected 2 numbers \(a, b\)"),
        (np.zeros((1, 1, 2)), r"theta has shape \(1, 1, 2\)"),
        ([[0.5, 3.0]], r"has b = 3; expected a number in \[-1\.3, 0\.1\]"),
        ([0.5, np.nan], "has b = nan"),
        ("text", "theta is 'text'; expected 2 numbers"),
        ([[0.5, 0.0], [0.5]], "expected 2 numbers"),
    ],
)
def test_the_number_that_does_not_fit_is_named(theta, message):
    with pytest.raises(InvalidInputError, match=message):
        BOX.check(theta)


def test_one_theta_is_one():
    with pytest.raises(InvalidInputError, match="there are 2 thetas; expected a single one"):
        BOX.check_one([[0.5, 0.0], [0.5, 0.0]])


@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)), min_size=1, max_size=5))
def test_points_of_the_unit_cube_lie_in_the_box_and_come_back(points):
    unit = np.array(points)
    thetas = BOX.check(BOX.from_unit(unit))
    np.testing.assert_allclose(BOX.to_unit(thetas), unit, atol=1e-14)


def test_corners_are_met_exactly():
    corners = BOX.from_unit(np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert corners.tolist() == [[0.1, -1.3], [0.7, 0.1]]


def test_a_report_to_nobody_says_nothing(capsys):
    silent(0.5, "half")
    assert capsys.readouterr().out == ""
