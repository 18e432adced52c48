"""What workers behind futures share, of executors and of clusters."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from typing import Any

from boirl.execution.jobs import Job, Outcome, too_slow
from boirl.execution.workers import Running, Workers


class FutureWorkers(Workers):
    """Workers whose jobs are futures with `add_done_callback`.

    Args:
        timeout: Seconds that a job may take; None for no limit.
    """

    def __init__(self, timeout: float | None) -> None:
        super().__init__()
        self._timeout = timeout
        self._futures: dict[int, Any] = {}
        self._done: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()

    def _await(self, job: Job, future: Any) -> None:
        """Notice when the future of a job has ended."""
        self._futures[job.number] = future
        future.add_done_callback(lambda done: self._done.put((job.number, done)))

    def _ended(self, seconds: float) -> Iterator[tuple[Job, Any]]:
        """Jobs that run and whose futures have ended, as soon as there is one or time is up."""
        pause = seconds
        while True:
            try:
                number, future = self._done.get(timeout=max(pause, 1e-3))
            except queue.Empty:
                return
            pause = 0.0
            # Of a job that was given up, or handed out again, an older future may end later.
            if self._futures.get(number) is future and number in self.running:
                yield self.running[number].job, future

    def _late(self) -> list[Running]:
        """Jobs that have taken longer than they may."""
        if self._timeout is None:
            return []
        now = time.monotonic()
        return [one for one in self.running.values() if now - one.began >= self._timeout]

    def _too_slow(self, one: Running) -> Outcome:
        assert self._timeout is not None
        return Outcome(one.job, one.worker, fault=too_slow(self._timeout))
