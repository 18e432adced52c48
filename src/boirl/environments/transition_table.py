"""Dynamics in a table with one row per possible step, such as a CSV file.

    state,action,next_state,probability
    house 0,right,house 1,0.9
    house 0,right,house 0,0.1
    house 0,left,house 0,1

Without the column `probability` every step is certain. States and actions are whole numbers from 0
on, or names, which are counted in the order in which they are met. A state that no row leaves is
terminal; in all others there is a row for each action.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from boirl.errors import InvalidInputError
from boirl.tables import Table, read_table
from boirl.types import IntArray

COLUMNS = ("state", "action", "next_state")


class TransitionTable(NamedTuple):
    """Dynamics `(S * A) x S`, actions, terminal states, and names where there are some."""

    transition: sp.csr_array
    n_actions: int
    terminal: IntArray
    state_names: tuple[str, ...]
    action_names: tuple[str, ...]


def read_transitions(source: Any) -> TransitionTable:
    """The dynamics in a table.

    Raises:
        InvalidInputError: A column, a cell or an action of a state is missing; says where.
    """
    table = read_table(source)
    states, actions, following = (_cells(table, name) for name in COLUMNS)
    both, state_names = _numbered(table, states + following, "state")
    left, reached = both[: len(states)], both[len(states) :]
    taken, action_names = _numbered(table, actions, "action")
    n_states, n_actions = int(both.max()) + 1, int(taken.max()) + 1
    probabilities = np.ones(len(left))
    if "probability" in table.columns:
        probabilities = table.numbers("probability")
    _check_twice(table, np.stack([left, taken, reached], axis=1))
    rows = left * n_actions + taken
    transition = sp.csr_array(
        (probabilities, (rows, reached)), shape=(n_states * n_actions, n_states)
    )
    counts = np.bincount(rows, minlength=n_states * n_actions).reshape(n_states, n_actions)
    terminal = np.flatnonzero(counts.sum(axis=1) == 0)
    missing = np.argwhere((counts == 0) & (counts.sum(axis=1) > 0)[:, None])
    if missing.size:
        state, action = missing[0].tolist()
        raise InvalidInputError(
            f"{table.title} has no row for state {_name(state, state_names)} and action "
            f"{_name(action, action_names)}; expected one for each action (one that does nothing "
            "stays in place)"
        )
    return TransitionTable(transition, n_actions, terminal, state_names, action_names)


def _cells(table: Table, name: str) -> list[Any]:
    if name not in table.columns:
        raise InvalidInputError(
            f"{table.title} has the columns {', '.join(table.columns)}; expected "
            f"{', '.join(COLUMNS)} and, where steps are not certain, probability: rename them"
        )
    cells = table.columns[name]
    empty = next((row for row, cell in enumerate(cells) if cell is None), None)
    if empty is not None or not cells:
        place = table.title if empty is None else table.place(empty)
        raise InvalidInputError(f"{place}: found nothing in the column {name}; expected a {name}")
    return cells


def _numbered(table: Table, cells: list[Any], kind: str) -> tuple[IntArray, tuple[str, ...]]:
    """Numbers of states or actions, and their names where they are not numbers."""
    if any(isinstance(cell, str) for cell in cells):
        numbers: dict[str, int] = {}
        found = [numbers.setdefault(str(cell), len(numbers)) for cell in cells]
        return np.array(found, dtype=np.int64), tuple(numbers)
    values = np.array(cells, dtype=np.float64)
    wrong = np.flatnonzero((values < 0) | (values != np.round(values)))
    if wrong.size:
        raise InvalidInputError(
            f"{table.place(int(wrong[0]) % len(table))}: the {kind} is {cells[wrong[0]]}; expected "
            "a whole number from 0 on, or a name"
        )
    numbers_found = values.astype(np.int64)
    gap = np.setdiff1d(np.arange(numbers_found.max() + 1), numbers_found)
    if gap.size:
        raise InvalidInputError(
            f"{table.title} never has the {kind} {gap[0]} and goes up to {numbers_found.max()}; "
            "expected numbers without gaps, or names: write text such as "
            f"'{kind} {numbers_found.max()}'"
        )
    return numbers_found, ()


def _check_twice(table: Table, steps: IntArray) -> None:
    _, first, counts = np.unique(steps, axis=0, return_index=True, return_counts=True)
    if (counts > 1).any():
        step = steps[first[np.argmax(counts > 1)]]
        row = int(np.flatnonzero((steps == step).all(axis=1))[1])
        raise InvalidInputError(
            f"{table.place(row)}: this step stands in the table twice; expected each once, with "
            "its whole probability"
        )


def _name(number: int, names: tuple[str, ...]) -> str:
    return repr(names[number]) if names else str(number)
