"""Anything with `submit` carries out evaluations."""

import threading
import time
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.execution.executors import ExecutorWorkers, WorkersGoneError
from tests.execution.conftest import job, outcomes_of

pytest.importorskip("cloudpickle")


def test_jobs_are_carried_out_at_the_same_time(problem, monkeypatch):
    together = threading.Barrier(3, timeout=10)
    evaluate = type(problem).evaluate

    def meet(self, *given):
        together.wait()
        return evaluate(self, *given)

    monkeypatch.setattr(type(problem), "evaluate", meet)
    with ThreadPoolExecutor(3) as executor:
        workers = ExecutorWorkers(problem, executor)
        found = outcomes_of(workers, [job(n, n / 8) for n in range(6)])
    assert all(one.fault is None for one in found.values())


class Remote:
    """An executor whose workers know nothing of each other."""

    def __init__(self, n):
        self.workers: list[set[str]] = [set() for _ in range(n)]
        self.sent: list[bool] = []
        self.rng = np.random.default_rng(0)

    def submit(self, function, parcel, one):
        self.sent.append(parcel.content is not None)
        known = self.workers[self.rng.integers(len(self.workers))]
        future: Future = Future()
        if parcel.content is None and parcel.name not in known:
            future.set_result(None)
        else:
            known.add(parcel.name)
            future.set_result(function(parcel, one))
        return future


def test_the_problem_travels_once_for_each_worker(problem):
    remote = Remote(3)
    workers = ExecutorWorkers(problem, remote, n=2)
    outcomes_of(workers, [job(n) for n in range(40)])
    assert all(remote.sent[:2])
    # A worker that lacks it asks for it; once all have it, only its name travels.
    assert not any(remote.sent[20:])


def test_a_job_that_takes_too_long_is_given_up(misbehaving):
    with ThreadPoolExecutor(2) as executor:
        workers = ExecutorWorkers(misbehaving, executor, timeout=0.3)
        release = threading.Event()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(time, "sleep", lambda _: release.wait(20))
            found = outcomes_of(workers, [job(0, -1.75), job(1, 0.5), job(2, 0.5)])
            assert "time limit" in found[0].fault
            assert found[2].fault is None
            assert workers.idle() == 1
            outcomes_of(workers, [job(3, -1.75)])
            with pytest.raises(WorkersGoneError, match="all 2 workers of the executor are stuck"):
                workers.idle()
            release.set()


def test_an_executor_that_breaks_is_reported(problem):
    class Broken:
        def submit(self, *given):
            raise BrokenExecutor("a child process terminated abruptly")

    workers = ExecutorWorkers(problem, Broken(), n=1)
    with pytest.raises(WorkersGoneError, match=r"abruptly.*what was finished before is kept"):
        workers.submit(job())


def test_how_many_jobs_an_executor_takes_must_be_known(problem):
    with pytest.raises(InvalidInputError, match="a Remote does not say how many"):
        ExecutorWorkers(problem, Remote(1))
    with pytest.raises(InvalidInputError, match="workers is 0"):
        ExecutorWorkers(problem, Remote(1), n=0)
