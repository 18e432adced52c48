"""The loop of a search: propose, hand out, record, whoever carries the evaluations out.

While evaluations run, the next thetas are proposed with the running ones as pending points. With
one worker, nothing is proposed ahead: the search is the same as without workers, and resumes
exactly.
"""

from __future__ import annotations

import math
import time
import warnings
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from boirl.errors import BoirlError, BoirlWarning
from boirl.evaluation import Evaluation
from boirl.execution import Job, Outcome, Workers
from boirl.execution.executors import BrokenWorkersError
from boirl.search.leases import Lease
from boirl.search.progress import SearchProgress
from boirl.search.records import is_finished

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

    from boirl.search.questions import Question
    from boirl.search.study import Study

RETRIES = 1
"""Further attempts at an evaluation that could not be carried out."""

EVALUATION_STREAM = 4
"""An evaluation draws from the stream (seed, number, this)."""

POLL_SECONDS = 0.2
"""How often the study is looked at while nothing happens here."""

SMALL_SHARE = 0.01
"""Idle time of a worker, as a share of an evaluation, that is not worth an older proposal."""

FAULTS_WITHOUT_SUCCESS = 3
"""Evaluations that raise errors before any succeeds, after which the code is to blame."""

FAULTS, TRACE = "faults", "trace"
"""Facts of an evaluation: what went wrong with earlier attempts, and where."""


class Driver:
    """Runs a study on workers.

    Args:
        study: What to run.
        workers: Who evaluates.
        evaluations: How many there are to be in all.
        retries: Further attempts at an evaluation that could not be carried out.
        bar: Shows what is going on.
    """

    def __init__(
        self,
        study: Study,
        workers: Workers,
        evaluations: int,
        retries: int,
        bar: SearchProgress,
    ) -> None:
        self._study = study
        self._workers = workers
        self._evaluations = evaluations
        self._retries = retries
        self._bar = bar
        self._questions: dict[int, Question] = {}
        self._faults: dict[int, list[str]] = {}
        self._waiting: deque[Job] = deque()
        self._raised: list[str] = []
        self._seconds: list[float] = []
        self._asking = 0.0
        self._shown: set[int] = set()
        self._looked = -math.inf
        self._doubts: dict[int, float] = {}
        self._is_sure = False
        workers.watch = bar.report_of

    def run(self, raise_if_interrupted: Callable[[], None]) -> None:
        """Evaluate until there are enough; whatever happens, nothing stays leased or running."""
        died = False
        try:
            self._show(resumed=True)
            self._take_up_unanswered()
            while len(self._shown) < self._evaluations or self._questions:
                asked = self._wants_more() and self._ask()
                self._hand_out()
                for outcome in self._workers.wait(0.0 if asked else POLL_SECONDS):
                    self._settle(outcome)
                if time.monotonic() - self._looked >= POLL_SECONDS:
                    self._show()
                raise_if_interrupted()
        except BrokenWorkersError:
            died = True
            raise
        finally:
            self._stop(died)

    def _take_up_unanswered(self) -> None:
        """Evaluate what was asked for by hand and not told: nobody else will while this runs."""
        for question in self._study.questions.unanswered():
            self._prepare(question)

    def _show(self, resumed: bool = False) -> None:
        """Count what is finished, by whomever."""
        box = self._study.problem.box
        self._looked = time.monotonic()
        for trial in self._study.database.trials():
            if trial.number not in self._shown and is_finished(trial, box):
                self._count(trial.number, self._nll(trial), resumed)

    def _nll(self, trial: FrozenTrial) -> float | None:
        """The NLL of a finished trial under the evidence of now; None where it failed."""
        evidence = self._study.evidence
        if not evidence.version:
            return trial.value
        known = evidence.read(trial)
        return known.nll if known.ok else None

    def _count(self, number: int, nll: float | None, resumed: bool = False) -> None:
        self._shown.add(number)
        self._bar.advance(nll, resumed)

    def _wants_more(self) -> bool:
        """Whether a worker has nothing to do, or will have before the next proposal is made."""
        idle = self._workers.idle()
        ready = sum(self._may_begin(job) for job in self._waiting)
        return ready < idle + self._ahead()

    def _may_begin(self, job: Job) -> bool:
        """Whether a job need not wait for another worker than the one that failed at it.

        It does not where nobody else is at work, who could take it later.
        """
        if job.avoid is None or not self._workers.running:
            return True
        return self._workers.has_another_than(job.avoid)

    def _ahead(self) -> int:
        """Proposals to have ready: as many as will be wanted while the next one is made."""
        if not self._workers.can_be_one_of_many or not self._seconds:
            return 0
        share = self._asking / max(float(np.mean(self._seconds)), 1e-9)
        if share < SMALL_SHARE:
            return 0
        return min(math.ceil(share * len(self._workers.running)), len(self._workers.running))

    def _ask(self) -> bool:
        """Have one more job ready; False where there is none within the evaluations wanted."""
        if self._is_in_doubt():
            return False
        began = time.monotonic()
        question = self._study.questions.ask_within(self._evaluations)
        if question is None:
            return False
        self._asking = time.monotonic() - began
        self._prepare(question)
        return True

    def _prepare(self, question: Question) -> None:
        self._questions[question.number] = question
        seed = evaluation_seed(self._study.settings.seed, question.number)
        self._waiting.append(Job(question.number, question.theta, seed))

    def _is_in_doubt(self) -> bool:
        """Whether exact resumption calls for waiting until a lease has run out or is renewed."""
        if self._workers.can_be_one_of_many or self._is_sure:
            return False
        leases = self._study.questions.foreign_leases()
        new = [number for number in leases if number not in self._doubts]
        self._doubts |= {number: leases[number].deadline for number in new}
        doubtful = [n for n, lease in leases.items() if lease.deadline == self._doubts[n]]
        if doubtful and new:
            warnings.warn(_in_doubt(leases[doubtful[0]], doubtful[0]), BoirlWarning, stacklevel=2)
        # Whoever begins later is alive.
        self._is_sure = not doubtful
        return bool(doubtful)

    def _hand_out(self) -> None:
        while self._workers.idle() > 0:
            job = next((one for one in self._waiting if self._may_begin(one)), None)
            if job is None:
                return
            self._waiting.remove(job)
            worker = self._workers.submit(job)
            self._bar.begin(job.number, worker if self._workers.can_be_one_of_many else None)

    def _settle(self, outcome: Outcome) -> None:
        """Record what came of an attempt, or make another one."""
        job = outcome.job
        self._bar.end(job.number)
        faults = self._faults.setdefault(job.number, [])
        if outcome.is_lost:
            self._workers.forget(job)
            self._waiting.appendleft(job)
            return
        if outcome.fault is not None:
            faults.append(f"{outcome.fault} [{outcome.worker}]")
            if job.attempt < self._retries and not outcome.is_final:
                self._workers.forget(job)
                again = replace(job, attempt=job.attempt + 1, avoid=outcome.worker)
                self._waiting.appendleft(again)
                return
        evaluation = _with_faults(outcome, faults)
        self._study.tell(self._questions[job.number], evaluation)
        self._count(job.number, evaluation.nll if evaluation.ok else None)
        self._workers.forget(job)
        del self._questions[job.number], self._faults[job.number]
        if evaluation.ok:
            self._seconds.append(evaluation.seconds)
        elif outcome.trace:
            self._raised.append(str(evaluation.failure))
            self._stop_if_nothing_works()

    def _stop_if_nothing_works(self) -> None:
        if len(self._raised) < FAULTS_WITHOUT_SUCCESS or self._seconds:
            return
        if any(trial.value is not None for trial in self._study.trials):
            return
        raise BoirlError(
            f"the first {len(self._raised)} evaluations failed, the last one as follows: "
            f"{self._raised[-1]}; evaluate one with problem.evaluate(theta) to see where, then run "
            "again"
        )

    def _stop(self, died: bool) -> None:
        """Record what has just ended, and leave the rest to whoever comes next.

        Whatever interrupts one of these steps, the others are taken.

        Args:
            died: Whether one of the jobs that run may be what ended the workers.
        """
        with ExitStack() as steps:
            steps.callback(self._workers.close)
            steps.enter_context(self._study.database.without_patience())
            steps.callback(self._give_back, died)
            with suppress(BoirlError):
                for outcome in self._workers.drain():
                    self._settle(outcome)

    def _give_back(self, died: bool) -> None:
        for number in list(self._questions):
            self._study.questions.give_back(number, died and number in self._workers.running)


def evaluation_seed(seed: int, number: int) -> int:
    """The seed of an evaluation: another one for each, so that repeats are independent."""
    return int(np.random.SeedSequence([seed, number, EVALUATION_STREAM]).generate_state(1)[0])


def _with_faults(outcome: Outcome, faults: list[str]) -> Evaluation:
    """The evaluation to record, with what went wrong on the way to it."""
    evaluation = outcome.evaluation
    if evaluation is None:
        times = "" if len(faults) == 1 else f" ({len(faults)} attempts)"
        failure = f"{outcome.fault}{times}"
        evaluation = Evaluation(outcome.job.theta, float("nan"), failure=failure, n_policies=0)
    if not faults:
        return evaluation
    trace = {TRACE: outcome.trace} if outcome.trace else {}
    return replace(evaluation, facts={**evaluation.facts, FAULTS: faults, **trace})


def _in_doubt(lease: Lease, number: int) -> str:
    return (
        f"evaluation {number} belongs to {lease.name}, which may be gone; waiting until it shows a "
        "sign of life, or its lease has run out (a minute at most)"
    )
