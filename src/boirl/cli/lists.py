"""What there is: problems, methods and data sets."""

from __future__ import annotations

import inspect
from typing import Annotated

import typer
from rich.table import Table

from boirl.cli.app import app, console, notes
from boirl.cli.loading import AsJson, Quiet, print_json


@app.command()
def problems(as_json: AsJson = False) -> None:
    """List the problems that come with boirl."""
    from boirl.problem import PROBLEMS

    if as_json:
        print_json({name: entry.summary for name, entry in sorted(PROBLEMS.items())})
        return
    table = Table("problem", "what it is", box=None, header_style="bold")
    for name, entry in sorted(PROBLEMS.items()):
        table.add_row(name, entry.summary)
    console.print(table)


@app.command()
def methods(as_json: AsJson = False) -> None:
    """List the methods that `boirl run --method` knows beside boirl's own."""
    from boirl.baselines import BASELINES

    if as_json:
        print_json({name: kind.summary for name, kind in BASELINES.items()})
        return
    table = Table("method", "what it is", "settings", box=None, header_style="bold")
    for name, kind in BASELINES.items():
        table.add_row(name, kind.summary, ", ".join(inspect.signature(kind).parameters))
    console.print(table)


@app.command()
def data(
    name: Annotated[
        str, typer.Argument(metavar="DATASET", help="borlange, bus-engines or labyrinth.")
    ],
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Folder or address that the files are in.",
            show_default="look in the cache",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Bring a public data set to the cache, checked; problems then find it without --data.

    The cache is $BOIRL_CACHE or ~/.cache/boirl.

    Example: boirl data borlange --from https://example.org/borlange
    """
    from boirl.datasets import data_folder, fetch

    if source is None:
        console.print(f"{name} is in {data_folder(name)}", markup=False)
        return
    with notes.status("fetching"):
        folder = fetch(name, source, lambda file: notes.print(f"checked: {file}", markup=False))
    console.print(f"{name} is in {folder}", markup=False)
