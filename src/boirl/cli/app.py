"""The application object, and how messages reach the user."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any

import typer
from rich.console import Console

from boirl import __version__
from boirl.cli.thetas import join_thetas
from boirl.errors import BoirlError, BoirlWarning
from boirl.extras import missing_reported

EXIT_CODES = (
    "Exit codes: 0 done, 1 unexpected failure (a traceback), 2 wrong input, 130 interrupted."
)

app = typer.Typer(
    pretty_exceptions_enable=False,
    help="Find all reward functions that explain demonstrations, with few policy optimisations.",
    epilog=EXIT_CODES,
)
errors = Console(stderr=True, soft_wrap=True, highlight=False)
console = Console(soft_wrap=True, highlight=False)
notes = Console(stderr=True, soft_wrap=True, highlight=False)
"""Progress and where files are: what `--quiet` leaves out."""


def be_quiet(quiet: bool) -> bool:
    """Leave out notes where `--quiet` is given, in this command alone."""
    notes.quiet = quiet
    return quiet


def main() -> None:
    """Run the command; an expected error is one line on stderr and exit code 2."""
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    try:
        with missing_reported("this command"):
            app(args=join_thetas(sys.argv[1:]))
    except BoirlError as error:
        errors.print(f"error: {error}", style="red", markup=False)
        sys.exit(2)
    except KeyboardInterrupt:
        errors.print("interrupted", style="red")
        sys.exit(130)


def _show_warning(message: Warning | str, category: type[Warning], *args: Any) -> None:
    """Our own warnings are for the user; those of libraries are for whoever writes boirl."""
    if issubclass(category, BoirlWarning):
        errors.print(f"warning: {message}", style="yellow", markup=False)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        console.print(f"boirl {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        console.print(context.get_help(), markup=False)
