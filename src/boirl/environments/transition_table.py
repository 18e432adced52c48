"""Dynamics in a table with one row per possible step, such as a CSV file.

    state,action,next_state,probability
    house 0,right,house 1,0.9
    house 0,right,house 0,0.1
    house 0,left,house 0,1

Columns may have other names, see `TransitionColumns`. Without a column of probabilities every step
is certain. States and actions are whole numbers from 0
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


class TransitionColumns(NamedTuple):
    """What the columns are called. Where there is no `probability`, every step is certain."""

    state: str = "state"
    action: str = "action"
    next_state: str = "next_state"
    probability: str = "probability"


class TransitionTable(NamedTuple):
    """Dynamics `(S * A) x S`, actions, terminal states, and names where there are some."""

    transition: sp.csr_array
    n_actions: int
    terminal: IntArray
    state_names: tuple[str, ...]
    action_names: tuple[str, ...]


USUAL = TransitionColumns()


def read_transitions(source: Any, **columns: str) -> TransitionTable:
    """The dynamics in a table.

    Args:
        source: See `boirl.tables`.
        **columns: Other names of its columns, see `TransitionColumns`.

    Raises:
        InvalidInputError: A column, a cell or an action of a state is missing; says where.
    """
    unknown = sorted(set(columns) - set(USUAL._fields))
    if unknown:
        raise InvalidInputError(
            f"there is no column {unknown[0]!r} to name; expected some of "
            f"{', '.join(USUAL._fields)}"
        )
    called = TransitionColumns(**columns)
    table = read_table(source)
    states, actions, following = (_cells(table, called, role) for role in called._fields[:3])
    both, state_names = _numbered(table, states + following, "state")
    left, reached = both[: len(states)], both[len(states) :]
    taken, action_names = _numbered(table, actions, "action")
    n_states, n_actions = int(both.max()) + 1, int(taken.max()) + 1
    probabilities = np.ones(len(left))
    if called.probability in table.columns:
        probabilities = table.numbers(called.probability)
    elif called.probability != USUAL.probability:
        table.column(called.probability, "probability")  # raises: it was asked for
    _check_twice(table, np.stack([left, taken, reached], axis=1))
    rows = left * n_actions + taken
    transition = sp.csr_array(
        (probabilities, (rows, reached)), shape=(n_states * n_actions, n_states)
    )
    counts = np.bincount(rows, minlength=n_states * n_actions).reshape(n_states, n_actions)
    if called.probability not in table.columns and (counts > 1).any():
        state, action = np.argwhere(counts > 1)[0].tolist()
        others = ", ".join(one for one in table.columns if one not in called) or "none"
        raise InvalidInputError(
            f"{table.title} leads from state {_name(state, state_names)} by action "
            f"{_name(action, action_names)} to {counts[state, action]} states, and has no column "
            f"{called.probability!r}; expected one that says how likely each is (other columns: "
            f"{others}): add it, or pass its name as probability=..."
        )
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


def _cells(table: Table, called: TransitionColumns, role: str) -> list[Any]:
    name = str(getattr(called, role))
    if name not in table.columns:
        *required, probability = called
        free = next((one for one in table.columns if one not in called), "...")
        raise InvalidInputError(
            f"{table.title} has the columns {', '.join(table.columns)}; expected "
            f"{', '.join(required)} and, where steps are not certain, {probability}: rename them, "
            f"or say which is which, such as {role}={free!r}"
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
