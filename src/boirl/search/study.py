"""Ask, evaluate, tell: the loop and its resumption."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Unpack

import numpy as np
from optuna.trial import FrozenTrial, TrialState

from boirl.constraints import Constraints
from boirl.constraints.collection import Given
from boirl.errors import BoirlError, InvalidInputError, StorageError
from boirl.evaluation import Evaluation
from boirl.execution import make_workers
from boirl.html import heading
from boirl.interrupts import remembered_interrupts
from boirl.priors import LogDensity, Prior, as_prior
from boirl.problem import Problem
from boirl.results import RewardSet
from boirl.search.acquisitions import ACQUISITIONS
from boirl.search.database import StudyDatabase
from boirl.search.driver import RETRIES, Driver
from boirl.search.evidence import PROBLEM, ChangingEvidence, StudyEvidence
from boirl.search.growth import build_growth
from boirl.search.identity import describe_problem, difference, versions
from boirl.search.initial import Design, describe_design, initial_thetas, steps_down
from boirl.search.leases import LEASE_SECONDS
from boirl.search.passwords import hide_password
from boirl.search.progress import SearchProgress
from boirl.search.questions import Question, Questions
from boirl.search.records import (
    ArtifactStore,
    EvaluationRecords,
    artifact_folder,
    is_finished,
)
from boirl.search.sampler import RewardSampler
from boirl.search.settings import INITIAL_STREAM, SearchOptions, SearchSettings
from boirl.search.storage import open_study, storage_errors
from boirl.types import FloatArray

SETTINGS = "boirl:settings"
FACTS, VERSIONS = "boirl:problem-facts", "boirl:versions"
INITIAL = "boirl:initial"
ROLLOUTS = "boirl:rollouts"
PRIOR = "boirl:prior"
RECIPE = "boirl:recipe"
CONSTRAINTS = "boirl:constraints"


class Study(ChangingEvidence):
    """A search for the rewards that explain the demonstrations of a problem.

    Args:
        problem: What to explain.
        initial: Thetas to start from, or a design: `"sobol"` or `"hard"`.
        n_initial: Size of a design given by name.
        storage: None to keep evaluations in memory, or a database such as
            `"sqlite:///search.db"`. A study found there is resumed.
        name: Name of the study within the storage.
        rollout_policies: Policies that the roll-outs of the projection come from, for instance
            `[problem.policy(theta)]`; none for the uniform policy.
        artifacts: Folder for the policies and the likelihoods of evaluations, so that none has to
            be solved for twice, or an artifact store of Optuna (`optuna.artifacts`), such as one
            in a bucket; by default a folder beside an SQLite file (`search.artifacts` for
            `search.db`), in the user's cache for other databases, else memory.
        prior: What is believed of theta beforehand: None for the uniform prior,
            `boirl.NormalPrior(mean, sd)`, or a log density in torch; see `boirl.priors`.
        constraints: What a reward, or what it makes the demonstrator do, must be like to be a
            solution; see `boirl.constraints`.
        lease_seconds: After how long without a sign of life an evaluation of another machine is
            taken over.
        **options: See `SearchSettings`.

    Example:
        >>> study = Study(problem, seed=1, storage="sqlite:///search.db")
        >>> question = study.ask()
        >>> study.tell(question, problem.evaluate(question.theta))
        >>> found = study.run(evaluations=40)
    """

    def __init__(
        self,
        problem: Problem[Any],
        *,
        initial: Design = "sobol",
        n_initial: int | None = None,
        storage: str | None = None,
        name: str | None = None,
        rollout_policies: Sequence[Any] = (),
        artifacts: str | os.PathLike[str] | ArtifactStore | None = None,
        prior: Prior | LogDensity | None = None,
        constraints: Given = None,
        lease_seconds: float = LEASE_SECONDS,
        **options: Unpack[SearchOptions],
    ) -> None:
        self.constraints = Constraints.of(constraints, problem)
        self.prior = as_prior(prior, problem.box)
        self.settings = settings = SearchSettings.from_options(options)
        self.storage = storage
        self._rollout_policies = rollout_policies
        problem.check_reward_varies()
        kept = artifact_folder(storage) if artifacts is None else artifacts
        with storage_errors(storage):
            self.optuna_study = open_study(storage, name or f"boirl-{problem.name}")
        self.database = StudyDatabase(self.optuna_study, storage)
        self.records = EvaluationRecords(problem.box, kept)
        self.database.check_readable()
        with storage_errors(storage):
            self.evidence = StudyEvidence(self.optuna_study, self.records, problem)
        self._check_problem(problem)
        self.database.record(VERSIONS, versions())
        self._check_or_record(SETTINGS, "settings", asdict(settings))
        self._check_or_record(PRIOR, "prior", self.prior.facts(problem.box))
        self._check_or_record(CONSTRAINTS, "constraints", self.constraints.facts())
        if problem.recipe is not None:
            self.database.record(RECIPE, dict(problem.recipe))
        self._first = self._initial(initial, n_initial)
        self._steps_down = steps_down(problem, initial, n_initial)
        self.questions = Questions(self.database, problem.box, self.records, lease_seconds)
        self.rebuild()

    @property
    def problem(self) -> Problem[Any]:
        """What is explained: the problem, with the demonstrations of now."""
        return self.evidence.problem

    def rebuild(self) -> None:
        """Make surrogate and sampler for the evidence of now."""
        settings, version = self.settings, self.evidence.version
        surrogate = settings.build_surrogate(self.problem, self._rollout_policies)
        key = f"{ROLLOUTS}:{version}" if version else ROLLOUTS
        self._check_or_record(key, "roll-outs", surrogate.projection.fingerprint())
        self.sampler = RewardSampler(
            surrogate,
            ACQUISITIONS[settings.acquisition],
            self._first,
            settings.seed,
            build_growth(self.problem, surrogate, settings),
            self.evidence.read,
            self.prior,
            self.constraints,
            self._steps_down,
        )
        self.optuna_study.sampler = self.sampler
        self.questions.use(self.sampler, version)

    def __repr__(self) -> str:
        where = "memory" if self.storage is None else self.optuna_study.study_name
        return f"Study({self.problem!r}, {len(self.trials)} evaluations in {where})"

    def _repr_html_(self) -> str:
        return heading(repr(self)) + self.problem._repr_html_()

    @property
    def storage_name(self) -> str:
        """Where evaluations are kept, for messages: the address without its password."""
        return "memory" if self.storage is None else hide_password(self.storage)

    @property
    def trials(self) -> list[FrozenTrial]:
        """All finished evaluations, failed ones included, in the order they were asked for."""
        trials = self.database.trials((TrialState.COMPLETE, TrialState.FAIL))
        box = self.problem.box
        return [trial for trial in trials if is_finished(trial, box)]

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """All finished evaluations, whole, in the order they were asked for."""
        with storage_errors(self.storage):
            return tuple(self.evidence.read(trial) for trial in self.trials)

    def ask(self) -> Question:
        """The theta to evaluate next. One that a killed process left behind comes first."""
        return self.questions.ask()

    def tell(self, question: Question, evaluation: Evaluation | float) -> None:
        """Record an evaluation, or an NLL alone; durable when this returns.

        Where another process took the question over and was quicker, its evaluation counts.
        """
        if not isinstance(evaluation, Evaluation):
            evaluation = Evaluation(question.theta, evaluation)
        if evaluation.theta != question.theta:
            raise InvalidInputError(
                f"the evaluation is of theta {evaluation.theta}; expected that of the question, "
                f"{question.theta}"
            )
        evaluation.check_storable(len(self.problem.demonstrations))
        if evaluation.ok:
            evaluation = self.constraints.measured(self.problem, evaluation)
        self.questions.answer(question, evaluation)

    def run(
        self,
        evaluations: int,
        progress: bool = False,
        *,
        executor: Any = None,
        workers: int | None = None,
        timeout: float | None = None,
        retries: int = RETRIES,
    ) -> RewardSet:
        """Evaluate until there are so many evaluations in all, those of earlier runs included.

        An evaluation that raises an error, ends without a number, takes too long or loses its
        process is tried again elsewhere, then recorded as failed with the reason. Several processes
        may run on one storage, and share the evaluations between them. See `docs/parallel.md`.

        Args:
            evaluations: How many there are to be.
            progress: Whether to show a progress bar, with a line for each worker.
            executor: Who carries out evaluations: a `dask.distributed.Client` or anything with
                `submit`; None for this machine.
            workers: Processes of this machine; by default none, this one evaluates. With an
                `executor`, how many evaluations it carries out at a time.
            timeout: Seconds that an evaluation may take.
            retries: Further attempts at an evaluation that could not be carried out.
        """
        if evaluations < 1:
            raise InvalidInputError(f"evaluations is {evaluations}; expected at least 1")
        if retries < 0:
            raise InvalidInputError(f"retries is {retries}; expected 0 or more")
        crew = make_workers(self.problem, executor, workers, timeout)
        with remembered_interrupts() as raise_if_interrupted:
            with SearchProgress(evaluations, enabled=progress) as bar:
                Driver(self, crew, evaluations, retries, bar).run(raise_if_interrupted)
            return self.result()

    def result(self) -> RewardSet:
        """What is known so far."""
        evaluations = self.evaluations
        if not any(evaluation.ok for evaluation in evaluations):
            reasons = dict.fromkeys(str(evaluation.failure) for evaluation in evaluations)
            raise BoirlError(
                f"none of {len(evaluations)} evaluations succeeded; "
                + ("; ".join(reasons) if reasons else "run or tell some first")
            )
        surrogate = self.sampler.surrogate_after(evaluations)
        return RewardSet(
            self.problem,
            evaluations,
            surrogate,
            asdict(self.settings),
            self.prior,
            self.evidence.preferences,
            self.constraints,
        )

    def _initial(self, design: Design, n_initial: int | None) -> FloatArray:
        """The initial thetas of the study: those it has, or new ones, which are recorded."""
        asked = json.loads(json.dumps(describe_design(self.problem.box, design, n_initial)))
        stored = self.database.attribute(INITIAL)
        if isinstance(stored, dict) and stored.get("design") == asked:
            return self._stored_thetas(stored)
        rng = np.random.default_rng([self.settings.seed, 0, INITIAL_STREAM])
        thetas = initial_thetas(self.problem, design, n_initial, rng)
        wanted = {"design": asked, "thetas": thetas.tolist()}
        self._check_or_record(INITIAL, "initial thetas", wanted)
        return thetas

    def _stored_thetas(self, stored: dict[str, Any]) -> FloatArray:
        try:
            thetas = np.array(stored["thetas"], dtype=np.float64)
            return thetas.reshape(-1, self.problem.box.dimension)
        except (TypeError, ValueError, KeyError) as error:
            raise StorageError(
                f"the initial thetas of the study are damaged ({' '.join(str(error).split())}); "
                "bring back a copy of the database, or name another one"
            ) from error

    def _check_problem(self, problem: Problem[Any]) -> None:
        """Refuse evaluations of another problem; where the difference is plain to see, name it."""
        facts = json.loads(json.dumps(describe_problem(problem)))
        fingerprint = self.evidence.original
        if self.database.record(PROBLEM, fingerprint) != fingerprint:
            raise self._refusal("problem", difference(self.database.attribute(FACTS), facts))
        self.database.record(FACTS, facts)

    def _check_or_record(self, key: str, label: str, value: Any) -> None:
        """Refuse to mix evaluations of two different searches in one study."""
        value = json.loads(json.dumps(value))
        stored = self.database.record(key, value)
        if stored != value:
            raise self._refusal(label, difference(stored, value))

    def _refusal(self, label: str, what: str) -> InvalidInputError:
        return InvalidInputError(
            f"study {self.optuna_study.study_name!r} in {self.storage_name} was made with other "
            f"{label}{what}; ask for the same, or choose another storage or study name"
        )
