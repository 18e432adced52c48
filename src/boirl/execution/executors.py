"""Workers behind an executor of anybody's: whatever has `submit` and returns futures."""

from __future__ import annotations

import os
import socket
from concurrent.futures import BrokenExecutor, CancelledError
from typing import Any, Protocol, cast

from boirl.errors import BoirlError, InvalidInputError
from boirl.execution.futures import FutureWorkers
from boirl.execution.jobs import Job, Outcome, carry_out, reason_of
from boirl.execution.shipping import Parcel, open_parcel, pack
from boirl.problem import Problem
from boirl.types import silent


class Executor(Protocol):
    """As in `concurrent.futures`; futures have `add_done_callback`, `result` and `cancel`."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any: ...


class WorkersGoneError(BoirlError, RuntimeError):
    """Nobody is left to carry out evaluations."""


class BrokenWorkersError(WorkersGoneError):
    """One of the evaluations that ran may have been what ended the workers."""


class ExecutorWorkers(FutureWorkers):
    """The workers of an executor.

    A job that takes too long is given up, but nobody except the executor can end it: its worker
    counts as busy until it does end.

    Args:
        problem: What to evaluate.
        executor: For instance a `ProcessPoolExecutor`.
        n: How many jobs it carries out at a time; by default what it says itself.
        timeout: Seconds after which an evaluation is given up.
    """

    def __init__(
        self,
        problem: Problem[Any],
        executor: Executor,
        n: int | None = None,
        timeout: float | None = None,
    ) -> None:
        super().__init__(timeout)
        said = getattr(executor, "_max_workers", None)
        if n is None and not isinstance(said, int):
            raise InvalidInputError(
                f"a {type(executor).__name__} does not say how many jobs it carries out at a time; "
                "pass workers=..."
            )
        if n is not None and n < 1:
            raise InvalidInputError(f"workers is {n}; expected at least 1")
        self._n: int = n or cast(int, said)
        self._executor = executor
        self._parcel = pack(problem)
        self._stuck: list[Any] = []
        self._sent = 0

    @property
    def can_be_one_of_many(self) -> bool:
        return self._n > 1

    def idle(self) -> int:
        self._stuck = [future for future in self._stuck if not future.done()]
        if self._n == len(self._stuck):
            raise WorkersGoneError(
                f"all {self._n} workers of the executor are stuck in evaluations that took longer "
                "than the time limit; what was finished before is kept. Run again with "
                "workers=..., which ends such processes"
            )
        return self._n - len(self.running) - len(self._stuck)

    def submit(self, job: Job) -> str:
        # The content travels with the first jobs, one for each worker; later by its name alone.
        self._sent += 1
        self._send(job, self._parcel if self._sent <= self._n else self._parcel.name_alone)
        return self._begin(job, "executor")

    def _send(self, job: Job, parcel: Parcel) -> None:
        try:
            future = self._executor.submit(evaluate_shipped, parcel, job)
        except (BrokenExecutor, RuntimeError) as error:
            raise self._broken(error) from error
        self._await(job, future)

    def wait(self, seconds: float) -> list[Outcome]:
        outcomes = []
        for job, future in self._ended(seconds):
            outcome = self._outcome(job, future)
            if outcome is not None:
                outcomes.append(outcome)
                del self._futures[job.number], self.running[job.number]
        return outcomes + self._give_slow_ones_up()

    def _outcome(self, job: Job, future: Any) -> Outcome | None:
        try:
            outcome: Outcome | None = future.result()
        except (BrokenExecutor, CancelledError) as error:
            raise self._broken(error) from error
        except Exception as error:
            return Outcome(job, "executor", fault=reason_of(error))
        if outcome is None:
            # A worker that has never seen the problem.
            self._send(job, self._parcel)
        return outcome

    def _give_slow_ones_up(self) -> list[Outcome]:
        late = self._late()
        for one in late:
            future = self._futures.pop(one.job.number)
            del self.running[one.job.number]
            if not future.cancel():
                self._stuck.append(future)
        return [self._too_slow(one) for one in late]

    def close(self) -> None:
        for future in self._futures.values():
            future.cancel()

    def _broken(self, error: BaseException) -> WorkersGoneError:
        return BrokenWorkersError(
            f"the executor no longer works ({type(error).__name__}: {error}); what was finished "
            "before is kept. Run again with a new one, or with workers=..., which replaces "
            "processes that die"
        )


def evaluate_shipped(parcel: Parcel, job: Job) -> Outcome | None:
    """Carry out a job on a worker; None where the problem has not come there yet."""
    problem = open_parcel(parcel)
    if problem is None:
        return None
    return carry_out(problem, job, silent, f"{socket.gethostname()}:{os.getpid()}")
