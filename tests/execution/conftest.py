"""A problem of a few states, jobs on it, and evaluations that go wrong on purpose."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from boirl.evaluation import Evaluation
from boirl.execution import Job, Outcome, Workers


@pytest.fixture(scope="session")
def problem(random_problem: Callable[..., Any]) -> Any:
    return random_problem(1000)


def job(number: int = 0, first: float = 0.5, attempt: int = 0, avoid: str | None = None) -> Job:
    return Job(number, (first, 1.0), 7, attempt, avoid)


def misbehave(self: Any, theta: Any, seed: int | None = None, report: Any = None) -> Evaluation:
    """What the first number of theta says."""
    first = theta[0]
    if first == -2.0:
        os.kill(os.getpid(), signal.SIGKILL)
    if first == -2.25:
        os.fork()
    if first == -1.75:
        time.sleep(60)
    if first == -1.5:
        raise ZeroDivisionError("the motor\ncaught fire")
    if first == -1.25:
        raise SystemExit(3)
    if first == -1.0:
        return Evaluation(tuple(theta), float("nan"))
    report(0.5, "half")
    return Evaluation(
        tuple(theta), 3.0, log_likelihoods=np.ones(len(self.demonstrations)), seed=seed
    )


@pytest.fixture
def misbehaving(problem: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(type(problem), "evaluate", misbehave)
    return problem


def outcomes_of(workers: Workers, jobs: list[Job], patience: float = 30.0) -> dict[int, Outcome]:
    """Carry out jobs, and return what came of them by number."""
    found: dict[int, Outcome] = {}
    waiting, deadline = list(jobs), time.monotonic() + patience
    while len(found) < len(jobs):
        assert time.monotonic() < deadline
        while waiting and workers.idle():
            workers.submit(waiting.pop(0))
        for outcome in workers.wait(0.05):
            found[outcome.job.number] = outcome
            workers.forget(outcome.job)
    return found
