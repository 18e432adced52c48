"""Workers of a Dask cluster: on one machine, many, or wherever its scheduler finds some.

One job for each worker process at a time, on a worker that has nothing else to do. A worker that
dies is Dask's to replace, and its job moves on to another one. Jobs are published under a name that
follows from all that an evaluation depends on: they outlive a search that is killed or interrupted,
and the next one finds them there, running or finished.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
import uuid
import warnings
from contextlib import suppress
from typing import Any

from distributed import Client, Future, KilledWorker, get_worker

from boirl.errors import BoirlWarning, InvalidInputError
from boirl.execution.executors import WorkersGoneError
from boirl.execution.futures import FutureWorkers
from boirl.execution.jobs import Job, Outcome, carry_out, reason_of
from boirl.execution.shipping import CannotOpenError, Parcel, open_parcel, pack
from boirl.problem import Problem

LOST = ("cancelled", "lost")
"""States of futures that the scheduler no longer knows of."""

REPORTS_APART = 0.5
"""Seconds between two reports of progress of one evaluation."""

LOOKS_APART = 0.2
"""Seconds between two looks at which workers there are."""

CONNECT_SECONDS = 10.0

UNREACHABLE = (OSError, TimeoutError, RuntimeError)
"""What asking a scheduler raises once it has gone: a `RuntimeError` where Dask has closed all
connections already."""

ADDRESS = re.compile(r"(\w+://)?[^\s/]+:\d+|inproc://\S+")
"""Of a scheduler. Dask takes seconds to fail at others, and prints tracebacks afterwards."""

PATIENCE = 20.0
"""Seconds without any worker after which that is said."""


class ClusterWorkers(FutureWorkers):
    """The workers of a Dask cluster.

    Args:
        problem: What to evaluate.
        client: Connected to the scheduler.
        timeout: Seconds that an evaluation may take; its worker is restarted afterwards.
        n: Jobs at a time at most; by default as many as there are workers.
    """

    def __init__(
        self,
        problem: Problem[Any],
        client: Client,
        timeout: float | None = None,
        n: int | None = None,
    ) -> None:
        super().__init__(timeout)
        self._client = client
        self._most = n
        self._fingerprint = problem.fingerprint()
        self._topic = f"boirl-{uuid.uuid4().hex}"
        self._looked = 0.0
        self._idle: list[str] = []
        self._restarting: set[str] = set()
        self._lonely_since: float | None = None
        self._parcel = pack(problem)
        self._problem = self._send_problem()
        self._known = set(client.list_datasets())
        client.subscribe_topic(self._topic, self._on_event)

    def _send_problem(self) -> Future[Any]:
        """The result of a task: a worker fetches it once, and it is made again where it is lost."""
        key = f"boirl-problem-{self._parcel.name}"
        return self._client.submit(_same, self._parcel, key=key, pure=True)

    def idle(self) -> int:
        now = time.monotonic()
        if now - self._looked >= LOOKS_APART:
            self._looked = now
            self._idle = self._look()
        if self._most is not None:
            return max(0, min(len(self._idle), self._most - len(self.running)))
        return len(self._idle)

    def _look(self) -> list[str]:
        """The addresses of workers that have nothing to do."""
        try:
            processing = self._client.processing()
        except UNREACHABLE:
            self._check_scheduler()
            return []
        if processing or self.running:
            self._lonely_since = None
        elif self._lonely_since is None:
            self._lonely_since = time.monotonic()
        elif time.monotonic() - self._lonely_since > PATIENCE:
            self._lonely_since = float("inf")
            warnings.warn(
                f"the cluster at {self._address} has no workers yet; waiting for some",
                BoirlWarning,
                stacklevel=2,
            )
        ours = {one.worker for one in self.running.values()}
        # The problem on its way to a worker does not keep it from anything.
        busy = {address for address, keys in processing.items() if {*keys} - {self._problem.key}}
        return [one for one in processing if one not in busy | ours | self._restarting]

    def has_another_than(self, worker: str | None) -> bool:
        return any(one != worker for one in self._idle)

    def submit(self, job: Job) -> str:
        worker = next((one for one in self._idle if one != job.avoid), self._idle[0])
        self._idle.remove(worker)
        key = self._key(job)
        try:
            future = self._left_behind(key)
            if future is None:
                if self._problem.status in LOST:
                    self._problem = self._send_problem()
                future = self._client.submit(
                    evaluate_on_cluster,
                    self._problem,
                    job,
                    self._topic,
                    key=key,
                    pure=False,
                    workers=[worker],
                    allow_other_workers=True,
                )
                self._client.publish_dataset(future, name=key, override=True)
        except UNREACHABLE as error:
            raise self._gone() from error
        self._await(job, future)
        return self._begin(job, worker)

    def _left_behind(self, key: str) -> Future[Any] | None:
        """What a search that was killed began, running or finished; None where there is nothing."""
        if key not in self._known:
            return None
        self._known.discard(key)
        try:
            return self._client.get_dataset(key)
        except KeyError:
            # Another search that shares the study was quicker.
            return None

    def wait(self, seconds: float) -> list[Outcome]:
        outcomes = []
        for job, future in self._ended(seconds):
            del self.running[job.number]
            outcomes.append(self._outcome(job, future))
        self._looked = 0.0 if outcomes else self._looked
        if not outcomes:
            self._check_scheduler()
        return outcomes + self._end_slow_ones()

    def _outcome(self, job: Job, future: Future[Any]) -> Outcome:
        if future.status in LOST:
            # The scheduler went away, or somebody cancelled it.
            return Outcome(job, "cluster", fault="the cluster dropped it", is_lost=True)
        try:
            outcome: Outcome = future.result()
        except KilledWorker as error:
            reason = f"its workers died, one after the other ({' '.join(str(error).split())[:200]})"
            return Outcome(job, "cluster", fault=reason, is_final=True)
        except CannotOpenError:
            raise
        except Exception as error:
            return Outcome(job, "cluster", fault=reason_of(error))
        return outcome

    def forget(self, job: Job) -> None:
        """Let go of an outcome: Dask would work on it again if its worker died."""
        future = self._futures.pop(job.number, None)
        key = self._key(job)
        with suppress(*UNREACHABLE, KeyError):
            self._client.unpublish_dataset(key)
        self._known.discard(key)
        if future is not None:
            future.release()

    def _end_slow_ones(self) -> list[Outcome]:
        late = self._late()
        for one in late:
            address = self._worker_of(one.job) or one.worker
            del self.running[one.job.number]
            future = self._futures.pop(one.job.number)
            with suppress(*UNREACHABLE, KeyError):
                self._client.unpublish_dataset(self._key(one.job))
            self._client.cancel([future], force=True)
            self._restarting.add(address)
            threading.Thread(target=self._restart, args=(address,), daemon=True).start()
        return [self._too_slow(one) for one in late]

    def _restart(self, address: str) -> None:
        """End the process of a worker; its nanny starts another one, with another address."""
        try:
            self._client.restart_workers([address], timeout=60.0)
        except Exception as error:
            warnings.warn(
                f"the worker at {address} took longer than the time limit, and could not be "
                f"restarted ({' '.join(str(error).split())[:200]}); start workers with their nanny",
                BoirlWarning,
                stacklevel=2,
            )
        else:
            self._restarting.discard(address)

    def _worker_of(self, job: Job) -> str | None:
        """Who works on a job now, which Dask may have moved."""
        try:
            processing = self._client.processing()
        except UNREACHABLE:
            return None
        key = self._key(job)
        return next((address for address, keys in processing.items() if key in keys), None)

    def close(self) -> None:
        """Let go of everything; what still runs is left to the next search. The client is open."""
        with suppress(Exception):
            self._client.unsubscribe_topic(self._topic)
            for future in (*self._futures.values(), self._problem):
                future.release()
        self._futures.clear()

    def _key(self, job: Job) -> str:
        content = f"{self._fingerprint} {job.theta} {job.seed}"
        digest = hashlib.sha256(content.encode()).hexdigest()[:16]
        return f"boirl-{digest}-{job.number}-{job.attempt}"

    def _on_event(self, event: tuple[float, Any]) -> None:
        said = event[1]
        if isinstance(said, dict) and said.get("number") in self.running:
            self.watch(said["number"], said["share"], said["message"])

    @property
    def _address(self) -> str:
        scheduler = self._client.scheduler
        return "?" if scheduler is None else str(scheduler.address)

    def _check_scheduler(self) -> None:
        if self._client.status not in ("running", "connecting", "newly-created"):
            raise self._gone()

    def _gone(self) -> WorkersGoneError:
        return WorkersGoneError(
            f"the scheduler at {self._address} has gone; what was finished before is kept. Start "
            "it again, and run again to resume"
        )


def connect(address: str) -> Client:
    """A client of the scheduler at an address such as `tcp://host:8786`."""
    if not ADDRESS.fullmatch(address):
        raise InvalidInputError(
            f"the address of the cluster is {address!r}; expected that of a Dask scheduler, such "
            "as 'tcp://10.0.0.1:8786'"
        )
    try:
        return Client(address, set_as_default=False, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise WorkersGoneError(
            f"there is no Dask scheduler at {address!r} ({type(error).__name__}); start one with: "
            "dask scheduler, and workers with: dask worker ADDRESS --nthreads 1"
        ) from None


def evaluate_on_cluster(parcel: Parcel, job: Job, topic: str) -> Outcome:
    """Carry out a job on a worker, and tell whoever listens how far it is."""
    problem = open_parcel(parcel)
    assert problem is not None
    worker = get_worker()
    last = 0.0

    def report(share: float, message: str) -> None:
        nonlocal last
        if time.monotonic() - last >= REPORTS_APART:
            last = time.monotonic()
            said = {"number": job.number, "share": share, "message": message}
            worker.log_event(topic, said)

    return carry_out(problem, job, report, worker.address)


def _same(parcel: Parcel) -> Parcel:
    return parcel
