"""Terminal states and starts of tables, given in several ways."""

import numpy as np
import pytest
import scipy.sparse as sp

from boirl.environments import TabularMDP
from boirl.environments.table_parts import start_distribution, state_numbers, without_rows
from boirl.errors import InvalidInputError

CORRIDOR = np.array([[1, 0], [2, 0], [2, 2]])


@pytest.mark.parametrize("terminal", [[2], (2, 2), np.array([2]), np.array([False, False, True])])
def test_terminal_states_are_numbers_or_a_mask(terminal):
    by_table = TabularMDP.from_next_states(CORRIDOR, 0.9, terminal=terminal)
    by_array = TabularMDP.from_probabilities(np.eye(3)[CORRIDOR], 0.9, terminal=terminal)
    for mdp in (by_table, by_array):
        assert mdp.terminal.tolist() == [2]
        assert mdp.is_terminal.tolist() == [False, False, True]
        assert mdp.transition.nnz == 4
        assert mdp.next_states.tolist() == CORRIDOR.tolist()
        assert mdp.start.tolist() == [0.5, 0.5, 0.0]
        assert mdp.always_ends
        assert "1 of them terminal" in repr(mdp)


def test_rows_of_terminal_states_may_hold_anything():
    table = np.array([[1, 0], [2, 0], [-1, 99]])
    assert TabularMDP.from_next_states(table, 0.9, terminal=[2]).transition.nnz == 4
    probabilities = np.eye(3)[CORRIDOR]
    probabilities[2] = 0.0
    assert TabularMDP.from_probabilities(probabilities, 0.9, terminal=[2]).terminal.tolist() == [2]
    with pytest.raises(InvalidInputError, match="after state 2, action 0 sum to 0"):
        TabularMDP.from_probabilities(probabilities, 0.9)


@pytest.mark.parametrize(
    ("terminal", "message"),
    [
        ([3], "terminal holds state 3; expected states from 0 to 2"),
        ([-1], "terminal holds state -1"),
        ([0.5], "expected a list of state numbers, or a mask of 3 states"),
        ([0, 1, 2], "all 3 states are terminal"),
        ([[0, 1]], "terminal has shape"),
    ],
)
def test_states_that_do_not_exist_are_refused(terminal, message):
    with pytest.raises(InvalidInputError, match=message):
        TabularMDP.from_next_states(CORRIDOR, 0.9, terminal=terminal)


def test_no_trajectory_starts_at_its_end():
    with pytest.raises(InvalidInputError, match="starts in the terminal state 2 with probability"):
        TabularMDP.from_next_states(CORRIDOR, 0.9, start=[0.5, 0.0, 0.5], terminal=[2])
    assert start_distribution(None, 3, np.array([1])).tolist() == [0.5, 0.0, 0.5]


def test_absorbing_states_are_found():
    assert TabularMDP.from_next_states(CORRIDOR, 0.9).absorbing.tolist() == [2]
    assert TabularMDP.from_next_states(CORRIDOR, 0.9, endless=[2]).absorbing.tolist() == []
    assert TabularMDP.from_next_states(CORRIDOR, 0.9, terminal=[2]).absorbing.tolist() == []
    assert not TabularMDP.from_next_states(CORRIDOR, 0.9).always_ends


def test_numbers_are_sorted_and_unique():
    assert state_numbers([4, 1, 4], 6).tolist() == [1, 4]
    assert state_numbers((), 6).tolist() == []


def test_rows_lose_their_entries():
    matrix = sp.csr_array(np.arange(6.0).reshape(3, 2) + 1.0)
    left = without_rows(matrix, np.array([False, True, False]))
    assert left.toarray().tolist() == [[1.0, 2.0], [0.0, 0.0], [5.0, 6.0]]


def test_names_are_one_for_each_and_different():
    mdp = TabularMDP.from_next_states(np.array([[0, 1], [0, 1]]), gamma=0.9)
    named = mdp.with_names(states=["home", "shop"], actions=["go", "stay"])
    assert named.state_label(1) == "shop"
    assert named.action_label(0) == "go"
    assert (mdp.state_label(1), mdp.action_label(0)) == ("state 1", "action 0")
    with pytest.raises(InvalidInputError, match="there are 1 state_names; expected 2"):
        mdp.with_names(states=["home"])
    with pytest.raises(InvalidInputError, match="action_names hold 'go' twice"):
        mdp.with_names(actions=["go", "go"])
