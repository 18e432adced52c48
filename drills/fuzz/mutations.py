"""Ways to damage bytes, text, JSON, arrays and databases, each drawn from a generator."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from boirl.files import read_arrays

T = TypeVar("T")
Arrays = dict[str, NDArray[Any]]

VALUES: list[Any] = [None, -1, 0, 2**70, 1e308, float("nan"), "", "x", [], {}, [1], True, 1e200]
CELLS = (
    "",
    "x",
    "-1",
    "0",
    "nan",
    "inf",
    "1e308",
    "1e200",
    "0.5",
    "2000000000",
    "9223372036854775807",
    "9223372036854775808",
    "1" * 400,
    "\u0661",
    "1_0",
    '"',
)
"""What somebody may have typed in place of a number; link numbers that once took all memory."""


def pick(rng: np.random.Generator, values: Sequence[T]) -> T:
    return values[int(rng.integers(len(values)))]


def mutated_bytes(rng: np.random.Generator, content: bytes) -> bytes:
    """A few other bytes, a piece that is missing or repeated, or an end that is missing."""
    changed = bytearray(content)
    if not changed:
        return bytes(rng.integers(256, size=8, dtype=np.uint8))
    kind = rng.random()
    if kind < 0.2:
        return bytes(changed[: rng.integers(len(changed))])
    if kind < 0.35:
        first, last = sorted(rng.integers(len(changed), size=2).tolist())
        piece = changed[first:last]
        return bytes(changed[:first] + (piece + piece if kind < 0.275 else b"") + changed[last:])
    for place in rng.integers(len(changed), size=rng.integers(1, 6)).tolist():
        changed[place] = int(rng.integers(256))
    return bytes(changed)


def mutated_text(rng: np.random.Generator, text: str, separator: str | None) -> str:
    """A table of text with another cell, or with a line that is missing, repeated or cut."""
    lines = text.splitlines()
    place = int(rng.integers(len(lines)))
    kind = rng.random()
    if kind < 0.7:
        for _ in range(int(rng.integers(1, 4))):
            place = int(rng.integers(len(lines)))
            cells = lines[place].split(separator)
            if cells:
                column = int(rng.integers(len(cells)))
                cells[column] = pick(rng, CELLS)
                lines[place] = (separator or " ").join(cells)
    elif kind < 0.8:
        del lines[place]
    elif kind < 0.9:
        lines.insert(int(rng.integers(len(lines) + 1)), lines[place])
    else:
        lines[place] = lines[place][: int(rng.integers(len(lines[place]) + 1))]
    return "\n".join(lines) + "\n"


def mutated_facts(rng: np.random.Generator, value: Any) -> Any:
    """JSON in which one value was removed or replaced, anywhere in the tree."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key, copy = pick(rng, list(value)), dict(value)
        if rng.random() < 0.15:
            del copy[key]
        else:
            copy[key] = mutated_facts(rng, copy[key])
        return copy
    if isinstance(value, list) and value and rng.random() < 0.7:
        place, items = int(rng.integers(len(value))), list(value)
        items[place] = mutated_facts(rng, items[place])
        return items
    return pick(rng, VALUES)


def mutated_array(rng: np.random.Generator, array: NDArray[Any]) -> NDArray[Any]:
    """Another shape, type or value."""
    if array.dtype.kind == "U" and array.ndim == 0:
        try:
            facts = json.loads(str(array))
        except ValueError:
            return np.array("x")
        return np.array(json.dumps(mutated_facts(rng, facts)))
    changed = array.copy().reshape(-1)
    if changed.size and changed.dtype.kind in "iuf":
        large = (
            1e200
            if changed.dtype == np.float64
            else 1e30
            if changed.dtype.kind == "f"
            else np.iinfo(changed.dtype).max
        )
        value: Any = pick(rng, (10**6, 2, large, 0 if changed.dtype.kind == "u" else -1))
        changed[rng.integers(changed.size)] = value
    choices = [
        lambda: array[..., None],
        lambda: array.reshape(-1),
        lambda: array[: len(array) // 2] if array.ndim else array[None],
        lambda: np.full(array.shape, -7),
        lambda: np.full(array.shape, np.nan),
        lambda: array.astype("U8"),
        lambda: array.astype(complex) if array.dtype.kind in "biuf" else array[None],
        lambda: np.empty((0, *array.shape[1:])),
        lambda: changed.reshape(array.shape),
        lambda: changed.reshape(array.shape),
    ]
    return pick(rng, choices)()


def mutated_archive(rng: np.random.Generator, path: Path, facts: str | None = None) -> bytes:
    """An `.npz` file with other bytes, or another array; `facts` names one that holds JSON."""
    if rng.random() < 0.3:
        return mutated_bytes(rng, path.read_bytes())
    arrays = read_arrays(path, "anything")
    name = facts if facts in arrays and rng.random() < 0.4 else pick(rng, list(arrays))
    assert name is not None
    if rng.random() < 0.1:
        del arrays[name]
    else:
        arrays[name] = mutated_array(rng, arrays[name])
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def mutate_database(rng: np.random.Generator, path: Path) -> None:
    """Other bytes in an SQLite file, or other rows of its tables."""
    if rng.random() < 0.25:
        path.write_bytes(mutated_bytes(rng, path.read_bytes()))
        return
    connection = sqlite3.connect(path)
    try:
        for _ in range(int(rng.integers(1, 3))):
            _mutate_table(rng, connection)
        connection.commit()
    except sqlite3.Error:
        # A damage that the database itself does not allow is none.
        connection.rollback()
    finally:
        connection.close()


def _mutate_table(rng: np.random.Generator, connection: sqlite3.Connection) -> None:
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    table = str(pick(rng, names)[0])
    if rng.random() < 0.03:
        connection.execute(f'DROP TABLE "{table}"')
        return
    rows = [row[0] for row in connection.execute(f'SELECT rowid FROM "{table}"')]
    if not rows:
        return
    row = pick(rng, rows)
    if rng.random() < 0.2:
        connection.execute(f'DELETE FROM "{table}" WHERE rowid = ?', (row,))
        return
    columns = [one[1] for one in connection.execute(f'PRAGMA table_info("{table}")')]
    column = str(pick(rng, columns))
    (old,) = connection.execute(
        f'SELECT "{column}" FROM "{table}" WHERE rowid = ?', (row,)
    ).fetchone()
    connection.execute(
        f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (_other(rng, old), row)
    )


def _other(rng: np.random.Generator, old: Any) -> Any:
    """Another value for a cell of a database."""
    if isinstance(old, str) and rng.random() < 0.7:
        try:
            return json.dumps(mutated_facts(rng, json.loads(old)))
        except ValueError:
            pass
    value = pick(rng, [None, -1, 0, 2**63 - 1, 1e200, float("nan"), "", "x", "RUNNING", "FAIL"])
    return value
