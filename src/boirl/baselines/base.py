"""The interface of all baselines: evaluations that go on after a break and report their cost."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from boirl.baselines.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from boirl.baselines.run import BaselineRun
from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.interrupts import deferred_interrupts
from boirl.problem import Problem
from boirl.types import Report, silent

SECONDS_BETWEEN_CHECKPOINTS = 5.0

Callback = Callable[[Evaluation, int], bool | None]
"""Called with every evaluation and its number, from 0, when it is done; with those before a break
at the beginning, whose policies are kept only where they were the best so far. The run ends where
it returns True."""


class Baseline(ABC):
    """A method to compare the search with. A frozen dataclass of its settings.

    Its `repr` identifies its settings. A subclass keeps everything that changes in a state that
    `pack` and `unpack` bring to a file and back, so that a run goes on after a break as if there
    had been none.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    default_evaluations: ClassVar[int] = 100
    times_itself: ClassVar[bool] = False
    """Whether evaluations come with their own seconds, because several are made at once."""

    @abstractmethod
    def check(self, problem: Problem[Any]) -> None:
        """Raise `InvalidInputError`, in one line, where the method does not apply."""

    @abstractmethod
    def begin(self, problem: Problem[Any], seed: int) -> Any:
        """The state before the first evaluation."""

    @abstractmethod
    def advance(self, problem: Problem[Any], state: Any, report: Report) -> Evaluation:
        """Do one iteration, which changes the state, and return the evaluation it ends with.

        Its seconds are filled in by the caller, unless `times_itself`.
        """

    def pack(self, state: Any) -> Any:
        """The state as numbers, strings, arrays, generators, evaluations, lists and dictionaries.

        A state that is made of these needs no `pack` or `unpack` of its own.
        """
        return state

    def unpack(self, problem: Problem[Any], packed: Any) -> Any:
        """The inverse of `pack`. What is packed may come from anybody: do not execute it."""
        return packed

    def finish(self, problem: Problem[Any], state: Any, run: BaselineRun) -> BaselineRun:
        """Add what a method returns beside its evaluations."""
        return run

    def run(
        self,
        problem: Problem[Any],
        evaluations: int | None = None,
        seed: int = 0,
        callback: Callback | None = None,
        checkpoint: str | Path | None = None,
        report: Report = silent,
        spare: Path | None = None,
    ) -> BaselineRun:
        """Iterate, and return the evaluations of all iterations.

        Args:
            problem: What is to be explained.
            evaluations: One per iteration, those before a break included; by default the method's
                usual number.
            seed: Seeds every random choice.
            callback: See `Callback`.
            checkpoint: A file that keeps the run. Where it exists, the run goes on from there.
                Reading it runs no code.
            report: Called with the progress of a long iteration.
            spare: A file to keep the run in where it is interrupted and has no checkpoint.

        Raises:
            InvalidInputError: The method does not apply, or the file keeps another run.
        """
        self.check(problem)
        total = self.default_evaluations if evaluations is None else evaluations
        if total < 1:
            raise InvalidInputError(f"evaluations is {total}; expected at least one")
        path = None if checkpoint is None else Path(checkpoint)
        key = f"{self!r}, seed {seed}, problem {problem.fingerprint()}"
        if path is not None and path.exists():
            state, done = load_checkpoint(path, key, problem, self.unpack)
        else:
            state, done = self.begin(problem, seed), []
            if path is not None:
                # What cannot be kept is found out before any work is done.
                save_checkpoint(path, key, Checkpoint(self.pack(state), done))
        ended = False
        if callback is not None:
            for number, evaluation in enumerate(done):
                ended |= callback(evaluation, number) is True
        lowest = min((one.nll for one in done if one.ok), default=math.inf)
        saved = time.perf_counter()
        with deferred_interrupts() as interrupted:
            while not ended and len(done) < total:
                began = time.perf_counter()
                evaluation = self.advance(problem, state, report)
                now = time.perf_counter()
                if not self.times_itself:
                    evaluation = replace(evaluation, seconds=now - began)
                improved = evaluation.ok and evaluation.nll < lowest
                lowest = evaluation.nll if improved else lowest
                # The policies of all iterations would fill the memory; improvements are few.
                done.append(evaluation if improved else replace(evaluation, policies=()))
                ended = callback is not None and callback(evaluation, len(done) - 1) is True
                last = ended or len(done) == total or interrupted()
                if path is not None and (last or now - saved > SECONDS_BETWEEN_CHECKPOINTS):
                    save_checkpoint(path, key, Checkpoint(self.pack(state), done))
                    saved = time.perf_counter()
                if interrupted():
                    if path is None and spare is not None:
                        save_checkpoint(spare, key, Checkpoint(self.pack(state), done))
                    raise KeyboardInterrupt
        whole = BaselineRun(problem, tuple(done[:total]), self.name)
        return self.finish(problem, state, whole)
