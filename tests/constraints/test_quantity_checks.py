"""What cannot be measured is refused before anything is learned for it."""

import numpy as np
import pytest

import boirl
from boirl.constraints import Reach, custom, expects, reaches
from boirl.constraints.quantities import ExpectedTotal, Function
from boirl.errors import InvalidInputError
from boirl.experiments.worst_case import problem_of
from tests.experiments.pulled_maze import pulled_maze


@pytest.fixture(scope="module")
def table():
    return problem_of("ambiguous", 1000)


@pytest.fixture(scope="module")
def maze():
    return pulled_maze()


def beyond(states):
    return states[:, 0] > 0.2


@pytest.mark.parametrize(
    ("quantity", "message"),
    [
        (Reach([1], start=np.ones(11)), "the sum 11; expected 11 probabilities"),
        (Reach([1], start=[1.0]), "expected 11 probabilities"),
        (Reach([1], steps=-3), "expected 1 or more"),
        (Reach([1.5]), "expected numbers from 0 to 10"),
        (Reach(lambda states: True), r"gives shape \(\) for 11 states"),
        (ExpectedTotal(until=lambda states: states[:3] > 1), r"gives shape \(3,\) for 11"),
    ],
)
def test_what_a_table_has_not_is_refused(table, quantity, message):
    with pytest.raises(InvalidInputError, match=message):
        quantity.check(table)


@pytest.mark.parametrize(
    ("quantity", "message"),
    [
        (Reach([7]), "expected a function from observations"),
        (Reach(beyond, start=[1.0]), "no table; expected none"),
        (Reach(lambda states: states > 0.2), r"gives shape \(2, 2\) for 2 states"),
        (ExpectedTotal([1.0, 2.0]), "expected a function of observations and actions"),
        (ExpectedTotal(lambda states, actions: states), "expected as many numbers"),
        (ExpectedTotal(until=[3]), "expected a function from observations"),
    ],
)
def test_what_observations_do_not_say_is_refused(maze, quantity, message):
    with pytest.raises(InvalidInputError, match=message):
        boirl.explore(maze, 1, constraints=[expects(None, at_most=9.0), _limited(quantity)])


def _limited(quantity):
    (one,) = custom(lambda *given: 0.0, at_most=1.0)
    return type(one)(quantity, 0.5, True, "limited")


def test_a_total_may_end_where_a_function_says(table, maze):
    policy = table.policy((9.0, 1.0))
    by_number = ExpectedTotal(until=[6, 8, 9, 10])
    by_function = ExpectedTotal(until=lambda states: np.isin(states, [6, 8, 9, 10]))
    assert by_function.measure(table, policy) == by_number.measure(table, policy)
    assert by_function.facts() is None
    assert by_number.facts() is not None
    pulled = maze.policy((0.6, -0.5))
    steps = ExpectedTotal(until=beyond)
    steps.check(maze)
    drawn = maze.simulator.roll_out(pulled, 2000, maze.steps, np.random.default_rng(0))
    before = np.array([int(np.cumsum(beyond(one.states)).astype(bool).argmax()) for one in drawn])
    never = np.array([not beyond(one.states).any() for one in drawn])
    expected = np.where(never, maze.steps, before).mean()
    found = steps.measure(maze, pulled)
    assert found.value == pytest.approx(expected, abs=5.0 * found.standard_error)


def test_a_function_gives_a_number(table):
    with pytest.raises(InvalidInputError, match="gives 'x'; expected a number"):
        Function(lambda *given: "x", "odd").measure(table, None)


def test_constraints_that_can_be_measured_are_taken(maze):
    (one,) = reaches(beyond, at_most=0.5)
    one.quantity.check(maze)
