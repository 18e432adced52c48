"""The curvature at an optimum, bounds and flat directions."""

import numpy as np
import pytest

from boirl.estimation.information import FlatDirection, observed_information, unit_hessian
from boirl.types import Box

BOX = Box(("a", "b"), np.array([0.0, -1.0]), np.array([2.0, 3.0]))


def bowl(matrix, centre):
    """Value and gradient of a quadratic, `d`, and a cubic that central differences see past."""

    def objective(unit):
        away = unit - centre
        value = 0.5 * away @ matrix @ away + (away**3).sum()
        return float(value), matrix @ away + 3.0 * away**2

    return objective


def information(matrix, unit=(0.5, 0.5), n=100, box=BOX, objective=None):
    unit = np.array(unit)
    known = objective or bowl(np.array(matrix), unit)
    return observed_information(known, unit, known(unit)[1], n, box)


def test_the_inverse_of_the_total_hessian_is_the_covariance_in_theta():
    matrix = np.array([[3.0, 1.0], [1.0, 2.0]])
    found = information(matrix)
    widths = BOX.high - BOX.low
    np.testing.assert_allclose(found.hessian, 100 * matrix / np.outer(widths, widths), rtol=1e-6)
    np.testing.assert_allclose(found.covariance, np.linalg.inv(found.hessian), rtol=1e-6)
    assert (found.on_bound, found.flat) == ((), ())


def test_a_parameter_on_a_bound_is_named_and_the_others_hold_given_it():
    pressed = bowl(np.array([[3.0, 0.0], [0.0, 2.0]]), np.array([-0.1, 0.5]))
    found = information(None, unit=(0.0, 0.5), objective=pressed)
    assert found.on_bound == ("a",)
    assert np.isnan(found.covariance[0]).all()
    assert found.covariance[1, 1] == pytest.approx(16.0 / 200.0, rel=1e-3)


def test_a_parameter_that_is_on_a_bound_by_chance_is_not_held_there():
    found = information([[3.0, 1.0], [1.0, 2.0]], unit=(0.0, 0.5))
    assert found.on_bound == ()
    widths = BOX.high - BOX.low
    exact = np.linalg.inv(100 * np.array([[3.0, 1.0], [1.0, 2.0]])) * np.outer(widths, widths)
    np.testing.assert_allclose(found.covariance, exact, rtol=1e-3)


def test_a_direction_that_changes_nothing_is_named():
    found = information([[2.0, -2.0], [-2.0, 2.0]])
    (direction,) = found.flat
    assert direction.names == ("a", "b")
    assert str(direction) == "a and b together"
    np.testing.assert_allclose(direction.change / (BOX.high - BOX.low), [1.0, 1.0], atol=1e-6)
    assert direction.rise == pytest.approx(0.0, abs=1e-3)
    assert np.isinf(np.diag(found.covariance)).all()


def test_a_flat_parameter_leaves_the_other_its_standard_error():
    found = information([[2.0, 0.0], [0.0, 0.0]])
    (direction,) = found.flat
    assert str(direction) == "b"
    assert found.covariance[0, 0] == pytest.approx(4.0 / 200.0, rel=1e-5)
    assert found.covariance[1, 1] == np.inf
    assert np.isnan(found.covariance[0, 1])


def test_beside_points_without_a_value_differences_are_one_sided():
    matrix, centre = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([0.5, 0.5])

    def border(unit):
        return None if unit[0] > 0.5 + 1e-7 else bowl(matrix, centre)(unit)

    hessian = unit_hessian(border, centre, np.zeros(2))
    np.testing.assert_allclose(hessian, matrix, rtol=1e-3)


def test_nothing_is_made_up_where_no_neighbour_has_a_value():
    centre = np.array([0.5, 0.5])

    def alone(unit):
        return (0.0, np.zeros(2)) if np.array_equal(unit, centre) else None

    found = information(None, objective=alone)
    assert np.isnan(found.hessian).all()
    assert np.isnan(found.covariance).all()


def test_long_directions_are_shortened_when_printed():
    names = tuple(f"w{number}" for number in range(20))
    direction = FlatDirection(np.ones(20), names, 0.0)
    assert str(direction) == "w0, w1, w2, w3 and 16 others together"
