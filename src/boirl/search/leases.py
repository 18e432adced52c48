"""Who is at work on an evaluation, and until when that is believed without another sign of life.

A process that takes up an evaluation leases it: the trial names the owner and a deadline, by the
clock of the database where that is a server. While the evaluation runs, a thread puts the deadline
off. A lease that has run out is free for anybody; the database decides who gets it. Where the owner
is a process of this machine, one that has ended is noticed at once. Should two processes evaluate
one theta after all, because one was stopped and came back, the first to report it counts.
"""

from __future__ import annotations

import math
import os
import socket
import threading
import uuid
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary, ref

from optuna.trial import FrozenTrial

from boirl.search.database import StudyDatabase

LEASE = "boirl:lease"
LEASE_SECONDS = 60.0
"""How long an owner is believed to be at work after its last sign of life."""

RENEWALS = 4
"""Signs of life in that time."""

DEAD_STATES = ("Z", "X")
"""Of processes that have ended, while their parents have not noticed."""


@dataclass(frozen=True)
class Lease:
    """A claim to one evaluation.

    Attributes:
        owner: Of one study object in one process.
        name: For people: machine and process.
        place: Where the number of the process means something; empty where that is unknown.
        pid: Number of the process.
        started: When the process began, which distinguishes it from later ones of that number.
        deadline: When the lease runs out; 0 once it was given back.
        deaths: Owners that vanished while they evaluated the theta.
    """

    owner: str
    name: str
    place: str
    pid: int
    started: str
    deadline: float
    deaths: int = 0

    @classmethod
    def of(cls, trial: FrozenTrial) -> Lease | None:
        """That of a trial; None where it has none, as if it was made by Optuna alone."""
        stored = trial.user_attrs.get(LEASE)
        try:
            lease = None if stored is None else cls(**stored)
        except TypeError:
            return None
        return lease if lease is None or lease._is_whole else None

    @property
    def _is_whole(self) -> bool:
        """Whether every part is what it should be; a database may be damaged."""
        texts = (self.owner, self.name, self.place, self.started)
        return (
            all(isinstance(one, str) for one in texts)
            and isinstance(self.pid, int)
            and isinstance(self.deaths, int)
            and isinstance(self.deadline, int | float)
            and math.isfinite(self.deadline)
        )

    def record(self) -> dict[str, Any]:
        """As it is stored."""
        return dict(vars(self))

    @property
    def is_released(self) -> bool:
        return self.deadline == 0.0

    @property
    def is_here(self) -> bool:
        """Whether the owner is a process that can be looked for from here."""
        return bool(self.place) and self.place == place()

    @property
    def is_of_dead_process(self) -> bool:
        """Whether the owner has certainly gone; False where that cannot be told from here."""
        if not self.is_here:
            return False
        if self.pid == os.getpid() and self.started == start_time(self.pid):
            return self.owner not in _LIVE
        return start_time(self.pid) != self.started


class Leases:
    """The evaluations that one study object is at work on.

    Args:
        database: Of the study.
        seconds: How long a lease lasts.
    """

    def __init__(self, database: StudyDatabase, seconds: float = LEASE_SECONDS) -> None:
        self._database = database
        self.seconds = seconds
        self.owner = uuid.uuid4().hex
        self._held: dict[int, Lease] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._is_renewing = False
        _LIVE[self.owner] = self

    def new(self, deaths: int = 0) -> Lease:
        """A lease from now on, not yet of any evaluation."""
        pid = os.getpid()
        return Lease(
            self.owner,
            f"{socket.gethostname()}:{pid}",
            place(),
            pid,
            _own_start_time(pid),
            self._database.now() + self.seconds,
            deaths,
        )

    def hold(self, trial_id: int, lease: Lease) -> None:
        """Renew the lease of an evaluation from now on."""
        with self._lock:
            self._held[trial_id] = lease
            if not self._is_renewing and self._database.is_shared:
                self._is_renewing = True
                thread = threading.Thread(
                    target=_renew_until,
                    args=(ref(self), self._stop, self.seconds / RENEWALS),
                    name="boirl-leases",
                    daemon=True,
                )
                thread.start()

    def take_over(self, trial: FrozenTrial) -> bool:
        """Lease an abandoned evaluation; False where another process was quicker."""
        old = Lease.of(trial)
        deaths = 0 if old is None else old.deaths
        died = old is not None and not old.is_released and bool(trial.params)
        lease = self.new(deaths + died)
        stored = trial.user_attrs.get(LEASE)
        if not self._database.replace(trial._trial_id, LEASE, stored, lease.record()):
            return False
        self.hold(trial._trial_id, lease)
        return True

    def deaths(self, trial_id: int) -> int:
        """Owners that vanished while they evaluated a theta that is leased now."""
        return self._held[trial_id].deaths

    @property
    def held(self) -> tuple[int, ...]:
        """Ids of the trials whose leases are renewed."""
        with self._lock:
            return tuple(self._held)

    def give_back(self, trial_id: int, died: bool = False) -> None:
        """Let anybody take up an evaluation at once.

        Args:
            trial_id: Of the evaluation.
            died: Whether its process died, so that it may be the reason.
        """
        lease = self.drop(trial_id)
        if lease is not None:
            self._store(trial_id, replace(lease, deadline=0.0, deaths=lease.deaths + died))

    def drop(self, trial_id: int) -> Lease | None:
        """Renew the lease of an evaluation no longer."""
        with self._lock:
            return self._held.pop(trial_id, None)

    def renew(self) -> None:
        """Put off the deadlines of all leases held."""
        with self._lock:
            held = dict(self._held)
        if not held:
            return
        deadline = self._database.now() + self.seconds
        for trial_id, lease in held.items():
            # The lock is not held meanwhile: a database may take minutes to answer.
            if self._store(trial_id, replace(lease, deadline=deadline)):
                continue
            # Somebody took it over, or it has been reported or given back.
            with self._lock:
                if self._held.get(trial_id) is lease:
                    del self._held[trial_id]

    def _store(self, trial_id: int, lease: Lease) -> bool:
        """Write a lease of this owner; False where it is no longer its, or was given back."""

        def changed(stored: Any) -> dict[str, Any] | None:
            is_own = isinstance(stored, dict) and stored.get("owner") == self.owner
            was_given_back = is_own and stored.get("deadline") == 0.0
            return lease.record() if is_own and not was_given_back else None

        return self._database.change(trial_id, LEASE, changed)

    def __del__(self) -> None:
        self._stop.set()


def is_free(trial: FrozenTrial, now: float) -> bool:
    """Whether a running trial may be taken over.

    One without a lease was made by Optuna alone, and belongs to whoever made it.
    """
    lease = Lease.of(trial)
    if lease is None:
        return False
    return lease.deadline < now or lease.is_of_dead_process


@cache
def place() -> str:
    """Identifies the numbers of processes here: this start of the machine, and the namespace.

    Containers may share a hostname, and a machine that was restarted has other processes. Empty
    where the system does not tell, so that only deadlines count.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def start_time(pid: int) -> str:
    """Distinguishes two processes with one number; empty where there is none, or a dead one."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in DEAD_STATES else fields[19]


@cache
def _own_start_time(pid: int) -> str:
    return start_time(pid)


def _renew_until(leases: ref[Leases], stop: threading.Event, pause: float) -> None:
    """The life of the thread that renews; it ends with the object whose leases they are."""
    while not stop.wait(pause):
        held = leases()
        if held is None:
            return
        # What is not renewed now may be the next time; else the lease runs out, as it should.
        with suppress(Exception):
            held.renew()
        del held


_LIVE: WeakValueDictionary[str, Leases] = WeakValueDictionary()
"""Those of this process, by their owner."""
