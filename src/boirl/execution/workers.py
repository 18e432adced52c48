"""What a search asks of those who carry out its evaluations."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from boirl.execution.jobs import Job, Outcome, carry_out
from boirl.problem import Problem

HERE = "this process"

Watch = Callable[[int, float, str], None]
"""Called with the number of an evaluation, the share of it that is done, and a message."""


def unwatched(number: int, share: float, message: str) -> None:
    """Report to nobody."""


@dataclass(frozen=True)
class Running:
    """A job that is being carried out.

    Attributes:
        job: What.
        worker: By whom.
        began: When, by `time.monotonic`.
    """

    job: Job
    worker: str
    began: float


class Workers(ABC):
    """Carries out jobs, several at a time where there are several workers.

    The caller submits no more jobs than there are idle workers, waits, and forgets a job once its
    outcome is stored.
    """

    def __init__(self) -> None:
        self.watch: Watch = unwatched
        self.running: dict[int, Running] = {}

    @property
    def can_be_one_of_many(self) -> bool:
        """Whether there may ever be more than one job at a time."""
        return True

    @abstractmethod
    def idle(self) -> int:
        """How many jobs could begin now."""

    def has_another_than(self, worker: str | None) -> bool:
        """Whether an idle worker is another one than this; True where that cannot be chosen."""
        return True

    @abstractmethod
    def submit(self, job: Job) -> str:
        """Begin a job, and return the name of the worker."""

    @abstractmethod
    def wait(self, seconds: float) -> list[Outcome]:
        """The outcomes of jobs that have ended, as soon as there is one or time is up."""

    def drain(self) -> list[Outcome]:
        """The outcomes of jobs that have ended by now."""
        return self.wait(0.0)

    def forget(self, job: Job) -> None:  # noqa: B027
        """The outcome of a job is stored."""

    def close(self) -> None:  # noqa: B027
        """End everything that runs."""

    def _begin(self, job: Job, worker: str) -> str:
        self.running[job.number] = Running(job, worker, time.monotonic())
        return worker


class Here(Workers):
    """This process, one job at a time; waiting is working."""

    def __init__(self, problem: Problem[Any]) -> None:
        super().__init__()
        self._problem = problem

    @property
    def can_be_one_of_many(self) -> bool:
        return False

    def idle(self) -> int:
        return 1 - len(self.running)

    def submit(self, job: Job) -> str:
        return self._begin(job, HERE)

    def drain(self) -> list[Outcome]:
        return []

    def wait(self, seconds: float) -> list[Outcome]:
        if not self.running:
            time.sleep(seconds)
            return []
        (running,) = self.running.values()
        number = running.job.number

        def report(share: float, message: str) -> None:
            self.watch(number, share, message)

        outcome = carry_out(self._problem, running.job, report, HERE)
        del self.running[number]
        return [outcome]
