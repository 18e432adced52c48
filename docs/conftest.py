"""Runs the code of the documentation, page by page: `make docs-test`.

Pages on public data run where a variable names the folder that holds them. The other programs that
pages show are those of `examples/` and of `boirl init`, which the tests run.
"""

import csv
import math
import os
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl
from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser
from sybil.sybil import SybilCollection

mpl.use("Agg")

HERE = os.getcwd()

GENERAL = ["tutorial", "decisions", "guides/*", "concepts/*"]
GENERAL += [
    "baselines",
    "demonstrations",
    "federation",
    "notebooks",
    "parallel",
    "set",
    "suite",
    "tables",
    "trust",
]
ON_DATA = {
    "bus_engines": "BOIRL_BUS_ENGINES",
    "estimates": "BOIRL_BORLANGE",
    "labyrinth": "BOIRL_LABYRINTH",
}
"""The variable that names the folder of the data, by page."""

Prepare = Callable[[Path], None]


def enter_folder(names: dict[str, Any], prepare: Prepare | None = None) -> None:
    """A page that writes files writes them into a folder of its own."""
    names["_folder"] = TemporaryDirectory()
    folder = Path(names["_folder"].name)
    if prepare is not None:
        prepare(folder)
    os.chdir(folder)


def leave_folder(names: dict[str, Any]) -> None:
    os.chdir(HERE)
    names["_folder"].cleanup()


def make_town(folder: Path) -> None:
    """The town of `boirl init roads`, with what else the page of roads speaks of."""
    source, town = files("boirl") / "starters" / "roads" / "town", folder / "my-town"
    town.mkdir()
    for name in ("links", "turns", "destinations", "trips"):
        rows = list(csv.DictReader((source / f"{name}.csv").read_text().splitlines()))
        for number, row in enumerate(rows):
            if name == "links":
                row["length"] = str(1 + number % 3)
            elif name == "turns":
                row["angle"] = str(math.radians(float(row["angle"])))
                row["lights"] = str(number % 2)
            elif name == "trips":
                row["traveller"] = str(int(row["trip"]) % 5)
        with (town / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def link_to(data: str) -> Prepare:
    return lambda folder: (folder / "FOLDER").symlink_to(Path(HERE, data).resolve())


def pages(*names: str, prepare: Prepare | None = None) -> Sybil:
    return Sybil(
        parsers=[PythonCodeBlockParser()],
        patterns=[f"{name}.md" for name in names],
        setup=lambda names: enter_folder(names, prepare),
        teardown=leave_folder,
    )


given = {page: os.environ.get(variable) for page, variable in ON_DATA.items()}
pytest_collect_file = SybilCollection(
    [
        pages(*GENERAL),
        pages("roads", prepare=make_town),
        *(pages(page, prepare=link_to(data)) for page, data in given.items() if data),
    ]
).pytest()
