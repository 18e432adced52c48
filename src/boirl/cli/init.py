"""`boirl init`: a problem of one's own to start from."""

from __future__ import annotations

from enum import StrEnum
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import typer

from boirl.cli.app import app, console
from boirl.errors import InvalidInputError


class Starter(StrEnum):
    """The folders in `boirl/starters`."""

    TABULAR = "tabular"
    CSV = "csv"
    ROADS = "roads"
    GYMNASIUM = "gymnasium"


@app.command()
def init(
    kind: Annotated[
        Starter,
        typer.Argument(
            metavar="KIND",
            help="tabular: states and actions in arrays; csv: the same in CSV files; roads: a "
            "network and trips in CSV files; gymnasium: a simulator, and recordings from Minari.",
        ),
    ],
    folder: Annotated[Path, typer.Option("--out", help="Folder to write into.")] = Path("."),
) -> None:
    """Write a problem of your own to start from: problem.py, with comments, and its data.

    Example: boirl init csv --out street && boirl run street/problem.py --out results
    """
    from boirl.files import write_bytes

    wanted = dict(_contents(files("boirl") / "starters" / kind.value, folder))
    there = [path for path in wanted if path.exists()]
    if there:
        raise InvalidInputError(
            f"there is a file {str(there[0])!r} already; choose another folder with --out"
        )
    for path, content in wanted.items():
        write_bytes(path, content)
    console.print("written: " + " ".join(map(str, wanted)), markup=False)
    main = folder / "problem.py"
    if folder / "record.py" in wanted:
        console.print(f"next: python {folder / 'record.py'}", markup=False)
    console.print(f"next: boirl run {main} --evaluations 30 --out results", markup=False)


def _contents(source: Traversable, target: Path) -> list[tuple[Path, bytes]]:
    """Every file in a folder of the package, and where it goes."""
    found = []
    for entry in sorted(source.iterdir(), key=lambda one: one.name):
        if entry.is_dir() and entry.name != "__pycache__":
            found += _contents(entry, target / entry.name)
        elif entry.is_file():
            found.append((target / entry.name, entry.read_bytes()))
    return found
