"""Arguments that several commands share, and what they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn

from boirl.cli.app import console, errors
from boirl.errors import InvalidInputError

Name = Annotated[str, typer.Argument(metavar="PROBLEM", help="One of `boirl problems`.")]
Bellman = Annotated[
    str | None,
    typer.Option(help="Bellman operator: max, boltzmann or logsumexp.", show_default="max"),
]
Data = Annotated[
    Path | None,
    typer.Option(
        help="Folder with the data of a problem that needs some.", show_default="the cache"
    ),
]
BoxName = Annotated[
    str | None,
    typer.Option(help="Box of rewards on road networks: narrow or wide.", show_default="wide"),
]
DemonstrationFile = Annotated[
    Path | None,
    typer.Option(
        help="An .npz file with arrays states and actions (N x L) to explain, in place of the "
        "problem's own demonstrations."
    ),
]
ExactPictures = Annotated[
    bool,
    typer.Option(
        "--exact",
        help="Draw the exact NLL beside the predicted one, which solves thousands of policies.",
    ),
]


def load(name: str, demonstrations: Path | None, **options: Any) -> Any:
    """The problem of a command; options that were not given are left out."""
    from boirl.demonstrations import Demonstrations
    from boirl.problem import load_problem

    given = {key: value for key, value in options.items() if value is not None}
    if "data" in given:
        given["data"] = str(given["data"].resolve())
    with LearningBar("learning to demonstrate") as report:
        problem = load_problem(name, report, **given)
    if demonstrations is not None:
        problem = problem.with_demonstrations(Demonstrations.load(demonstrations))
    return problem


class LearningBar(Progress):
    """A bar that appears with the first report, for what is learned before a search."""

    def __init__(self, title: str) -> None:
        columns = (TextColumn(title), BarColumn(), TextColumn("{task.fields[message]}"))
        super().__init__(*columns, console=errors, transient=True)
        self._task = self.add_task(title, total=1.0, message="", visible=False)

    def __enter__(self) -> Any:
        return self.report

    def __exit__(self, *raised: Any) -> None:
        # To stop a bar prints a line even where nothing was shown.
        if self.live.is_started:
            super().__exit__(*raised)

    def report(self, share: float, message: str) -> None:
        self.start()
        self.update(self._task, completed=share, message=message, visible=True)


def parse_initial(given: list[str] | None) -> Any:
    """A design by name, or thetas to start from."""
    from boirl.search.initial import DESIGNS

    if not given:
        return "sobol"
    if len(given) == 1 and given[0] in DESIGNS:
        return given[0]
    return [parse_theta(text) for text in given]


def parse_theta(text: str) -> list[float]:
    """The numbers of a theta that is written with commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInputError(
            f"theta is {text!r}; expected numbers with commas between, such as 1.25,5,0"
        ) from None


def draw(found: Any, folder: Path, exact: bool = False) -> None:
    """Write all pictures of a result and say where they are."""
    from boirl.drawing import save_pictures

    with errors.status("drawing"):
        paths = save_pictures(found, folder, exact)
    console.print("pictures: " + " ".join(map(str, paths)), markup=False)
