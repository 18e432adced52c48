"""A Dask cluster: workers die, hang and come back, and so do searches."""

import time

import pytest

from boirl.execution.executors import WorkersGoneError
from tests.execution.conftest import job, outcomes_of

pytest.importorskip("distributed")

from distributed import Client, KilledWorker, LocalCluster

from boirl.errors import InvalidInputError
from boirl.execution import Outcome, cluster, make_workers
from boirl.execution.cluster import ClusterWorkers, connect

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def running():
    """A scheduler and two workers, all in this process."""
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        dashboard_address="127.0.0.1:0",
    ) as one:
        yield one


@pytest.fixture
def client(running):
    with Client(running, set_as_default=False) as one:
        yield one


def test_workers_of_a_cluster_return_what_this_process_would(problem, client):
    workers = make_workers(problem, client)
    assert isinstance(workers, ClusterWorkers)
    jobs = [job(number, first=number / 4) for number in range(4)]
    found = outcomes_of(workers, jobs)
    for one in jobs:
        expected = problem.evaluate(one.theta, one.seed).nll
        assert found[one.number].evaluation.nll == expected
        assert found[one.number].worker in client.nthreads()
    # Nothing is left behind.
    assert not client.list_datasets()
    workers.close()


def test_one_job_for_each_worker_at_a_time(misbehaving, client):
    workers = ClusterWorkers(misbehaving, client)
    assert workers.idle() == 2
    first = workers.submit(job(0))
    second = workers.submit(job(1, avoid=first))
    assert first != second
    assert workers.idle() == 0
    deadline = time.monotonic() + 10
    while workers.running:
        assert time.monotonic() < deadline
        for outcome in workers.wait(0.1):
            workers.forget(outcome.job)
    assert workers.idle() == 2
    assert ClusterWorkers(misbehaving, client, n=1).idle() == 1


def test_faults_are_outcomes_and_progress_is_seen(misbehaving, client):
    workers, seen = ClusterWorkers(misbehaving, client), []
    workers.watch = lambda *said: seen.append(said)
    found = outcomes_of(workers, [job(0, -1.5), job(1, -1.0), job(2, 0.5)])
    assert "ZeroDivisionError" in found[0].fault
    assert "nan" in found[1].fault
    assert found[2].fault is None
    deadline = time.monotonic() + 10
    while not seen:
        assert time.monotonic() < deadline
        # Progress arrives on a way of its own, after the outcome perhaps.
        outcomes_of(workers, [job(3, 0.25)])
    assert set(seen) <= {(2, 0.5, "half"), (3, 0.5, "half")}
    workers.close()


def test_what_a_killed_search_began_is_found_again(problem, client, running, monkeypatch):
    with Client(running, set_as_default=False) as doomed:
        first = ClusterWorkers(problem, doomed)
        first.idle()
        first.submit(job(9))
        first.wait(5.0)
    calls = []
    monkeypatch.setattr(type(problem), "evaluate", lambda *given: calls.append(given))
    second = ClusterWorkers(problem, client)
    found = outcomes_of(second, [job(9)])
    assert found[9].fault is None
    assert not calls
    assert not client.list_datasets()
    second.close()


def test_a_job_whose_workers_die_is_not_tried_for_ever(problem, client, monkeypatch):
    workers = ClusterWorkers(problem, client)
    workers.idle()
    workers.submit(job())

    def killed(self):
        raise KilledWorker("task", client.scheduler, 3)

    monkeypatch.setattr("distributed.Future.result", killed)
    outcomes: list[Outcome] = []
    while not outcomes:
        outcomes = workers.wait(0.1)
    assert outcomes[0].is_final
    assert "its workers died" in outcomes[0].fault
    workers.forget(job())


def test_a_job_that_takes_too_long_ends_with_its_worker(problem, client, monkeypatch):
    restarted = []
    monkeypatch.setattr(
        client, "restart_workers", lambda workers, timeout: restarted.extend(workers)
    )
    workers = ClusterWorkers(problem, client, timeout=0.2)
    monkeypatch.setattr(cluster, "carry_out", lambda *given: time.sleep(1.0))
    workers.idle()
    worker = workers.submit(job(20))
    outcomes: list[Outcome] = []
    while not outcomes:
        outcomes = workers.wait(0.05)
    assert "time limit of 0.2 s" in outcomes[0].fault
    time.sleep(1.0)
    assert restarted == [worker]


def test_a_scheduler_that_is_not_there_is_one_clear_line(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.2)
    with pytest.raises(WorkersGoneError, match=r"no Dask scheduler at 'tcp://127.0.0.1:1'") as said:
        connect("tcp://127.0.0.1:1")
    assert "\n" not in str(said.value)


def test_a_scheduler_that_vanishes_is_one_clear_line(problem, client):
    workers = ClusterWorkers(problem, client)
    client.close()
    with pytest.raises(WorkersGoneError, match=r"has gone; what was finished before is kept"):
        workers.wait(0.01)


@pytest.mark.parametrize("said", [OSError("closed"), RuntimeError("ConnectionPool is closed")])
def test_a_scheduler_that_vanishes_is_noticed_when_it_is_asked(problem, client, monkeypatch, said):
    def closed():
        raise said

    workers = ClusterWorkers(problem, client)
    client.close()
    monkeypatch.setattr(client, "processing", closed)
    with pytest.raises(WorkersGoneError, match="has gone; what was finished before is kept"):
        workers.idle()


@pytest.mark.parametrize(
    "address", ["", "127.0.0.1", "tcp://127.0.0.1", "host:", "a b:1", "tcp://"]
)
def test_what_is_no_address_of_a_scheduler_is_named(address):
    with pytest.raises(InvalidInputError, match=f"cluster is '{address}'; expected that of a Dask"):
        connect(address)
