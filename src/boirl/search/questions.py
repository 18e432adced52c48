"""Which theta is evaluated next, by whom, and what was found: shared by all who run a study."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from optuna.trial import FrozenTrial, TrialState

from boirl.errors import InvalidInputError, StorageError
from boirl.evaluation import Evaluation
from boirl.search.database import StudyDatabase
from boirl.search.leases import LEASE, Lease, Leases, is_free
from boirl.search.novelty import is_same
from boirl.search.records import EvaluationRecords, is_finished, theta_of
from boirl.search.sampler import INITIAL_PURPOSE, PURPOSE, RewardSampler, search_space
from boirl.types import Box

MOST_DEATHS = 5
"""Processes that may die over one evaluation before it is taken to be the reason."""


@dataclass(frozen=True)
class Question:
    """A theta that waits for its evaluation."""

    number: int
    theta: tuple[float, ...]


class Questions:
    """Hands out questions and takes answers for one study object; `use` comes first.

    Args:
        database: Of the study.
        box: The rewards under consideration.
        records: Keeps evaluations.
        lease_seconds: How long a question is another machine's without a sign of life from there.
    """

    def __init__(
        self,
        database: StudyDatabase,
        box: Box,
        records: EvaluationRecords,
        lease_seconds: float,
    ) -> None:
        self._database = database
        self._records = records
        self._box = box
        self._evidence = 0
        self.leases = Leases(database, lease_seconds)
        self._asked: dict[int, int] = {}
        self._finished: set[int] = set()

    def use(self, sampler: RewardSampler, evidence: int) -> None:
        """Propose thetas by a sampler from now on.

        Args:
            sampler: Knows all evaluations under the evidence of now.
            evidence: How often the evidence of the study has changed.
        """
        self._sampler, self._evidence = sampler, evidence

    def ask(self) -> Question:
        """The next question. One that a killed process left behind comes first."""
        question = self.ask_within(math.inf)
        assert question is not None
        return question

    def ask_within(self, evaluations: float) -> Question | None:
        """The next question; None where there would be too many evaluations in the end.

        Of processes that ask at the same time for the last one, one gets it.
        """
        try:
            return self._ask_within(evaluations)
        except BaseException:
            # An interrupt may come between two lines: nothing is kept that nobody works on.
            self._give_back_unasked()
            raise

    def _ask_within(self, evaluations: float) -> Question | None:
        trials = self._database.trials()
        trial = self._take_over_one_of(trials)
        if trial is not None:
            return self._handed_out(trial._trial_id, trial.number, trials, trial)
        while (room := evaluations - self._n_counted(trials)) > 0:
            created = self._new_trial(trials, room)
            if created is not None:
                return self._handed_out(*created, trials)
            # Another process was quicker.
            trials = self._database.trials()
        return None

    def _handed_out(
        self,
        trial_id: int,
        number: int,
        trials: list[FrozenTrial],
        known: FrozenTrial | None = None,
    ) -> Question:
        """The question of a trial that nobody else works on."""
        self._asked[number] = trial_id
        try:
            if known is not None and len(known.params) == self._box.dimension:
                return Question(number, tuple(theta_of(known, self._box).tolist()))
            return Question(number, self._propose(trial_id, number, trials))
        except BaseException:
            self.give_back(number)
            raise

    def answer(self, question: Question, evaluation: Evaluation) -> None:
        """Record an evaluation; durable when this returns.

        Where another process took the question over and was quicker, its evaluation counts.
        """
        trial_id = self._asked.get(question.number)
        if trial_id is None:
            raise InvalidInputError(
                f"evaluation {question.number} was reported before, or never asked for by this "
                "study; tell each question of ask() once"
            )
        kept = self._records.attributes(question.number, evaluation, self._evidence)
        nll = evaluation.nll if evaluation.ok else None
        if self._database.finish(trial_id, nll, *kept):
            self._records.keep(question.number, evaluation)
        self.leases.drop(trial_id)
        del self._asked[question.number]

    def give_back(self, number: int, died: bool = False) -> None:
        """Let the next ask, here or elsewhere, take up a question that is not answered.

        Args:
            number: Of the question.
            died: Whether the process that evaluated it died.
        """
        trial_id = self._asked.pop(number, None)
        if trial_id is not None:
            with suppress(StorageError):
                self.leases.give_back(trial_id, died)

    def _give_back_unasked(self) -> None:
        for trial_id in set(self.leases.held) - set(self._asked.values()):
            with suppress(StorageError):
                self.leases.give_back(trial_id)

    def unanswered(self) -> list[Question]:
        """Those that this study asked for and was not told of."""
        return [
            Question(trial.number, tuple(theta_of(trial, self._box).tolist()))
            for trial in self._database.trials((TrialState.RUNNING,))
            if trial.number in self._asked and len(trial.params) == self._box.dimension
        ]

    def foreign_leases(self) -> dict[int, Lease]:
        """Of evaluations of other machines, where only time tells whether they are still there."""
        running = self._running_elsewhere(self._database.trials())
        now = self._database.now() if running else 0.0
        leases = {trial.number: Lease.of(trial) for trial in running}
        return {
            number: lease
            for number, lease in leases.items()
            if lease is not None and not lease.is_here and lease.deadline >= now
        }

    def _running_elsewhere(self, trials: list[FrozenTrial]) -> list[FrozenTrial]:
        running = [trial for trial in trials if trial.state == TrialState.RUNNING]
        return [trial for trial in running if trial.number not in self._asked]

    def _n_counted(self, trials: list[FrozenTrial]) -> int:
        """Evaluations that are finished, or that somebody is at work on."""
        n = 0
        for trial in trials:
            if trial.number in self._finished:
                n += 1
            elif is_finished(trial, self._box):
                self._finished.add(trial.number)
                n += 1
            elif trial.state == TrialState.RUNNING and Lease.of(trial) is not None:
                n += 1
        return n

    def _new_trial(self, trials: list[FrozenTrial], room: float) -> tuple[int, int] | None:
        """Id and number of a trial that has its owner from the start; None where there is no room.

        Args:
            trials: All that are known.
            room: How many more there may be.
        """
        lease = self.leases.new()
        created = self._database.create_within({LEASE: lease.record()}, trials, room)
        if created is not None:
            self.leases.hold(created[0], lease)
        return created

    def _take_over_one_of(self, trials: list[FrozenTrial]) -> FrozenTrial | None:
        """A trial whose process has gone, taken over."""
        running = self._running_elsewhere(trials)
        now = self._database.now() if running else 0.0
        for trial in running:
            if not is_free(trial, now) or not self.leases.take_over(trial):
                continue
            deaths = self.leases.deaths(trial._trial_id)
            if deaths < MOST_DEATHS:
                return trial
            self._asked[trial.number] = trial._trial_id
            theta = tuple(theta_of(trial, self._box).tolist())
            failure = f"the processes that evaluated it died, {deaths} times; it was given up"
            given_up = Evaluation(theta, math.nan, failure=failure, n_policies=0)
            self.answer(Question(trial.number, theta), given_up)
        return None

    def _propose(self, trial_id: int, number: int, trials: list[FrozenTrial]) -> tuple[float, ...]:
        """A theta for a trial that has none yet, which nobody else gets."""
        box = self._box
        space = search_space(box)
        while True:
            theta, attributes = self._sampler.propose(number, trials)
            params = dict(zip(box.names, theta.tolist(), strict=True))
            # What the user asks for first may well hold a theta twice.
            is_given = attributes[PURPOSE] == INITIAL_PURPOSE
            is_taken = None if is_given else partial(is_same, theta, box=box)
            if self._database.propose(trial_id, params, space, attributes, is_taken, trials):
                return tuple(params.values())
            trials = self._database.trials()
