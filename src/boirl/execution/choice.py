"""Which workers somebody asks for."""

from __future__ import annotations

from typing import Any

from boirl.errors import InvalidInputError
from boirl.execution.executors import ExecutorWorkers
from boirl.execution.processes import ProcessWorkers
from boirl.execution.workers import Here, Workers
from boirl.problem import Problem


def make_workers(
    problem: Problem[Any],
    executor: Any = None,
    workers: int | None = None,
    timeout: float | None = None,
) -> Workers:
    """The workers for the evaluations of a problem.

    Args:
        problem: What to evaluate.
        executor: A `dask.distributed.Client`, or anything with `submit`; None for this machine.
        workers: Processes of this machine, or jobs that `executor` carries out at a time; None for
            this process alone, or for all that the executor has.
        timeout: Seconds that an evaluation may take. This process cannot be ended while it
            evaluates, so that one other is started where there would be none.
    """
    if timeout is not None and not timeout > 0.0:
        raise InvalidInputError(f"timeout is {timeout}; expected a number of seconds above 0")
    if executor is None:
        if workers is None and timeout is None:
            return Here(problem)
        return ProcessWorkers(problem, 1 if workers is None else workers, timeout)
    if type(executor).__module__.partition(".")[0] == "distributed":
        from boirl.execution.cluster import ClusterWorkers

        return ClusterWorkers(problem, executor, timeout, workers)
    if not callable(getattr(executor, "submit", None)):
        raise InvalidInputError(
            f"the executor is a {type(executor).__name__}, which has no submit(); expected one of "
            "concurrent.futures, a dask.distributed.Client or alike"
        )
    return ExecutorWorkers(problem, executor, workers, timeout)
