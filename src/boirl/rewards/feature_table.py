"""Features of states in a table with one row per state, such as a CSV file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from boirl.errors import InvalidInputError
from boirl.tables import read_table
from boirl.types import FloatArray


def read_features(source: Any, names: Sequence[str], states: Sequence[str] = ()) -> FloatArray:
    """The columns `names` of a table, `S x p`, in the order of the states.

    Args:
        source: A table with a column `state`, see `boirl.tables`.
        names: Columns to read.
        states: Names of all states in the order of their numbers; empty where the column `state`
            holds numbers.

    Raises:
        InvalidInputError: A column, a state or a number is missing; says which.
    """
    table = read_table(source)
    cells = table.column("state")
    order = list(map(str, states)) or [str(number) for number in range(len(cells))]
    rows: dict[str, int] = {}
    for row, cell in enumerate(cells):
        name = str(cell)
        if name in rows or name not in order:
            found = "stands in the table twice" if name in rows else "is no state of the dynamics"
            expected = f"one row for each of {len(order)} states, such as {order[0]!r}"
            raise InvalidInputError(f"{table.place(row)}: {name!r} {found}; expected {expected}")
        rows[name] = row
    missing = [name for name in order if name not in rows]
    if missing:
        raise InvalidInputError(
            f"{table.title} has no row for the state {missing[0]!r}; expected one for each of "
            f"{len(order)} states"
        )
    places = [rows[name] for name in order]
    columns = [table.numbers(name)[places] for name in names]
    return np.stack(columns, axis=1)
