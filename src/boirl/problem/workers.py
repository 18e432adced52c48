"""Work in child processes that may die without taking the search with them.

Children are forked: they find everything as it is here, so that environments and rewards need not
be pickled, and a script needs no main guard. A child works on one thread and ignores Ctrl-C, which
is for its parent to handle. Where the platform cannot fork, the work is done here, in turn.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, NamedTuple, TypeVar

import torch

from boirl.errors import BoirlError
from boirl.types import Report

LONGEST_MESSAGE = 200

T = TypeVar("T")

Job = Callable[[Report], T]
"""Takes a function to report progress to, returns what a pipe can carry."""


class Result(NamedTuple, Generic[T]):
    """What a job returned, or why it failed; `died` where its process was killed."""

    value: T | None
    failure: str | None
    died: bool = False


def can_fork() -> bool:
    """Whether children can be forked here."""
    return "fork" in multiprocessing.get_all_start_methods() and os.name == "posix"


def run_jobs(
    jobs: Sequence[Job[T]],
    report: Report,
    workers: int | None = None,
    on_result: Callable[[int, Result[T]], None] = lambda number, result: None,
) -> list[Result[T]]:
    """Run jobs, so many at a time, and return their results in order.

    Args:
        jobs: What to do.
        report: Called with the share done of all jobs, and the latest message.
        workers: Children at a time, by default as many as there are cores; 0 to work here.
        on_result: Called here with the number of a job and its result as soon as it is done.
    """
    at_once = (os.cpu_count() or 1) if workers is None else workers
    shares = [0.0] * len(jobs)

    def report_of(number: int) -> Report:
        def report_share(share: float, message: str) -> None:
            shares[number] = share
            report(sum(shares) / len(jobs), message)

        return report_share

    if at_once < 1 or not can_fork() or multiprocessing.current_process().daemon:
        done = []
        for number, job in enumerate(jobs):
            done.append(_here(job, report_of(number)))
            on_result(number, done[-1])
        return done
    _import_for_children()
    results: dict[int, Result[T]] = {}
    children: dict[Connection, tuple[int, Any]] = {}
    waiting = list(enumerate(jobs))
    try:
        while waiting or children:
            while waiting and len(children) < at_once:
                number, job = waiting.pop(0)
                connection, process = _start(job)
                children[connection] = number, process
            for ready in wait(list(children)):
                assert isinstance(ready, Connection)
                number, process = children[ready]
                try:
                    message = ready.recv()
                except (EOFError, OSError):
                    # Closed, or broken off in the middle of a message.
                    process.join()
                    message = Result(None, describe_death(process.exitcode), died=True)
                if isinstance(message, Result):
                    results[number] = message
                    del children[ready]
                    ready.close()
                    process.join()
                    on_result(number, message)
                else:
                    report_of(number)(*message)
    finally:
        for connection, (_, process) in children.items():
            process.kill()
            process.join()
            connection.close()
    return [results[number] for number in range(len(jobs))]


@cache
def _import_for_children() -> None:
    """Let torch import what its optimisers need, so that no child has to; a second each."""
    weight = torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.Adam([weight], fused=True)
    weight.sum().backward()
    optimiser.step()


def _start(job: Job[T]) -> tuple[Connection, Any]:
    here, there = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_work, args=(job, there), daemon=True)
    with warnings.catch_warnings():
        # Newer versions of Python warn of threads in the parent; children touch none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    there.close()
    return here, process


def _work(job: Job[T], connection: Connection) -> None:
    """The life of a child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    parent = os.getppid()

    def report(share: float, message: str) -> None:
        if os.getppid() != parent:
            os._exit(1)
        connection.send((share, message))

    connection.send(_here(job, report))
    connection.close()


def _here(job: Job[T], report: Report) -> Result[T]:
    try:
        return Result(job(report), None)
    except Exception as error:
        return Result(None, reason_of(error))


def reason_of(error: Exception) -> str:
    """Why training failed, in one line."""
    if isinstance(error, BoirlError):
        return str(error)
    where = traceback.extract_tb(error.__traceback__)[-1]
    message = " ".join(str(error).split())[:LONGEST_MESSAGE]
    place = f"{os.path.basename(where.filename)}, line {where.lineno}"
    return f"training crashed with {type(error).__name__}: {message} ({place})"


def describe_death(code: int | None, what: str = "of the training") -> str:
    """Why a process ended before its time, by its exit code."""
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"the process {what} was killed ({name}); if memory ran out, run fewer at a time"
    return f"the process {what} ended without a result (exit code {code})"
