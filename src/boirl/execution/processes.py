"""Workers that are processes of this machine, which the search starts, watches and replaces.

They are forked where that is possible: nothing has to be pickled, and a script needs no main guard.
A worker runs on one thread, leaves Ctrl-C to its parent, and ends when its parent does.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

import torch
from threadpoolctl import threadpool_limits

from boirl.errors import InvalidInputError
from boirl.execution.jobs import Job, Outcome, carry_out, reason_of, too_slow
from boirl.execution.shipping import Parcel, open_parcel, pack
from boirl.execution.workers import Workers
from boirl.problem import Problem
from boirl.problem.workers import can_fork, describe_death

PARENT_CHECKS = 1.0
"""Seconds between two looks of a worker at whether its parent is still there."""

REPORTS_APART = 0.1
"""Seconds between two reports of progress, of which there may be thousands."""


@dataclass(eq=False)
class _Process:
    """One worker, as its parent sees it."""

    name: str
    process: Any
    connection: Connection
    number: int | None = None


class ProcessWorkers(Workers):
    """So many processes of this machine.

    Args:
        problem: What to evaluate.
        n: How many.
        timeout: Seconds after which an evaluation is ended, and its process with it.
        method: How processes start: `"fork"`, or `"spawn"`, for which scripts need a main guard.
    """

    def __init__(
        self,
        problem: Problem[Any],
        n: int,
        timeout: float | None = None,
        method: str | None = None,
    ) -> None:
        super().__init__()
        if n < 1:
            raise InvalidInputError(f"workers is {n}; expected at least 1")
        self._method = method or ("fork" if can_fork() else "spawn")
        self._problem = problem if self._method == "fork" else pack(problem)
        self._timeout = timeout
        self._processes = [self._start(f"worker {number}") for number in range(n)]

    @property
    def can_be_one_of_many(self) -> bool:
        return len(self._processes) > 1

    def idle(self) -> int:
        return sum(one.number is None for one in self._processes)

    def has_another_than(self, worker: str | None) -> bool:
        return any(one.number is None and one.name != worker for one in self._processes)

    def submit(self, job: Job) -> str:
        free = [one for one in self._processes if one.number is None]
        chosen = next((one for one in free if one.name != job.avoid), free[0])
        if not chosen.process.is_alive():
            # Somebody killed it while it had nothing to do: the evaluation is not to blame.
            self._replace(chosen)
        chosen.number = job.number
        with suppress(OSError):
            # Where it has died in the meantime, `wait` notices.
            chosen.connection.send(job)
        return self._begin(job, chosen.name)

    def wait(self, seconds: float) -> list[Outcome]:
        busy = {one.connection: one for one in self._processes if one.number is not None}
        limits = [one.began for one in self.running.values()]
        if self._timeout is not None and limits:
            until_limit = min(limits) + self._timeout - time.monotonic()
            seconds = max(0.0, min(seconds, until_limit))
        if not busy:
            time.sleep(seconds)
            return []
        outcomes = []
        for ready in wait(list(busy), seconds):
            assert isinstance(ready, Connection)
            outcome = self._receive(busy[ready])
            if outcome is not None:
                outcomes.append(outcome)
        return outcomes + self._end_slow_ones()

    def _receive(self, worker: _Process) -> Outcome | None:
        """What a worker says: that it is done (or dead), or how far it is (None)."""
        assert worker.number is not None
        running = self.running[worker.number]
        try:
            message = worker.connection.recv()
            while not isinstance(message, Outcome) and worker.connection.poll():
                self.watch(worker.number, *message)
                message = worker.connection.recv()
        except (EOFError, OSError):
            worker.process.join()
            reason = describe_death(worker.process.exitcode, "of the evaluation")
            self._replace(worker)
            message = Outcome(running.job, worker.name, fault=reason)
        if not isinstance(message, Outcome):
            self.watch(worker.number, *message)
            return None
        if message.job != running.job:
            # Whatever an evaluation has started may still hold its end of the connection.
            return None
        del self.running[worker.number]
        worker.number = None
        return message

    def _end_slow_ones(self) -> list[Outcome]:
        outcomes = []
        for worker in self._processes:
            running = None if worker.number is None else self.running[worker.number]
            if running is None or self._timeout is None:
                continue
            if time.monotonic() - running.began >= self._timeout:
                self._replace(worker)
                worker.number = None
                del self.running[running.job.number]
                fault = too_slow(self._timeout)
                outcomes.append(Outcome(running.job, worker.name, fault=fault))
        return outcomes

    def close(self) -> None:
        for worker in self._processes:
            self._end(worker)
        self._processes = []

    def _replace(self, worker: _Process) -> None:
        """Put a new process in the place of one that died, or that is to."""
        self._end(worker)
        new = self._start(worker.name)
        worker.process, worker.connection = new.process, new.connection

    def _end(self, worker: _Process) -> None:
        if os.name == "posix" and worker.process.pid:
            # The worker leads a group of its own, with whatever it has started.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(worker.process.pid, signal.SIGKILL)
        worker.process.kill()
        worker.process.join()
        worker.connection.close()

    def _start(self, name: str) -> _Process:
        here, there = multiprocessing.Pipe()
        context: Any = multiprocessing.get_context(self._method)
        process = context.Process(
            target=_work, args=(self._problem, there, name, os.getpid()), daemon=True
        )
        with warnings.catch_warnings():
            # Newer versions of Python warn of threads in the parent; workers touch none of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        there.close()
        return _Process(name, process, here)


def _work(given: Problem[Any] | Parcel, connection: Connection, name: str, parent: int) -> None:
    """The life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if os.name == "posix":
        os.setpgid(0, 0)
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    torch.set_num_threads(1)
    threadpool_limits(1)
    problem = open_parcel(given) if isinstance(given, Parcel) else given
    assert problem is not None
    last = 0.0

    def report(share: float, message: str) -> None:
        nonlocal last
        if time.monotonic() - last >= REPORTS_APART:
            last = time.monotonic()
            connection.send((share, message))

    while True:
        try:
            job = connection.recv()
        except (EOFError, OSError):
            return
        outcome = carry_out(problem, job, report, name)
        try:
            connection.send(outcome)
        except (TypeError, AttributeError, ValueError) as error:
            # What cannot be pickled.
            connection.send(Outcome(job, name, fault=reason_of(error)))


def _end_with(parent: int) -> None:
    """End this process when its parent is gone, whatever it is at."""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECKS)
    with suppress(OSError):
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)
