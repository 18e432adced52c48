"""Quasi-Newton descent within the unit cube, and past points without a value."""

import numpy as np
import pytest

from boirl.estimation.descent import descend, projected_gradient


def quadratic(centre, curvatures):
    def objective(point):
        away = point - centre
        return 0.5 * float(curvatures @ away**2), curvatures * away

    return objective


def rosenbrock(point):
    x, y = 4.0 * point - 2.0
    value = 10.0 * (y - x**2) ** 2 + (1.0 - x) ** 2
    slope = np.array([-40.0 * x * (y - x**2) - 2.0 * (1.0 - x), 20.0 * (y - x**2)])
    return value, 4.0 * slope


def counted(objective):
    calls = []

    def count(point):
        calls.append(point.copy())
        return objective(point)

    return count, calls


@pytest.mark.parametrize("seed", range(4))
def test_the_minimum_of_a_bent_valley_is_found(seed):
    start = np.random.default_rng(seed).random(2)
    count, calls = counted(rosenbrock)
    end = descend(count, start, steps=200)
    np.testing.assert_allclose(end.point, 0.75, atol=1e-5)
    assert end.converged
    assert end.evaluations == len(calls) < 120
    assert end.value == min(rosenbrock(point)[0] for point in calls)


def test_curvatures_that_differ_by_a_million_are_learned():
    curvatures = 10.0 ** np.arange(-3, 4)
    centre = np.linspace(0.2, 0.8, 7)
    end = descend(quadratic(centre, curvatures), np.full(7, 0.5), tolerance=1e-15)
    np.testing.assert_allclose(end.point, centre, atol=1e-4)


def test_it_stays_in_the_cube_and_ends_on_the_bound_that_the_slope_presses_on():
    count, calls = counted(quadratic(np.array([1.4, 0.3, -2.0]), np.ones(3)))
    end = descend(count, np.full(3, 0.5))
    np.testing.assert_allclose(end.point, [1.0, 0.3, 0.0], atol=1e-9)
    assert end.converged
    assert min(point.min() for point in calls) >= 0.0
    assert max(point.max() for point in calls) <= 1.0
    np.testing.assert_allclose(projected_gradient(end.point, end.gradient), 0.0, atol=1e-9)


def test_points_without_a_value_shorten_steps_and_never_end_a_descent():
    """The minimum is a thousandth from the border of a half-space without values."""

    def objective(point):
        return (
            None
            if point.sum() > 1.001
            else quadratic(np.full(2, 0.5), np.array([1.0, 50.0]))(point)
        )

    count, calls = counted(objective)
    for seed in range(8):
        start = 0.5 * np.random.default_rng(seed).random(2)
        end = descend(count, start)
        np.testing.assert_allclose(end.point, 0.5, atol=1e-5)
    assert any(objective(point) is None for point in calls)


def test_a_start_without_a_value_has_no_descent():
    assert descend(lambda point: None, np.full(2, 0.5)) is None


def test_coordinates_that_are_held_do_not_move():
    end = descend(quadratic(np.full(3, 0.9), np.ones(3)), np.full(3, 0.2), held=(1,))
    np.testing.assert_allclose(end.point, [0.9, 0.2, 0.9], atol=1e-6)


def test_steps_are_limited():
    count, calls = counted(rosenbrock)
    end = descend(count, np.array([0.1, 0.9]), steps=2)
    assert not end.converged
    assert len(calls) < 12


def test_a_start_at_the_minimum_takes_one_evaluation():
    end = descend(quadratic(np.full(2, 0.5), np.ones(2)), np.full(2, 0.5))
    assert end.evaluations == 1
    assert end.converged
