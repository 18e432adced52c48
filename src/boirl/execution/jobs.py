"""One evaluation on its way to a worker, and what came of it.

That a solver finds no policy for a theta is a result. That an evaluation raises anything else, ends
without a number, takes too long or loses its process is a fault: another attempt may succeed.
"""

from __future__ import annotations

import os
import traceback
from dataclasses import dataclass
from typing import Any

from boirl.errors import BoirlError, InvalidInputError
from boirl.evaluation import Evaluation
from boirl.problem import Problem
from boirl.types import Report

LONGEST_REASON = 300
LAST_LINES = 12
"""Of a traceback, which an evaluation that failed keeps."""


@dataclass(frozen=True)
class Job:
    """An evaluation to carry out.

    Attributes:
        number: Of the evaluation in its study.
        theta: The reward.
        seed: Seeds a solver that learns; the same for each attempt.
        attempt: Attempts before this one.
        avoid: The worker of the last attempt, which another one is preferred to.
    """

    number: int
    theta: tuple[float, ...]
    seed: int
    attempt: int = 0
    avoid: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What came of an attempt: an evaluation, or the reason why there is none.

    Attributes:
        job: What was attempted.
        worker: Who did.
        evaluation: What was found, failures of the solver included; None for other faults.
        fault: Why another attempt is called for; None where the evaluation counts.
        trace: Where the code raised it, for whoever wrote the code.
        is_final: Whether further attempts were made already, or make no sense.
        is_lost: Whether the attempt got lost on the way, which does not count as one.
    """

    job: Job
    worker: str
    evaluation: Evaluation | None = None
    fault: str | None = None
    trace: str = ""
    is_final: bool = False
    is_lost: bool = False


def carry_out(problem: Problem[Any], job: Job, report: Report, worker: str) -> Outcome:
    """Evaluate a theta; whatever goes wrong is in the outcome."""
    process = os.getpid()
    try:
        evaluation = _checked(problem.evaluate(job.theta, job.seed, report), problem, job)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        last = traceback.format_exception(error)
        trace = "\n".join("".join(last).splitlines()[-LAST_LINES:])
        return Outcome(job, worker, fault=reason_of(error), trace=trace)
    finally:
        if os.getpid() != process:
            # The copy of an evaluation that forks: one of the two goes on.
            os._exit(0)
    return Outcome(job, worker, evaluation, fault=evaluation.fault)


def _checked(evaluation: Any, problem: Problem[Any], job: Job) -> Evaluation:
    """What a problem returned, where a study can store it: problems may be of anybody's making."""
    if not isinstance(evaluation, Evaluation):
        raise InvalidInputError(
            f"the problem's evaluate returned a {type(evaluation).__name__}; expected a "
            "boirl.Evaluation"
        )
    if tuple(evaluation.theta) != job.theta:
        raise InvalidInputError(
            f"the problem evaluated theta {tuple(evaluation.theta)}; expected {job.theta}"
        )
    # What cannot be kept is named here, not when the study is written.
    evaluation.check_storable(len(problem.demonstrations))
    return evaluation


def reason_of(error: BaseException) -> str:
    """Why an evaluation could not be carried out, in one line."""
    try:
        message = " ".join(str(error).split())[:LONGEST_REASON]
    except Exception:
        # Errors of anybody's making may fail to say what they are.
        message = "(without a message that can be read)"
    if isinstance(error, BoirlError):
        return message
    where = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(where[-1].filename)}, line {where[-1].lineno})" if where else ""
    return f"the evaluation raised {type(error).__name__}: {message}{place}"


def too_slow(seconds: float) -> str:
    """The fault of an evaluation that was ended by a time limit."""
    return f"the evaluation took longer than the time limit of {seconds:g} s"
