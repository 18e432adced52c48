"""`boirl experiment`: comparisons that write their numbers to files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from boirl.cli.app import app, console, notes
from boirl.cli.loading import AsJson, Data, DemonstrationFile, Quiet, print_json
from boirl.errors import InvalidInputError


@app.command()
def experiment(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="baselines (paper, Table 1), gridworld-efficiency, gridworld-set, "
            "birl-posterior, shaping, many-parameters, borlange-search, borlange-set, "
            "borlange-trips, maze-search, maze-imitation (gail), maze-noise, fetch-search, "
            "fetch-solvers, "
            "bus-engines, labyrinth, federation, objectworld (gp-irl), "
            "taxi-learning (cr-irl), questions, rescoring, constraints, worst-case, mixtures, "
            "look-ahead, batches, high-dimension, suite (problems that nobody tuned for) or "
            "optima (of them).",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the results.")],
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="Seeds 0 to this number less one.", show_default="2 to 10"),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            help="Of the trials, such as 100-119 or 3,7,12; in place of --trials.",
            show_default="100 to 102 for suite",
        ),
    ] = None,
    evaluations: Annotated[
        int | None,
        typer.Option(help="Evaluations of each trial.", show_default="30 to 80"),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="rho-rbf, rbf, matern, random or another of the experiment (may be repeated).",
            show_default="all",
        ),
    ] = None,
    problem: Annotated[
        list[str] | None,
        typer.Option(
            help="Of baselines: gridworld, 'borlange narrow', 'borlange wide', maze or fetch; of "
            "suite and optima: a generator such as mdp-few; of objectworld: distances or "
            "thresholds; of taxi-learning: careful or noisy (may be repeated).",
            show_default="all",
        ),
    ] = None,
    tiny: Annotated[
        bool, typer.Option("--tiny", help="Run it in seconds, to see that it runs.")
    ] = False,
    demonstrations: DemonstrationFile = None,
    data: Data = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a comparison and write its numbers to files; finished trials are kept."""
    from boirl.experiments import find_experiment, run_experiment

    given = {
        "seeds": _seeds(seeds, trials),
        "evaluations": evaluations,
        "methods": method,
        "problems": problem,
        "demonstrations": demonstrations,
        "data": None if data is None else str(data.resolve()),
    }
    options = {key: value for key, value in given.items() if value is not None}
    find_experiment(name, options)
    with Progress(
        TextColumn("trials"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=notes,
    ) as progress:
        task = progress.add_task("trials", total=None)

        def on_trial(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        lines = run_experiment(name, out, options, on_trial, tiny)
    if as_json:
        print_json({"table": lines, "folder": str(out)})
        return
    table = Table(*lines[0], box=None)
    for line in lines:
        table.add_row(*line.values())
    console.print(table)
    notes.print(f"written: {out}", markup=False)


def _seeds(text: str | None, trials: int | None) -> list[int] | None:
    """Numbers and ranges of them, separated by commas; or so many from 0 on."""
    if text is None:
        return None if trials is None else list(range(trials))
    if trials is not None:
        raise InvalidInputError(
            f"--seeds {text} and --trials {trials} both say which seeds to run; give one of them"
        )
    return parse_seeds(text)


def parse_seeds(text: str) -> list[int]:
    """Numbers and ranges of them, separated by commas."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if (
            not first.isdigit()
            or (dash and not last.isdigit())
            or (dash and int(last) < int(first))
        ):
            raise InvalidInputError(
                f"--seeds is {text!r}; expected numbers or ranges such as 100-119 or 3,7,12"
            )
        found.extend(range(int(first), int(last or first) + 1))
    return found
