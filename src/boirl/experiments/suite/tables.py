"""Lines of the suite's summary, and tables in files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from boirl.experiments.trials import Row
from boirl.files import write_bytes

NO_WORSE = 0.01
"""Total variation by which an answer may be farther away than PyVBMC's and count as no worse: about
the noise of one measurement."""

NUMBERS = (
    "tolerances",
    "variation",
    "noise",
    "excess",
    "coverage_box",
    "coverage_posterior",
    "seconds",
    "used",
)


def summarise(rows: Sequence[Row], everything: Sequence[Row] = ()) -> Row:
    """The line of one method, from its rows; `everything` holds those of PyVBMC, if any."""
    done = [row for row in rows if row["error"] is None]
    numbers = {name: [row[name] for row in done if row[name] is not None] for name in NUMBERS}
    line: Row = {
        "method": rows[0]["method"],
        "problems": len(rows),
        "errors": len(rows) - len(done),
        "unmixed_references": sum(row["reference_r_hat"] >= 1.01 for row in done),
    }
    for name, values in numbers.items():
        worst = min if name.startswith("coverage") else max
        line[f"{name}_mean"] = float(np.mean(values)) if values else None
        line[f"{name}_worst"] = float(worst(values)) if values else None
    distances = np.array(numbers["tolerances"])
    line["within_tenth"] = float((distances <= 0.1).mean()) if len(distances) else None
    line["within_one"] = float((distances <= 1.0).mean()) if len(distances) else None
    excluding = [row for row in done if row["excluded"]]
    line["excluding"] = len(excluding)
    line["excluding_unwarned"] = sum(not row["health"] for row in excluding)
    line["no_worse_than_pyvbmc"] = _no_worse(done, everything)
    return line


def _no_worse(rows: Sequence[Row], everything: Sequence[Row]) -> float | None:
    """Share of the problems that PyVBMC has measures of in which a method is no farther away."""
    peers = {
        (row["problem"], row["seed"]): row["variation"]
        for row in everything
        if row["method"] == "pyvbmc" and row["error"] is None
    }
    pairs = [
        row["variation"] <= peers[row["problem"], row["seed"]] + NO_WORSE
        for row in rows
        if row["variation"] is not None and (row["problem"], row["seed"]) in peers
    ]
    return float(np.mean(pairs)) if pairs else None


def csv_text(rows: Sequence[Row]) -> str:
    """A table in CSV; columns are the union of those of all rows, lists are joined."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    table = csv.DictWriter(text, columns, lineterminator="\n")
    table.writeheader()
    for row in rows:
        table.writerow(
            {
                name: "; ".join(map(str, value)) if isinstance(value, list) else value
                for name, value in row.items()
            }
        )
    return text.getvalue()


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write a table, see `csv_text`."""
    write_bytes(path, csv_text(rows).encode())


def _show(name: str, form: str) -> Callable[[Row], str]:
    return lambda row: "-" if row[name] is None else format(row[name], form)


def _mean_and_worst(name: str, form: str) -> Callable[[Row], str]:
    mean, worst = _show(f"{name}_mean", form), _show(f"{name}_worst", form)
    return lambda row: "-" if row[f"{name}_mean"] is None else f"{mean(row)} ({worst(row)})"


COLUMNS: dict[str, Callable[[Row], str]] = {
    "method": lambda row: row["method"],
    "n": lambda row: f"{row['problems']}" + (f" -{row['errors']}" if row["errors"] else ""),
    "evals": _show("used_mean", ".0f"),
    "<0.1": _show("within_tenth", ".0%"),
    "<1": _show("within_one", ".0%"),
    "TV": _mean_and_worst("excess", ".3f"),
    "box": _mean_and_worst("coverage_box", ".0%"),
    "posterior": _mean_and_worst("coverage_posterior", ".0%"),
    "excl.": lambda row: f"{row['excluding']}/{row['excluding_unwarned']}",
    "VBMC": _show("no_worse_than_pyvbmc", ".0%"),
    "s": _show("seconds_mean", ".1f"),
}
"""Headings are short, so that a line fits a terminal; docs/suite.md says what they mean."""
