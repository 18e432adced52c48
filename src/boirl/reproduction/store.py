"""Result files: tidy tables in compressed CSV, and which computation each row came from."""

from __future__ import annotations

import csv
import gzip
import io
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from boirl.errors import StorageError
from boirl.experiments.suite.tables import csv_text
from boirl.experiments.trials import Row
from boirl.files import damage_reported, make_folder, write_bytes

CELLS = "cells"
"""The table of computations: one row per cell, with its settings, versions and seconds."""

PACKAGES = ("boirl", "numpy", "scipy", "torch", "botorch", "optuna")

Tables = dict[str, list[Row]]
"""Rows by the name of their table."""


@dataclass(frozen=True)
class Cell:
    """One computation, the smallest that is kept and not run again.

    Attributes:
        kind: What is computed.
        key: Which one it is: columns of every row it makes.
        settings: Everything else that its rows depend on; with other settings it is run again.
        run: Makes its rows, by table. No two kinds write to one table.
    """

    kind: str
    key: Mapping[str, Any]
    settings: Mapping[str, Any]
    run: Callable[[], Tables]

    @property
    def name(self) -> str:
        """For people, such as `trial gridworld exact rho-rbf 3`."""
        return " ".join(map(str, (self.kind, *self.key.values())))

    @property
    def record(self) -> Row:
        """What identifies it in the table of cells."""
        return {"kind": self.kind, "key": json.dumps(self.key)}


class Store:
    """A folder with one file per table, CSV compressed by gzip.

    A row has the key of its cell and the values; the table `cells` has settings, versions and
    seconds of every cell.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tables: Tables = {}

    def path(self, name: str) -> Path:
        """The file of a table."""
        return self.folder / f"{name}.csv.gz"

    def table(self, name: str) -> list[Row]:
        """All rows of a table; none where there is no such file."""
        if name not in self._tables:
            self._tables[name] = _read(self.path(name))
        return self._tables[name]

    def select(self, name: str, **where: Any) -> list[Row]:
        """The rows of a table whose columns have these values."""
        return [row for row in self.table(name) if where.items() <= row.items()]

    def has(self, cell: Cell) -> bool:
        """Whether a cell is finished, with the same settings."""
        wanted = {**cell.record, "settings": json.dumps(cell.settings)}
        return bool(self.select(CELLS, **wanted))

    def add(self, cell: Cell, tables: Tables, seconds: float) -> None:
        """Keep the rows of a cell in place of those it had; durable when this returns."""
        make_folder(self.folder)
        for name, rows in tables.items():
            others = [row for row in self.table(name) if not cell.key.items() <= row.items()]
            self._write(name, others + [{**cell.key, **row} for row in rows])
        # Last: a cell whose rows were not all written is run again.
        others = [row for row in self.table(CELLS) if not cell.record.items() <= row.items()]
        settings = {"settings": json.dumps(cell.settings), "seconds": round(seconds, 2)}
        self._write(CELLS, [*others, {**cell.record, **settings, **versions()}])

    def _write(self, name: str, rows: list[Row]) -> None:
        # Whichever cell was finished first, the file is the same.
        columns = list(rows[0]) if rows else []
        keyed = sorted(rows, key=lambda row: [_order(row.get(one)) for one in columns[:6]])
        self._tables[name] = keyed
        # Without a time in its header, equal rows make equal files.
        write_bytes(self.path(name), gzip.compress(csv_text(keyed).encode(), mtime=0))


def versions() -> Row:
    """Of Python and of the packages that results may depend on."""
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def rounded(value: float, digits: int = 6) -> float:
    """A number with so many significant digits, for large tables."""
    return float(f"{value:.{digits}g}")


def _order(value: Any) -> tuple[bool, Any]:
    """Numbers before words."""
    return (True, str(value)) if isinstance(value, str) or value is None else (False, value)


def _read(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with damage_reported(path, "a table of results"):
        texts = list(csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode())))
        if any(None in text for text in texts):
            raise StorageError(
                f"{str(path)!r} has lines longer than its heading; it is damaged: move it away to "
                "run its cells again"
            )
        rows = [{name: _value(text) for name, text in row.items()} for row in texts]
    return rows


def _value(text: str | None) -> Any:
    """What a field holds: nothing, a truth value, a number or text."""
    if not text:
        return None
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def column(rows: Sequence[Row], name: str) -> list[Any]:
    """One column of rows."""
    return [row[name] for row in rows]
