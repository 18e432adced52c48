"""Which workers somebody asks for."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from boirl.errors import InvalidInputError
from boirl.execution import Here, make_workers
from boirl.execution.executors import ExecutorWorkers
from boirl.execution.processes import ProcessWorkers


def test_this_process_evaluates_unless_others_are_asked_for(problem):
    assert isinstance(make_workers(problem), Here)
    workers = make_workers(problem, workers=2)
    assert isinstance(workers, ProcessWorkers)
    assert workers.can_be_one_of_many
    workers.close()


def test_a_time_limit_needs_a_process_that_can_be_ended(problem):
    workers = make_workers(problem, timeout=5.0)
    assert isinstance(workers, ProcessWorkers)
    assert not workers.can_be_one_of_many
    workers.close()


def test_anything_with_submit_is_an_executor(problem):
    pytest.importorskip("cloudpickle")
    with ThreadPoolExecutor(2) as executor:
        assert isinstance(make_workers(problem, executor), ExecutorWorkers)


def test_what_makes_no_sense_is_refused(problem):
    with pytest.raises(InvalidInputError, match=r"the executor is a str, which has no submit\(\)"):
        make_workers(problem, "tcp://host:8786")
    with pytest.raises(InvalidInputError, match="timeout is 0; expected a number of seconds"):
        make_workers(problem, timeout=0)
