"""Futures that end, end late, or end twice."""

from concurrent.futures import Future
from typing import Any

from boirl.execution.futures import FutureWorkers
from tests.execution.conftest import job


class Waiting(FutureWorkers):
    """Workers whose futures are ended by hand."""

    def idle(self):
        return 1

    def submit(self, job):
        future: Any = Future()
        self._await(job, future)
        return self._begin(job, "me")

    def wait(self, seconds):
        return []


def test_jobs_come_back_when_their_futures_end():
    workers = Waiting(None)
    for number in range(3):
        workers.submit(job(number))
    assert list(workers._ended(0.0)) == []
    for number in (2, 0):
        workers._futures[number].set_result(None)
    assert [one.number for one, _ in workers._ended(0.0)] == [2, 0]
    assert workers._late() == []


def test_the_future_of_a_job_that_was_given_up_is_not_noticed():
    workers = Waiting(0.0)
    workers.submit(job(0))
    given_up = workers._futures[0]
    assert [one.job.number for one in workers._late()] == [0]
    workers.submit(job(0, attempt=1))
    given_up.set_result(None)
    assert list(workers._ended(0.0)) == []
