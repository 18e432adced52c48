"""Monthly records of buses: read from `buses.csv`, checked line by line.

Columns: `group`, `bus`, `month` (1, 2, ... for each bus), `mileage_thousands`, `bin` (miles since
the last replacement in steps of 5,000) and `replaced` (1 where the engine is replaced in this
month). The lines of a bus follow each other.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.types import FloatArray, IntArray

COLUMNS = ("group", "bus", "month", "mileage_thousands", "bin", "replaced")
N_BINS = 90
LARGEST_RISE = 2
"""Bins that a month adds at most: 10,000 to 15,000 miles."""


@dataclass(frozen=True, eq=False)
class BusRecords:
    """What was recorded of each bus in each month, `R` rows, months of a bus one after another.

    Attributes:
        groups: Type of the bus.
        buses: Number of the bus.
        bins: Mileage since the last replacement, in steps of 5,000.
        replaced: 1 where the engine is replaced in this month.
    """

    groups: IntArray
    buses: IntArray
    bins: IntArray
    replaced: IntArray

    def __repr__(self) -> str:
        return (
            f"BusRecords({len(np.unique(self.buses))} buses, {len(self.bins)} months, "
            f"{self.replaced.sum()} replacements)"
        )

    def of_group(self, group: int) -> BusRecords:
        """The records of one group."""
        chosen = self.groups == group
        if not chosen.any():
            known = ", ".join(map(str, np.unique(self.groups)))
            raise InvalidInputError(f"there is no group {group} of buses; expected one of {known}")
        return BusRecords(
            self.groups[chosen], self.buses[chosen], self.bins[chosen], self.replaced[chosen]
        )

    @property
    def increments(self) -> FloatArray:
        """Shares of months after which the bin has risen by 0, 1 and 2.

        After a replacement it rises from 0.
        """
        same = self.buses[1:] == self.buses[:-1]
        rises = (self.bins[1:] - self.bins[:-1] * (1 - self.replaced[:-1]))[same]
        if not rises.size:
            raise InvalidInputError(
                "no bus has two months of records; expected some, to see how mileage rises"
            )
        return np.bincount(rises, minlength=LARGEST_RISE + 1) / len(rises)

    def demonstrations(self) -> Demonstrations:
        """One trajectory per bus: states are bins, action 0 keeps the engine, 1 replaces it."""
        ends = np.flatnonzero(np.diff(self.buses)) + 1
        parts = zip(np.split(self.bins, ends), np.split(self.replaced, ends), strict=True)
        return Demonstrations.from_trajectories(parts)


def read_buses(folder: str | os.PathLike[str]) -> BusRecords:
    """Read `buses.csv` in a folder.

    Raises:
        InvalidInputError: Something is wrong; names file and line, what was found, what was
            expected and how to fix it.
    """
    path = Path(folder) / "buses.csv"
    try:
        lines = list(csv.reader(path.read_text().splitlines()))
    except OSError as error:
        raise InvalidInputError(
            f"{str(path)!r} could not be read ({error.strerror}); expected a folder with "
            "buses.csv: name it with data, or fill the cache with `boirl data bus-engines --from "
            "FOLDER_OR_URL`"
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInputError(f"{path} is not a text file ({error}); expected CSV") from None
    header = tuple(cell.strip() for cell in lines[0]) if lines else ()
    if header != COLUMNS:
        raise InvalidInputError(
            f"{path}, line 1: found the columns {', '.join(header) or 'none'}; expected "
            f"{', '.join(COLUMNS)}: rename or reorder them"
        )
    numbered = [(number, cells) for number, cells in enumerate(lines[1:], 2) if cells]
    if not numbered:
        raise InvalidInputError(f"{path} has no records; expected one line per bus and month")
    rows = np.array([_row(path, number, cells) for number, cells in numbered])
    _check_sequence(path, [number for number, _ in numbered], rows)
    groups, buses, _, _, bins, replaced = rows.T
    return BusRecords(*(column.astype(np.int64) for column in (groups, buses, bins, replaced)))


def _row(path: Path, number: int, cells: list[str]) -> list[float]:
    """The numbers of one line."""
    try:
        values = [float(cell) for cell in cells]
    except ValueError:
        values = []
    if len(values) != len(COLUMNS) or not np.isfinite(values).all():
        raise _wrong(
            path,
            number,
            f"found {','.join(cells)!r}",
            f"{len(COLUMNS)} numbers ({', '.join(COLUMNS)})",
            "complete the line, or leave the bus out",
        )
    named = dict(zip(COLUMNS, values, strict=True))
    for name, value in named.items():
        if name != "mileage_thousands" and value != int(value):
            raise _wrong(path, number, f"{name} is {value:g}", "a whole number", "correct it")
    allowed = {
        "mileage_thousands": (named["mileage_thousands"] >= 0.0, "0 or more", "correct it"),
        "bin": (
            0 <= named["bin"] < N_BINS,
            f"a whole number from 0 to {N_BINS - 1}",
            "count miles since the last replacement, in steps of 5,000",
        ),
        "replaced": (named["replaced"] in (0.0, 1.0), "0 or 1", "write 1 for a replacement"),
    }
    for name, (right, expected, fix) in allowed.items():
        if not right:
            raise _wrong(path, number, f"{name} is {named[name]:g}", expected, fix)
    return values


def _check_sequence(path: Path, numbers: list[int], rows: FloatArray) -> None:
    """Months of a bus are complete and in order, and its mileage goes on from month to month."""
    seen: set[float] = set()
    before: FloatArray | None = None
    for number, row in zip(numbers, rows, strict=True):
        group, bus, month, mileage, now, _ = row
        if before is None or bus != before[1]:
            if bus in seen:
                raise _wrong(
                    path,
                    number,
                    f"bus {bus:g} appears again after other buses",
                    "all lines of a bus one after another",
                    "sort the file by bus and month",
                )
            if month != 1:
                raise _wrong(
                    path,
                    number,
                    f"bus {bus:g} starts with month {month:g}",
                    "month 1",
                    "add the months before, or count months from 1",
                )
            seen.add(bus)
            before = row
            continue
        if group != before[0]:
            raise _wrong(
                path,
                number,
                f"bus {bus:g} is in group {group:g} and was in group {before[0]:g}",
                "one group per bus",
                "give buses of different groups different numbers",
            )
        if month != before[2] + 1:
            raise _wrong(
                path,
                number,
                f"bus {bus:g} has month {month:g} after month {before[2]:g}",
                f"month {before[2] + 1:g}",
                "sort the file, add the missing month or leave the bus out",
            )
        if mileage < before[3]:
            raise _wrong(
                path,
                number,
                f"the mileage of bus {bus:g} falls from {before[3]:g} to {mileage:g}",
                "a mileage that never falls (it is that of the bus, not of the engine)",
                "correct it",
            )
        base = 0.0 if before[5] else before[4]
        if not 0 <= now - base <= LARGEST_RISE:
            after = "a replacement" if before[5] else f"bin {before[4]:g}"
            raise _wrong(
                path,
                number,
                f"bus {bus:g} is in bin {now:g} in the month after {after}",
                f"bin {base:g} to {base + LARGEST_RISE:g}",
                "correct the bin, or mark the replacement in the line before",
            )
        before = row


def _wrong(path: Path, number: int, found: str, expected: str, fix: str) -> InvalidInputError:
    return InvalidInputError(f"{path}, line {number}: {found}; expected {expected}: {fix}")
