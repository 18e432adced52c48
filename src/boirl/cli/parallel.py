"""Options of `boirl run` that say who evaluates, and what is said when it is interrupted."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boirl.cli.app import errors
from boirl.errors import InvalidInputError, StorageError
from boirl.extras import missing_reported
from boirl.interrupts import Terminated, remembered_interrupts

if TYPE_CHECKING:
    from boirl.search import Study

Workers = Annotated[
    int | None,
    typer.Option(
        help="Processes of this machine that evaluate, one theta each at a time.",
        show_default="this process alone",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        help="Dask scheduler whose workers evaluate, such as tcp://host:8786.",
        show_default="none",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        help="Seconds that an evaluation may take before its process is ended.",
        show_default="no limit",
    ),
]
Retries = Annotated[
    int,
    typer.Option(
        help="Further attempts, elsewhere, at an evaluation that raised an error, ended without a "
        "number, took too long or lost its process."
    ),
]
PARALLEL_OPTIONS = ("workers", "cluster", "timeout", "retries")


@contextmanager
def executor_at(cluster: str | None, workers: int | None) -> Iterator[Any]:
    """A client of the Dask scheduler at an address; None where none is named."""
    if cluster is None:
        yield None
        return
    if workers is not None:
        raise InvalidInputError(
            "--workers starts processes on this machine, and --cluster uses those of a cluster; "
            "leave one of them out"
        )
    with missing_reported("--cluster"):
        from boirl.execution.cluster import connect
    client = connect(cluster)
    try:
        yield client
    finally:
        client.close()


@contextmanager
def kept_if_it_ends_early(search: Study, storage: str | None, out: Path | None) -> Iterator[None]:
    """Whatever ends a search early, keep what it has found and say how to go on.

    An interrupt ends the command, an error is raised again.
    """
    with remembered_interrupts():
        try:
            yield
        except KeyboardInterrupt as error:
            raise _interrupted(search, storage, out, error) from None
        except Exception:
            if storage is None and any(trial.value is not None for trial in search.trials):
                _say_where(search, storage, out, "ended by an error")
            raise


def _interrupted(
    search: Study, storage: str | None, out: Path | None, error: KeyboardInterrupt
) -> typer.Exit:
    """Say what was kept and how to go on; returns what ends the command."""
    code = 143 if isinstance(error, Terminated) else 130
    with search.database.without_patience():
        try:
            _say_where(search, storage, out, "interrupted")
        except StorageError as away:
            said = f"interrupted; resume with: {resume_command()}; {away}"
            errors.print(said, style="red", markup=False)
            return typer.Exit(code)
        if out is not None and any(one.ok for one in search.evaluations):
            # Last, as it takes longest: whoever ends this process may not wait for it.
            search.result().save(out / "rewards.npz")
            errors.print(f"the rewards so far are in {out / 'rewards.npz'}", markup=False)
    return typer.Exit(code)


def _say_where(search: Study, storage: str | None, out: Path | None, what: str) -> None:
    """Say where evaluations are, those in memory after they were written to a database."""
    from boirl.search.copies import keep_interrupted

    done = len(search.trials)
    said = [f"{what} after {done} evaluations"]
    if storage is None and done:
        said.append(f"they are in {(kept := keep_interrupted(search, out))}")
        said.append(f"resume with: {resume_command('--storage', kept)}")
    elif storage is not None:
        said.append(f"resume with: {resume_command()}")
    errors.print("; ".join(said), style="red", markup=False)


def resume_command(*further: str) -> str:
    """The command that was given, with further arguments and without passwords."""
    from boirl.search.passwords import hide_password

    given = [hide_password(one) if "://" in one else one for one in sys.argv[1:]]
    return shlex.join(["boirl", *given, *further])
