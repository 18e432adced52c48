"""Arguments that several commands share, and what they stand for."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn

from boirl.cli.app import be_quiet, notes
from boirl.errors import InvalidInputError

RESULT = ".npz"


def _complete_name(typed: str) -> list[str]:
    """Names of problems and files for a shell to complete."""
    from boirl.problem import PROBLEMS

    files = [path.name for ending in ("*.py", "*.npz") for path in sorted(Path().glob(ending))]
    return [name for name in (*PROBLEMS, *files) if name.startswith(typed)]


Name = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM",
        help="One of `boirl problems`; your own, as problem.py, problem.py:name or module:name; or "
        "a result (.npz) whose problem it is.",
        autocompletion=_complete_name,
    ),
]
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
        help="A file of demonstrations to explain in place of the problem's own: .npz with arrays "
        "states and actions (N x L), or a table of steps (.csv, .jsonl, .parquet) with the columns "
        "episode, step, state and action."
    ),
]
ResultFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A rewards.npz that `boirl run --out` wrote, or its folder."
    ),
]
Seed = Annotated[int, typer.Option(help="Of everything random.")]
Policies = Annotated[
    int | None,
    typer.Option(
        help="Samples of the posterior to solve for; 0 for the policies that the search kept.",
        show_default="64 where that is quick, else 0",
    ),
]
ProblemOfResult = Annotated[
    str | None,
    typer.Option(
        "--problem",
        help="The problem of a result that is computed by code, as problem.py:name or module:name.",
        show_default="in the file",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", help="Print the result and errors alone, no progress.", callback=be_quiet
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print numbers as JSON, not a table.")]
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

    given = {key: value for key, value in options.items() if value is not None}
    if "data" in given:
        given["data"] = str(given["data"].resolve())
    # What a file of the user's own prints is no part of the answer.
    with redirect_stdout(sys.stderr):
        problem = _find(name, given)
    if demonstrations is not None:
        problem = problem.with_demonstrations(Demonstrations.load(demonstrations))
    return problem


def _find(name: str, options: dict[str, Any]) -> Any:
    """A problem by name, from a source of the user's own, or the one that a result carries."""
    from boirl.problem import PROBLEMS, load_problem
    from boirl.problem.sources import is_source, load_source

    if is_source(name):
        return load_source(name, **options)
    if is_result(name):
        from boirl.results import load_result

        refuse_options(name, options)
        with told_where_code_goes("name the problem in its place, as problem.py:name"):
            return load_result(name).problem
    if name not in PROBLEMS:
        raise InvalidInputError(
            f"there is no problem {name!r}; expected one of {', '.join(PROBLEMS)}, your own: "
            "problem.py, problem.py:name or module:name (boirl init writes one to start from), or "
            "the folder of a result that `boirl run --out` wrote"
        )
    with LearningBar("learning to demonstrate") as report:
        return load_problem(name, report, **options)


def is_result(name: str) -> bool:
    """Whether a name is that of a result's file or folder; problems go before folders."""
    from boirl.problem import PROBLEMS
    from boirl.results import RESULT_FILE

    path = Path(name)
    return path.suffix == RESULT or (name not in PROBLEMS and (path / RESULT_FILE).exists())


def refuse_options(name: str, options: Mapping[str, Any]) -> None:
    """Options of problems by name mean nothing for a result, which carries its problem."""
    given = [option for option, value in options.items() if value is not None]
    if given:
        raise InvalidInputError(
            f"--{given[0]} belongs to problems by name; {name} carries its own: leave it out"
        )


def open_result(path: Path, problem: str | None = None) -> Any:
    """The result in a file.

    Args:
        path: That `boirl run --out` wrote.
        problem: The problem, where a file cannot carry it; a name, or a source of the user's own.
    """
    from boirl.results import load_result

    given = None if problem is None else load(problem, None)
    with told_where_code_goes():
        return load_result(path, given)


@contextmanager
def told_where_code_goes(hint: str = "--problem problem.py:name") -> Iterator[None]:
    """An error that a file needs the code of its problem says how a command is given that."""
    from boirl.errors import CodeNeededError

    try:
        yield
    except CodeNeededError as error:
        raise CodeNeededError(f"{error} (on the command line: {hint})") from error


def open_rewards(path: Path, problem: str | None = None) -> Any:
    """The answer of a search in a file; see `open_result`."""
    from boirl.results import RewardSet

    found = open_result(path, problem)
    if not isinstance(found, RewardSet):
        raise InvalidInputError(
            f"{str(path)!r} holds the result of the method {found.title}, which has no posterior "
            "over rewards; expected that of a search: boirl run without --method"
        )
    return found


def print_json(facts: Mapping[str, Any]) -> None:
    """Numbers for other programs, and nothing else, on the standard output."""
    typer.echo(json.dumps(facts, indent=2, allow_nan=False))


class LearningBar(Progress):
    """A bar that appears with the first report, for what is learned before a search."""

    def __init__(self, title: str) -> None:
        columns = (TextColumn(title), BarColumn(), TextColumn("{task.fields[message]}"))
        super().__init__(*columns, console=notes, transient=True)
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


def draw(found: Any, folder: Path, exact: bool = False) -> list[Path]:
    """Write all pictures of a result, say where they are, and return their paths."""
    from boirl.drawing import save_pictures

    with notes.status("drawing"):
        paths = list(save_pictures(found, folder, exact))
    notes.print("pictures: " + " ".join(map(str, paths)), markup=False)
    return paths
