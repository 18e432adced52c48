"""Profile intervals of functions whose profiles are known."""

import numpy as np
import pytest
from scipy.stats import chi2

from boirl.estimation.profile import ProfileInterval, profile_end

N = 200
MATRIX = np.array([[3.0, 1.2], [1.2, 2.0]])
CENTRE = np.array([0.4, 0.6])


def bowl(unit):
    away = unit - CENTRE
    return 1.0 + 0.5 * float(away @ MATRIX @ away), MATRIX @ away


def end(side, objective=bowl, n=N, standard_error=None, level=0.95, column=0):
    exact = float(np.sqrt(np.linalg.inv(n * MATRIX)[column, column]))
    known = exact if standard_error is None else standard_error
    return profile_end(objective, CENTRE, 1.0, n, column, side, level, known)


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("standard_error", [None, np.nan, np.inf, 1e-4, 10.0])
def test_of_a_quadratic_it_is_the_classical_interval(side, level, standard_error):
    exact = np.sqrt(chi2.ppf(level, 1) * np.linalg.inv(N * MATRIX)[0, 0])
    place, is_open = end(side, standard_error=standard_error, level=level)
    assert place == pytest.approx(CENTRE[0] + side * exact, abs=2e-4 * exact)
    assert not is_open


def test_an_interval_that_reaches_the_bound_is_open_there():
    assert end(1.0, n=2) == (1.0, True)
    assert end(-1.0, n=2) == (0.0, True)


def test_a_value_without_a_policy_ends_an_interval():
    def border(unit):
        return None if unit[0] > 0.45 else bowl(unit)

    place, is_open = end(1.0, border)
    assert place == pytest.approx(0.45, abs=1e-4)
    assert is_open


def test_a_skewed_profile_has_a_longer_tail():
    """Poisson-like: n (x - c log x), steep below and shallow above."""

    def skewed(unit):
        away = unit - CENTRE
        x = unit[0] + 1e-3
        c = CENTRE[0] + 1e-3
        value = 1.0 + (x - c) - c * np.log(x / c) + away[1] ** 2
        return float(value), np.array([1.0 - c / x, 2.0 * away[1]])

    low, high = end(-1.0, skewed, n=50)[0], end(1.0, skewed, n=50)[0]
    goal = 0.5 * chi2.ppf(0.95, 1) / 50
    for place in (low, high):
        assert skewed(np.array([place, 0.6]))[0] - 1.0 == pytest.approx(goal, rel=1e-3)
    assert high - CENTRE[0] > CENTRE[0] - low


def test_an_interval_shows_where_it_is_open():
    shown = ProfileInterval("goal", 0.25, 1.5, 0.95, open_low=True, open_high=False)
    assert str(shown) == "goal in (0.25, 1.5]"
