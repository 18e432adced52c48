"""Quasi-Newton steps."""

import numpy as np
import pytest

from boirl.evaluation import Evaluation
from boirl.search.descent import is_off, quasi_newton_step
from boirl.surrogate import Observations
from boirl.types import Box

BOX = Box(("a", "b"), np.array([-1.0, 0.0]), np.array([3.0, 10.0]))
CURVATURE = np.array([[4.0, 1.0], [1.0, 2.0]])


def evaluation(unit, lowest):
    apart = np.asarray(unit) - lowest
    gradient = CURVATURE @ apart / (BOX.high - BOX.low)
    return Evaluation(
        tuple(BOX.from_unit(np.asarray(unit))), 0.5 * apart @ CURVATURE @ apart, gradient=gradient
    )


def descend(lowest, steps, start=(0.9, 0.2)):
    seen = [evaluation(start, lowest)]
    for _ in range(steps):
        unit = quasi_newton_step(Observations.of(seen), BOX, 100)
        if unit is None:
            break
        seen.append(evaluation(unit, lowest))
    return seen


def test_it_descends_to_the_bottom():
    nll = [one.nll for one in descend(np.array([0.4, 0.5]), 10)]
    assert min(nll) < 1e-3 * nll[0]


def test_it_stays_in_the_box_and_slides_along_its_edge():
    seen = descend(np.array([1.2, 0.5]), 12)
    units = BOX.to_unit(np.array([one.theta for one in seen]))
    assert ((units >= 0.0) & (units <= 1.0)).all()
    best = units[np.argmin([one.nll for one in seen])]
    np.testing.assert_allclose(best, [1.0, 0.6], atol=0.05)


def test_at_the_bottom_there_is_no_step():
    lowest = np.array([0.4, 0.5])
    assert quasi_newton_step(Observations.of([evaluation(lowest, lowest)]), BOX, 100) is None


def test_without_gradients_there_is_no_step():
    assert quasi_newton_step(Observations.of([Evaluation((0.0, 1.0), 3.0)]), BOX, 100) is None


def test_steps_that_did_not_help_make_the_next_one_shorter():
    seen, start = Observations.of([evaluation((0.9, 0.2), np.array([0.4, 0.5]))]), [0.9, 0.2]
    lengths = [np.linalg.norm(quasi_newton_step(seen, BOX, 100, k) - start) for k in range(3)]
    assert lengths[0] > 2.0 * lengths[1] > 4.0 * lengths[2]


def test_two_evaluations_apart_along_both_parameters_give_newtons_step():
    lowest, best = np.array([0.45, 0.45]), np.array([0.46, 0.47])
    first = np.array([0.1, 0.0])
    # Conjugate steps determine the curvature.
    second = np.array([0.0, 0.1])
    second = second - first * (first @ CURVATURE @ second) / (first @ CURVATURE @ first)
    seen = [evaluation(best + step, lowest) for step in (np.zeros(2), first, second)]
    found = quasi_newton_step(Observations.of(seen), BOX, 100)
    np.testing.assert_allclose(found, lowest, atol=1e-9)


def test_the_same_theta_twice_says_nothing_of_the_curvature():
    lowest = np.array([0.4, 0.5])
    once, twice = ([evaluation((0.9, 0.2), lowest)] * count for count in (1, 2))
    steps = [quasi_newton_step(Observations.of(seen), BOX, 100) for seen in (once, twice)]
    np.testing.assert_array_equal(*steps)


@pytest.mark.parametrize(
    ("predicted", "nll", "off"),
    [
        ((10.0, 0.1), 10.1, False),
        ((10.0, 0.1), 11.0, True),
        ((10.0, 1e-6), 10.001, False),
        ((10.0, 0.1), np.nan, True),
    ],
)
def test_a_prediction_is_off_where_it_matters(predicted, nll, off):
    assert is_off(predicted, nll, n_demonstrations=100, d=2) == off
