"""Rows of text files with the line each stands on, so that errors can name it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boirl.errors import InvalidInputError
from boirl.files import TooLargeError, max_bytes, read_bounded, too_large
from boirl.types import FloatArray, IntArray

LARGEST = 2**63 - 1
EXACT = 2.0**53
"""Whole numbers below this are exact in float64."""

SEPARATORS = (",", ";", "\t")
"""Of cells, in the order in which they are looked for."""


@dataclass(frozen=True)
class Rows:
    """Cells of a file by column.

    Attributes:
        path: Of the file.
        lines: The line that each row stands on.
        cells: Of each column, by its name.
    """

    path: Path
    lines: Sequence[int]
    cells: dict[str, list[str]]

    def __len__(self) -> int:
        return len(self.lines)

    def fail(self, row: int, problem: str) -> InvalidInputError:
        return InvalidInputError(f"{self.path}, line {self.lines[row]}: {problem}")

    def whole(self, column: str) -> IntArray:
        """Whole numbers from 0 on, exact up to 2**63 - 1."""
        numbers = [_whole(cell) for cell in self.cells[column]]
        wrong = next((row for row, number in enumerate(numbers) if number is None), None)
        if wrong is not None:
            raise self.fail(
                wrong,
                f"found {self.cells[column][wrong] or 'nothing'} in the column {column}; expected "
                f"a whole number from 0 to {LARGEST}",
            )
        return np.array(numbers, dtype=np.int64)

    def numbers(self, column: str) -> FloatArray:
        """Finite numbers."""
        cells = self.cells[column]
        try:
            values = np.array(cells, dtype=np.float64)
        except ValueError:
            values = np.array([_number(cell) for cell in cells])
        wrong = np.flatnonzero(~np.isfinite(values))
        if wrong.size:
            raise self.fail(
                int(wrong[0]),
                f"found {cells[wrong[0]] or 'nothing'} in the column {column}; expected a finite "
                "number: correct it, or remove the column",
            )
        return values

    def is_label(self, column: str) -> bool:
        """Whether no cell of a column is a number."""
        return all(np.isnan(_number(cell)) for cell in self.cells[column])


def _whole(cell: str) -> int | None:
    try:
        number = int(cell)
    except ValueError:
        value = _number(cell)
        if not (0 <= value < EXACT and value == round(value)):
            return None
        number = int(value)
    return number if 0 <= number <= LARGEST else None


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def read_text(path: Path, columns: Sequence[str]) -> Rows:
    """Rows of numbers between blanks, as many as there are names of columns."""
    rows = [(number, line.split()) for number, line in enumerate(_lines(path), 1) if line.strip()]
    for number, cells in rows:
        if len(cells) != len(columns) or any(np.isnan(_number(cell)) for cell in cells):
            raise InvalidInputError(
                f"{path}, line {number}: found {' '.join(cells)!r}; expected {len(columns)} "
                f"numbers ({', '.join(columns)})"
            )
    return _rows(path, columns, rows)


def read_csv(path: Path, required: Sequence[str]) -> Rows:
    """All named columns of a file with a header, which must name some.

    Cells are separated by commas or, where the header has none, by semicolons or tabs.
    """
    lines = _lines(path)
    reader = csv.reader(lines, delimiter=_separator(lines))
    try:
        return _read_csv(path, reader, required)
    except csv.Error as error:
        raise InvalidInputError(
            f"{path}, line {reader.line_num}: {error}; expected cells with commas between"
        ) from None


def _read_csv(path: Path, reader: Any, required: Sequence[str]) -> Rows:
    """The rows that a reader yields, under its first one."""
    header = [cell.strip() for cell in next(reader, [])]
    missing = [column for column in required if column not in header]
    if missing:
        raise InvalidInputError(
            f"{path}, line 1: found the columns {', '.join(header)}; expected {', '.join(required)}"
        )
    repeated = next((name for name in header if name and header.count(name) > 1), None)
    if repeated is not None:
        raise InvalidInputError(
            f"{path}, line 1: found the column {repeated} twice; expected each name once: rename "
            "or remove one"
        )
    rows = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if any(cells)]
    for number, cells in rows:
        if len(cells) != len(header):
            raise InvalidInputError(
                f"{path}, line {number}: found {len(cells)} cells; expected {len(header)}, as many "
                "as columns"
            )
    return _rows(path, header, rows)


def _separator(lines: Sequence[str]) -> str:
    """What separates the cells of a file, by its header."""
    header = lines[0] if lines else ""
    return next((one for one in SEPARATORS if one in header), SEPARATORS[0])


def _rows(path: Path, columns: Sequence[str], rows: list[tuple[int, list[str]]]) -> Rows:
    if not rows:
        expected = f"rows of {len(columns)} cells" if columns else "a header and rows"
        raise InvalidInputError(f"{path} is empty; expected {expected}")
    by_column = zip(columns, zip(*(cells for _, cells in rows), strict=True), strict=True)
    # Columns without a name, as those of row numbers that some programs write, are left out.
    cells = {name: list(values) for name, values in by_column if name}
    return Rows(path, [number for number, _ in rows], cells)


def _lines(path: Path) -> list[str]:
    """The lines of a file in UTF-8, with or without a byte-order mark."""
    try:
        with path.open("rb") as stream:
            content = read_bounded(stream, max_bytes())
        return content.decode("utf-8-sig").splitlines()
    except TooLargeError as error:
        raise too_large(str(path), max_bytes(), str(error)) from None
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {str(path)!r}") from None
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{path} is not a text file in UTF-8 ({error}); save it as such"
        ) from None
    except OSError as error:
        raise InvalidInputError(
            f"{str(path)!r} could not be read ({error.strerror}); expected a text file"
        ) from None
