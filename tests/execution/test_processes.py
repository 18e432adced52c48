"""Processes of this machine: in parallel, on one thread, replaced when they die."""

import multiprocessing
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.execution.jobs import Outcome
from boirl.execution.processes import ProcessWorkers
from tests.execution.conftest import job, outcomes_of


def test_processes_return_what_this_one_would(problem):
    workers = ProcessWorkers(problem, 2)
    try:
        jobs = [job(number, first=number / 4) for number in range(5)]
        found = outcomes_of(workers, jobs)
        for one in jobs:
            expected = problem.evaluate(one.theta, one.seed)
            evaluation = found[one.number].evaluation
            assert (evaluation.theta, evaluation.nll) == (one.theta, expected.nll)
            np.testing.assert_array_equal(evaluation.gradient, expected.gradient)
        assert {one.worker for one in found.values()} <= {"worker 0", "worker 1"}
    finally:
        workers.close()


def test_a_process_that_dies_hangs_or_raises_is_survived(misbehaving):
    workers, seen = ProcessWorkers(misbehaving, 2, timeout=1.0), []
    workers.watch = lambda *said: seen.append(said)
    try:
        firsts = (-2.0, -1.75, -1.5, -1.25, -1.0, 0.5)
        began = time.monotonic()
        found = outcomes_of(workers, [job(n, first) for n, first in enumerate(firsts)])
        assert time.monotonic() - began < 20
    finally:
        workers.close()
    assert "was killed (SIGKILL)" in found[0].fault
    assert "longer than the time limit of 1 s" in found[1].fault
    assert "ZeroDivisionError" in found[2].fault
    assert "SystemExit" in found[3].fault
    assert "nan" in found[4].fault
    assert (found[5].fault, found[5].evaluation.nll) == (None, 3.0)
    assert seen == [(5, 0.5, "half")]


def test_an_evaluation_that_forks_counts_once(misbehaving):
    workers = ProcessWorkers(misbehaving, 1)
    try:
        found = outcomes_of(workers, [job(n, first) for n, first in enumerate((-2.25, 0.5, -2.25))])
        assert [found[n].evaluation.nll for n in range(3)] == [3.0] * 3
        assert [found[n].job.number for n in range(3)] == [0, 1, 2]
        assert not workers.wait(0.2)
    finally:
        workers.close()


def test_an_outcome_of_another_job_than_the_one_that_runs_is_left_alone(misbehaving):
    workers = ProcessWorkers(misbehaving, 1)
    try:
        workers.submit(job(1, -1.75))
        (process,) = workers._processes
        real = process.connection
        process.connection, there = multiprocessing.Pipe()
        there.send(Outcome(job(0), "worker 0"))
        assert workers.wait(1.0) == []
        assert list(workers.running) == [1]
        process.connection.close()
        process.connection = real
    finally:
        workers.close()


def test_another_attempt_is_made_elsewhere(problem):
    workers = ProcessWorkers(problem, 2)
    try:
        first = outcomes_of(workers, [job(0)])[0].worker
        again = outcomes_of(workers, [job(0, attempt=1, avoid=first)])[0].worker
        assert {first, again} == {"worker 0", "worker 1"}
    finally:
        workers.close()


def tell_threads(self, theta, seed, report):
    pools = [one["num_threads"] for one in threadpool_info()]
    return Evaluation(tuple(theta), 1.0, facts={"threads": max([torch.get_num_threads(), *pools])})


def test_workers_do_not_fight_over_cores(problem, monkeypatch):
    monkeypatch.setattr(type(problem), "evaluate", tell_threads)
    workers = ProcessWorkers(problem, 1)
    try:
        assert outcomes_of(workers, [job()])[0].evaluation.facts["threads"] == 1
    finally:
        workers.close()


class Slow:
    def __init__(self, folder):
        self.folder = folder

    def evaluate(self, theta, seed, report):
        (self.folder / str(os.getpid())).touch()
        time.sleep(60)


def start_and_die(folder):
    workers = ProcessWorkers(Slow(folder), 2)
    for number in range(2):
        workers.submit(job(number))
    while len(os.listdir(folder)) < 2:
        time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGKILL)


def is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_workers_end_when_their_parent_is_killed(tmp_path):
    parent = multiprocessing.get_context("fork").Process(target=start_and_die, args=(tmp_path,))
    parent.start()
    parent.join()
    pids = os.listdir(tmp_path)
    assert len(pids) == 2
    deadline = time.monotonic() + 20
    while any(map(is_running, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_at_least_one_process_is_wanted(problem):
    with pytest.raises(InvalidInputError, match="workers is 0; expected at least 1"):
        ProcessWorkers(problem, 0)


def test_a_worker_that_was_killed_while_idle_costs_no_attempt(problem):
    workers = ProcessWorkers(problem, 1)
    try:
        victim = workers._processes[0].process
        victim.kill()
        victim.join()
        assert outcomes_of(workers, [job()])[0].fault is None
    finally:
        workers.close()


def test_whether_another_worker_is_idle(problem, misbehaving):
    workers = ProcessWorkers(misbehaving, 2)
    try:
        assert workers.has_another_than("worker 0")
        workers.submit(job(0, first=-1.75))
        assert workers.has_another_than("worker 0")
        assert not workers.has_another_than("worker 1")
    finally:
        workers.close()
