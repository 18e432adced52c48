import multiprocessing
import os
import signal
import struct
import sys
import threading
import time
from inspect import getclosurevars

import pytest

from boirl.errors import SolverError
from boirl.problem import workers
from boirl.problem.workers import Result, run_jobs
from boirl.types import silent

pytestmark = pytest.mark.skipif(not workers.can_fork(), reason="children are forked")


def ends(number, after=0.0):
    def job(report):
        time.sleep(after)
        return number

    return job


def raises(error):
    def job(report):
        raise error

    return job


def dies(number):
    def job(report):
        os.kill(os.getpid(), number)
        time.sleep(60.0)

    return job


def where(report):
    return os.getpid()


@pytest.mark.parametrize("at_once", [0, 1, 2, 5, None])
def test_results_come_in_the_order_of_the_jobs(at_once):
    # The first takes longest.
    jobs = [ends(number, 0.05 if number == 0 else 0.0) for number in range(4)]
    assert run_jobs(jobs, silent, at_once) == [Result(number, None) for number in range(4)]


def test_no_jobs_no_results():
    assert run_jobs([], silent, 2) == []


def test_jobs_run_in_children_of_their_own_or_here():
    pids = [result.value for result in run_jobs([where] * 3, silent, 2)]
    assert len({*pids, os.getpid()}) == 4
    assert {result.value for result in run_jobs([where] * 3, silent, 0)} == {os.getpid()}


def test_no_more_children_at_a_time_than_workers(tmp_path):
    def job(report):
        mine = tmp_path / str(os.getpid())
        mine.touch()
        time.sleep(0.05)
        together = len(list(tmp_path.iterdir()))
        mine.unlink()
        return together

    counts = [result.value for result in run_jobs([job] * 5, silent, 2)]
    assert max(counts) <= 2  # type: ignore[type-var]


def test_where_there_is_no_fork_the_work_is_done_here(monkeypatch):
    monkeypatch.setattr(workers, "can_fork", lambda: False)
    assert run_jobs([where], silent, 2)[0].value == os.getpid()


def test_a_child_works_without_children_of_its_own():
    def job(report):
        return run_jobs([where], report, 2)[0].value == os.getpid()

    assert run_jobs([job], silent, 1)[0].value is True


@pytest.mark.parametrize("at_once", [0, 1, 3])
def test_progress_is_that_of_all_jobs(at_once):
    def job(report):
        for share in (0.5, 1.0):
            report(share, f"half {share}")

    reports = []
    run_jobs([job] * 3, lambda share, message: reports.append((share, message)), at_once)
    shares = [share for share, _ in reports]
    assert shares == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1.0])
    assert {message for _, message in reports} == {"half 0.5", "half 1.0"}


def test_what_cannot_be_pickled_is_found_as_it_is_here():
    lock, seen = threading.Lock(), lambda x: x + 1

    def job(report):
        with lock:
            return seen(41)

    assert run_jobs([job], silent, 1)[0].value == 42


def test_what_a_child_changes_is_its_own():
    count = []

    def job(report):
        count.append(1)
        return len(count)

    assert [result.value for result in run_jobs([job] * 2, silent, 1)] == [1, 1]
    assert count == []


@pytest.mark.parametrize("at_once", [0, 2])
def test_a_failed_training_is_reported_in_its_own_words(at_once):
    jobs = [raises(SolverError("nothing was learned")), ends(1)]
    assert run_jobs(jobs, silent, at_once) == [
        Result(None, "nothing was learned"),
        Result(1, None),
    ]


@pytest.mark.parametrize("at_once", [0, 2])
def test_a_crash_is_reported_with_its_type_and_place(at_once):
    first, second = run_jobs(
        [raises(KeyError("gone\n  away " + "x" * 999)), ends(1)], silent, at_once
    )
    assert first.value is None
    assert first.failure.startswith("training crashed with KeyError: ")
    assert "gone" in first.failure
    assert "\n" not in first.failure
    assert len(first.failure) < 300
    line = raises.__code__.co_firstlineno + 2
    assert first.failure.endswith(f"(test_workers.py, line {line})")
    assert second == Result(1, None)


def test_a_killed_child_is_reported_and_the_others_finish():
    results = run_jobs([ends(0), dies(signal.SIGKILL), ends(2, 0.05)], silent, 3)
    assert results[0] == Result(0, None)
    assert results[2] == Result(2, None)
    assert results[1].value is None
    assert "killed (SIGKILL)" in results[1].failure


def test_the_next_job_takes_the_place_of_a_killed_one():
    results = run_jobs([dies(signal.SIGKILL), ends(1), ends(2)], silent, 1)
    assert [result.value for result in results] == [None, 1, 2]


def test_a_segmentation_fault_has_a_name():
    (result,) = run_jobs([dies(signal.SIGTERM)], silent, 1)
    assert "killed (SIGTERM)" in result.failure


def test_a_child_that_leaves_without_a_word_is_reported():
    def leaves(report):
        os._exit(3)

    assert "exit code 3" in run_jobs([leaves], silent, 1)[0].failure


@pytest.mark.parametrize("leave", [SystemExit(4)])
def test_a_child_that_exits_is_reported(leave):
    first, second = run_jobs([raises(leave), ends(1)], silent, 2)
    assert "exit code 4" in first.failure
    assert second == Result(1, None)


def test_large_results_pass():
    (result,) = run_jobs([lambda report: b"x" * 3_000_000], silent, 1)
    assert len(result.value) == 3_000_000


def test_a_child_ignores_ctrl_c():
    def job(report):
        os.kill(os.getpid(), signal.SIGINT)
        return "alive"

    assert run_jobs([job], silent, 1)[0].value == "alive"


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_here_leaves_no_child_alive(error, tmp_path):
    def job(report):
        (tmp_path / str(os.getpid())).touch()
        while True:
            report(0.1, "at work")
            time.sleep(0.02)

    def interrupt(share, message):
        if len(list(tmp_path.iterdir())) == 2:
            raise error

    with pytest.raises(error):
        run_jobs([job] * 3, interrupt, 2)
    assert multiprocessing.active_children() == []
    for path in tmp_path.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.name), 0)


def test_a_child_killed_in_the_middle_of_a_message_is_reported():
    def job(report):
        connection = getclosurevars(report).nonlocals["connection"]
        os.write(connection.fileno(), struct.pack("!i", 100) + b"only the beginning")
        os.kill(os.getpid(), signal.SIGKILL)

    first, second = run_jobs([job, ends(1)], silent, 1)
    assert "killed (SIGKILL)" in first.failure
    assert second == Result(1, None)


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_pipes_are_closed():
    before = len(os.listdir("/proc/self/fd"))
    run_jobs([ends(0), dies(signal.SIGKILL), raises(ValueError())], silent, 2)
    assert len(os.listdir("/proc/self/fd")) <= before
