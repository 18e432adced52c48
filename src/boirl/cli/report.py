"""`boirl report`: everything that an answer says, in one HTML file."""

from __future__ import annotations

import webbrowser
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from boirl.cli.app import app, console, notes
from boirl.cli.loading import (
    Bellman,
    BoxName,
    Data,
    DemonstrationFile,
    Quiet,
    load,
    told_where_code_goes,
)
from boirl.errors import InvalidInputError, StorageError

REPORT_FILE = "report.html"


@app.command()
def report(
    source: Annotated[
        str,
        typer.Argument(
            metavar="STUDY_OR_RESULT",
            help="A result (rewards.npz, or the folder it is in) or a study (search.db, or its "
            "address).",
        ),
    ],
    other: Annotated[
        str | None, typer.Argument(metavar="[OTHER]", help="Another one to show beside it.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The .html file to write.", show_default="report.html beside the result"),
    ] = None,
    open_it: Annotated[
        bool, typer.Option("--open/--no-open", help="Open it in the browser.")
    ] = True,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Serve it on this machine while a search runs, until interrupted."
        ),
    ] = False,
    port: Annotated[
        int | None, typer.Option(help="Of --live.", show_default="any that is free")
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="Name of the study, where a database holds several.")
    ] = None,
    problem: Annotated[
        str | None,
        typer.Option(help="The problem, where neither file nor study knows it."),
    ] = None,
    bellman: Bellman = None,
    demonstrations: DemonstrationFile = None,
    data: Data = None,
    box: BoxName = None,
    quiet: Quiet = False,
) -> None:
    """Write a report with everything that a search or a baseline found: one file, offline.

    Example: boirl report results, or boirl report sqlite:///search.db --live
    """
    from boirl.report.live import LiveReport
    from boirl.report.page import vega_bundle, write_report
    from boirl.report.sources import open_source

    vega_bundle()
    options = {"bellman": bellman, "data": data, "box": box}
    if problem is None and (demonstrations is not None or any(options.values())):
        raise InvalidInputError(
            "--bellman, --demonstrations, --data and --box belong to --problem; name one"
        )
    if port is not None and not live:
        raise InvalidInputError("--port belongs to --live; leave it out, or serve with --live")
    if live and out is not None:
        raise InvalidInputError("--live serves the report and writes no file; leave --out out")
    build = None if problem is None else partial(load, problem, demonstrations, **options)
    given = [source] if other is None else [source, other]
    sources = [open_source(one, study, build) for one in given]
    if live:
        try:
            served = LiveReport(sources, port or 0)
        except OSError as error:
            raise StorageError(
                f"port {port} cannot be used ({error.strerror}); choose another --port"
            ) from None
        with served:
            console.print(f"report: {served.address} (interrupt to end)", markup=False)
            if open_it:
                webbrowser.open(served.address)
            served.wait()
        return
    target = _target(source) if out is None else out
    if target.suffix not in (".html", ".htm"):
        raise InvalidInputError(f"--out is {str(target)!r}; expected a name that ends in .html")
    with notes.status("making the report"), told_where_code_goes():
        path = write_report([one.result() for one in sources], target)
    console.print(f"report: {path}", markup=False)
    if open_it and not webbrowser.open(path.resolve().as_uri()):
        notes.print("no browser was found; open the file yourself", markup=False)


def _target(source: str) -> Path:
    """Beside the result, or beside the database."""
    place = source.partition(":///")[2] if "://" in source else source
    if not place:
        return Path(REPORT_FILE)
    path = Path(place)
    return (path if path.is_dir() else path.parent) / REPORT_FILE
