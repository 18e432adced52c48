"""Features in a table such as a CSV file: one row per state, or per state and action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from boirl.errors import InvalidInputError
from boirl.tables import Table, read_table
from boirl.types import FloatArray, IntArray


def read_features(
    source: Any,
    names: Sequence[str],
    states: Sequence[str] = (),
    actions: Sequence[str] = (),
    state: str = "state",
    action: str = "action",
) -> FloatArray:
    """The columns `names` of a table, `S x p`, or `S x A x p` where it has a column of actions.

    Args:
        source: A table with a column of states, and maybe of actions, see `boirl.tables`.
        names: Columns to read.
        states: Names of all states in the order of their numbers; empty where the column `state`
            holds numbers.
        actions: The same for actions.
        state: What the column of states is called.
        action: What the column of actions is called.

    Raises:
        InvalidInputError: A column, a state, an action or a number is missing; says which.
    """
    table = read_table(source)
    places = [_numbers(table, state, states, "state")]
    if action in table.columns or action != "action":
        places.append(_numbers(table, action, actions, "action"))
    wanted = [_order(table, state, states), _order(table, action, actions)][: len(places)]
    shape = tuple(map(len, wanted))
    rows = np.full(shape, -1)
    for row, at in enumerate(zip(*places, strict=True)):
        if rows[at] >= 0:
            raise InvalidInputError(
                f"{table.place(row)}: {_named(wanted, at)} stands in the table twice; expected "
                f"each once{'' if len(at) == 2 else _advice(table)}"
            )
        rows[at] = row
    missing = np.argwhere(rows < 0)
    if missing.size:
        raise InvalidInputError(
            f"{table.title} has no row for {_named(wanted, missing[0])}; expected one for each of "
            f"{rows.size}"
        )
    columns = [table.numbers(name)[rows] for name in names]
    return np.stack(columns, axis=-1)


def _order(table: Table, column: str, names: Sequence[str]) -> list[str]:
    """Names of states or actions by their numbers; the numbers themselves where there are none."""
    count = len(set(table.columns.get(column, ())))
    return list(map(str, names)) or [str(number) for number in range(count)]


def _numbers(table: Table, column: str, names: Sequence[str], kind: str) -> IntArray:
    """Numbers of the states or actions in a column, one per row."""
    cells = table.column(column, kind)
    numbers = {name: number for number, name in enumerate(_order(table, column, names))}
    for row, cell in enumerate(cells):
        if str(cell) not in numbers:
            hint = "" if names else f" (pass {kind}s=mdp.{kind}_names where they have names)"
            raise InvalidInputError(
                f"{table.place(row)}: {str(cell)!r} is no {kind} of the dynamics; expected one "
                f"of {len(numbers)}, such as {next(iter(numbers))!r}{hint}"
            )
    return np.array([numbers[str(cell)] for cell in cells], dtype=np.int64)


def _named(wanted: Sequence[Sequence[str]], at: Any) -> str:
    """A place in the table of features, in words."""
    parts = zip(("state", "action"), wanted, at, strict=False)
    return "the " + " and ".join(f"{kind} {names[int(place)]!r}" for kind, names, place in parts)


def _advice(table: Table) -> str:
    """Where features may be of steps, how to say so."""
    others = ", ".join(table.columns)
    return f" (the columns are {others}; one called 'action' makes it one row per state and action)"
