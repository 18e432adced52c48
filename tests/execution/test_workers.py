"""This process as a worker: waiting is working."""

from boirl.execution import Here
from tests.execution.conftest import job, outcomes_of


def test_one_job_at_a_time(problem):
    workers = Here(problem)
    assert not workers.can_be_one_of_many
    assert workers.idle() == 1
    workers.submit(job(3))
    assert workers.idle() == 0
    assert workers.running[3].worker == "this process"
    (outcome,) = workers.wait(1.0)
    assert outcome.job.number == 3
    assert workers.idle() == 1
    assert workers.wait(0.0) == []


def test_what_is_not_begun_is_not_drained(problem):
    workers = Here(problem)
    workers.submit(job())
    assert workers.drain() == []
    assert list(workers.running) == [0]


def test_progress_is_reported_by_number(misbehaving):
    workers, seen = Here(misbehaving), []
    workers.watch = lambda *said: seen.append(said)
    outcomes_of(workers, [job(1), job(2)])
    assert seen == [(1, 0.5, "half"), (2, 0.5, "half")]
