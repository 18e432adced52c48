"""Dynamics in a table of possible steps."""

import numpy as np
import pytest

from boirl.environments import TabularMDP
from boirl.environments.transition_table import read_transitions
from boirl.errors import InvalidInputError

ROWS = [
    ("shop", "stay", "shop", 1.0),
    ("shop", "go", "home", 0.8),
    ("shop", "go", "shop", 0.2),
]


def table(rows=ROWS, names=("state", "action", "next_state", "probability")):
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=False))


def test_names_and_probabilities_are_read():
    mdp = TabularMDP.from_table(table(), gamma=0.9)
    assert mdp.state_names == ("shop", "home")
    assert mdp.action_names == ("stay", "go")
    np.testing.assert_allclose(mdp.dense_by_state[0], [[1.0, 0.0], [0.2, 0.8]])
    assert mdp.terminal.tolist() == [1], "no row leaves it"
    assert mdp.start.tolist() == [1.0, 0.0]


def test_columns_may_have_other_names():
    called = {"state": "from", "action": "move", "next_state": "to", "probability": "chance"}
    mdp = TabularMDP.from_table(table(names=tuple(called.values())), gamma=0.9, **called)
    assert (mdp.transition != TabularMDP.from_table(table(), gamma=0.9).transition).nnz == 0
    with pytest.raises(InvalidInputError, match=r"expected one called 'odds'.*probability="):
        TabularMDP.from_table(table(), gamma=0.9, probability="odds")
    with pytest.raises(
        InvalidInputError, match=r"no column 'odds' to name; expected some of state"
    ):
        TabularMDP.from_table(table(), gamma=0.9, odds="chance")


def test_numbers_are_the_same_as_arrays():
    next_states = np.array([[0, 1], [0, 2], [1, 2]])
    rows = [(s, a, next_states[s, a]) for s in range(3) for a in range(2)]
    read = TabularMDP.from_table(table(rows), gamma=0.9)
    assert read.state_names == ()
    np.testing.assert_array_equal(read.next_states, next_states)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0]])
def test_the_order_of_rows_changes_names_but_not_dynamics(order):
    read = read_transitions(table([ROWS[number] for number in order]))
    shop, home = read.state_names.index("shop"), read.state_names.index("home")
    row = shop * 2 + read.action_names.index("go")
    assert read.transition[[row], [home]] == 0.8


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            table(names=("state", "act", "next_state")),
            "expected state, action, next_state and.*such as action='act'",
        ),
        (
            table(names=("state", "action", "next_state", "chance")),
            "from state 'shop' by action 'go' to 2 states.*no column 'probability'.*chance",
        ),
        (table([*ROWS, ROWS[0]]), "row 3 of the table: this step stands in the table twice"),
        (table([*ROWS, ("home", "go", "shop", 1.0)]), "no row for state 'home' and action 'stay'"),
        (table([("shop", "go", None, 1.0)]), "row 0 of the table: found nothing in the column nex"),
        (table([(0, 0, 4, 1.0)]), "never has the state 1 and goes up to 4.*'state 4'"),
        (table([(0, 0, 0.5, 1.0)]), "row 0 of the table: the state is 0.5"),
        (table([("shop", "go", "shop", "1/2")]), "found '1/2' in the column probability"),
        (table([("a", "go", "a", 0.5)]), "sum to 0.5; expected 1"),
    ],
)
def test_what_is_wrong_is_named(given, message):
    with pytest.raises(InvalidInputError, match=message):
        TabularMDP.from_table(given, gamma=0.9)
