"""`boirl reproduce`: the tables and figures of the paper, by its numbering."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from boirl.cli.app import app, console, errors
from boirl.cli.experiment import parse_seeds
from boirl.cli.loading import Data
from boirl.errors import InvalidInputError

PAGE = "page"


@app.command()
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="table1, figure1 to figure11, video, all; or page, to write the page of results.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for result files and figures.")] = Path(
        "reproduction"
    ),
    quick: Annotated[
        bool, typer.Option("--quick", help="Run small versions, to see that everything runs.")
    ] = False,
    draw: Annotated[
        bool, typer.Option("--draw", help="Draw again from the result files; compute nothing.")
    ] = False,
    seeds: Annotated[
        str | None,
        typer.Option(
            help="Of trials, such as 0-19 or 3,7.",
            show_default="of Table 1: 0-9 by the paper's protocol, 0-49 by the exact one",
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = 1,
    environment: Annotated[
        list[str] | None,
        typer.Option(
            help="gridworld, 'borlange wide', 'borlange narrow', 'borlange real', maze or fetch "
            "(may be repeated).",
            show_default="all",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="A row of Table 1 (may be repeated).", show_default="all"),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(help="Of Table 1: paper or exact.", show_default="both"),
    ] = None,
    page: Annotated[Path, typer.Option(help="Where 'page' writes.")] = Path("docs/reproduction.md"),
    data: Data = None,
) -> None:
    """Reproduce a table or figure of the paper; finished cells are kept."""
    from boirl.reproduction.methods import chosen_methods
    from boirl.reproduction.page import write_page
    from boirl.reproduction.plan import Plan
    from boirl.reproduction.run import chosen_items, lines_of, redraw
    from boirl.reproduction.run import reproduce as run

    if name == PAGE:
        console.print(f"written: {write_page(out, page)}", markup=False)
        return
    items = chosen_items(name)
    if draw and (quick or seeds or environment or method or protocol):
        raise InvalidInputError(
            "--draw draws whatever the folder holds; leave out --quick, --seeds, --environment, "
            "--method and --protocol"
        )
    if not draw:
        plan = Plan(
            quick,
            None if seeds is None else tuple(parse_seeds(seeds)),
            None if environment is None else tuple(environment),
            None if method is None else tuple(method),
            None if protocol is None else tuple(protocol),
            None if data is None else str(data.resolve()),
        )
        chosen_methods(method)
        with Progress(
            TextColumn("cells"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=errors,
        ) as progress:
            task = progress.add_task("cells", total=None)
            run(
                items,
                out,
                plan,
                workers,
                lambda done, total: progress.update(task, completed=done, total=total),
            )
    written = redraw(items, out)
    if len(items) == 1 and not written:
        console.print("\n".join(lines_of(list(items.values()), out)), markup=False)
    for path in written:
        console.print(f"written: {path}", markup=False)
    console.print(f"results: {out}", markup=False)
