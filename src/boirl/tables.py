"""Tables that users give: pandas, polars, Arrow, mappings, lists of rows, and files of any of them.

Whatever the form, a `Table` has columns by name and knows where each row came from, so that errors
can name it. Nothing here imports pandas or polars: their tables are read by what they have in
common.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from boirl.errors import InvalidInputError, StorageError
from boirl.extras import needed
from boirl.files import (
    LIMIT_VARIABLE,
    TooLargeError,
    damage_reported,
    max_bytes,
    read_bounded,
    too_large,
)
from boirl.rows import read_csv

ENDINGS = (".csv", ".jsonl", ".parquet")


@dataclass(frozen=True)
class Table:
    """Columns by name.

    Attributes:
        title: What it is, for messages.
        columns: Lists of cells, all of one length; None where a cell is empty.
        place: Where a row came from, such as `"walks.csv, line 7"`.
    """

    title: str
    columns: Mapping[str, list[Any]]
    place: Callable[[int], str]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def column(self, name: str, argument: str | None = None) -> list[Any]:
        """The cells of a column.

        Args:
            name: Of the column.
            argument: The argument that names another one, for the error where there is none.
        """
        if name in self.columns:
            return self.columns[name]
        close = get_close_matches(name, self.columns, 1)
        advice = f", or pass {argument}={close[0] if close else '...'!r}" if argument else ""
        raise InvalidInputError(
            f"{self.title} has the columns {', '.join(self.columns)}; expected one called "
            f"{name!r}: rename it{advice}"
        )

    def numbers(self, name: str, argument: str | None = None) -> Any:
        """A column of finite numbers, `T`."""
        cells = self.column(name, argument)
        for row, cell in enumerate(cells):
            if isinstance(cell, (str, bytes)) or cell is None or not np.isfinite(cell):
                raise InvalidInputError(
                    f"{self.place(row)}: found {_shown(cell)} in the column {name}; expected a "
                    "finite number"
                )
        return np.array(cells, dtype=np.float64)


def _shown(cell: Any) -> str:
    return "nothing" if cell is None else repr(cell)


def read_table(source: Any) -> Table:
    """A table from whatever holds one."""
    if isinstance(source, (str, os.PathLike)):
        return _read_path(Path(source))
    if isinstance(source, Mapping):
        return _given(source, list(source))
    source = _with_plain_columns(source)
    names = getattr(source, "column_names", None)  # Arrow
    if names is None:
        names = getattr(source, "columns", None)  # pandas, polars
    if names is not None:
        return _given(source, list(names))
    if isinstance(source, Sequence) and all(isinstance(row, Mapping) for row in source):
        return _of_rows(source, "the table", lambda row: f"row {row} of the table")
    raise InvalidInputError(
        f"the table is a {type(source).__name__}; expected a pandas, polars or Arrow table, a "
        "mapping of columns, a list of mappings, or the name of a file"
    )


def _with_plain_columns(source: Any) -> Any:
    """Levels of an index of pandas that have names, and lazy tables of polars, as columns."""
    levels = getattr(getattr(source, "index", None), "names", ())
    if any(name is not None for name in levels):
        return source.reset_index()
    is_lazy = hasattr(source, "collect") and hasattr(source, "collect_schema")
    return source.collect() if is_lazy else source


def _given(source: Any, names: list[Any]) -> Table:
    columns = {str(name): _cells(source[name]) for name in names}
    lengths = {name: len(cells) for name, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInputError(f"the columns have the lengths {lengths}; expected one for all")
    return Table("the table", columns, lambda row: f"row {row} of the table")


def _cells(column: Any) -> list[Any]:
    """A column as a list with None where a cell is empty."""
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow; pandas and polars; NumPy
        if hasattr(column, method):
            return [_cell(one) for one in getattr(column, method)()]
    return [_cell(one) for one in column]


def _cell(value: Any) -> Any:
    empty = value is None or type(value).__name__ in ("NAType", "NaTType")
    if empty or (isinstance(value, float) and np.isnan(value)):
        return None
    return value


def _of_rows(rows: Sequence[Mapping[str, Any]], title: str, place: Callable[[int], str]) -> Table:
    names = dict.fromkeys(str(name) for row in rows for name in row)
    return Table(title, {name: [_cell(row.get(name)) for row in rows] for name in names}, place)


def _read_path(path: Path) -> Table:
    files = _files(path)
    tables = [_readers()[file.suffix](file) for file in files]
    if len(tables) == 1:
        return tables[0]
    return _stacked(str(path), tables)


def _readers() -> dict[str, Callable[[Path], Table]]:
    return {".csv": _read_csv, ".jsonl": _read_json_lines, ".parquet": _read_parquet}


def _files(path: Path) -> list[Path]:
    """The file itself, or all of a folder (of its part `data`, where it has one)."""
    if path.is_dir():
        inner = path / "data" if (path / "data").is_dir() else path
        for ending in ENDINGS[::-1]:
            found = sorted(inner.rglob(f"*{ending}"))
            if found:
                return found
        raise InvalidInputError(
            f"the folder {str(path)!r} holds no table; expected files that end in "
            f"{', '.join(ENDINGS)}"
        )
    if path.suffix not in ENDINGS:
        raise InvalidInputError(
            f"{str(path)!r} ends in {path.suffix or 'nothing'}; expected a table that ends in "
            f"{', '.join(ENDINGS)}, or an .npz file of demonstrations"
        )
    if not path.exists():
        raise InvalidInputError(f"there is no file {str(path)!r}")
    if path.stat().st_size > max_bytes():
        raise StorageError(
            f"{str(path)!r} has more than {max_bytes()} bytes; raise ${LIMIT_VARIABLE} where you "
            "trust it"
        )
    return [path]


def _stacked(title: str, tables: Sequence[Table]) -> Table:
    names = dict.fromkeys(name for table in tables for name in table.columns)
    columns = {
        name: [cell for table in tables for cell in table.columns.get(name, [None] * len(table))]
        for name in names
    }
    places = [(table, row) for table in tables for row in range(len(table))]

    def place(row: int) -> str:
        table, own = places[row]
        return table.place(own)

    return Table(title, columns, place)


def _read_csv(path: Path) -> Table:
    rows = read_csv(path, ())
    columns = {name: _parsed(cells) for name, cells in rows.cells.items()}
    return Table(str(path), columns, lambda row: f"{path}, line {rows.lines[row]}")


def _parsed(cells: Sequence[str]) -> list[Any]:
    """Whole numbers where all cells are, numbers where all are, else text."""
    for kind in (int, float):
        try:
            return [kind(cell) if cell else None for cell in cells]
        except ValueError:
            continue
    return [cell or None for cell in cells]


def _read_json_lines(path: Path) -> Table:
    rows: list[Mapping[str, Any]] = []
    lines: list[int] = []
    for number, text in _json_lines(path):
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(f"{path}, line {number}: found no JSON ({error})") from None
        if not isinstance(row, Mapping):
            raise InvalidInputError(
                f"{path}, line {number}: found a {type(row).__name__}; expected an object per line"
            )
        rows.append(row)
        lines.append(number)
    return _of_rows(rows, str(path), lambda row: f"{path}, line {lines[row]}")


def _json_lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with damage_reported(path, "JSON lines"), path.open("rb") as stream:
            texts = read_bounded(stream, max_bytes()).decode("utf-8-sig").split("\n")
    except TooLargeError as error:
        raise too_large(str(path), max_bytes(), str(error)) from None
    yield from ((number, text) for number, text in enumerate(texts, 1) if text.strip())


def _read_parquet(path: Path) -> Table:
    parquet = needed("pyarrow.parquet", "reading a .parquet file")
    with damage_reported(path, "a Parquet file"):
        read = parquet.read_table(path)
        columns = {name: _cells(read[name]) for name in read.column_names}
    return Table(str(path), columns, lambda row: f"{path}, row {row}")
