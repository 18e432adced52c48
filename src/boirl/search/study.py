"""Ask, evaluate, tell: the loop and its resumption."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import optuna
from optuna.trial import FrozenTrial, TrialState

from boirl.errors import BoirlError, InvalidInputError
from boirl.evaluation import Evaluation
from boirl.interrupts import remembered_interrupts
from boirl.priors import LogDensity, Prior, as_prior
from boirl.problem import Problem
from boirl.results import RewardSet
from boirl.search.acquisitions import ACQUISITIONS
from boirl.search.growth import build_growth
from boirl.search.initial import Design, describe_design, initial_thetas
from boirl.search.passwords import hide_password
from boirl.search.progress import SearchProgress
from boirl.search.records import EvaluationRecords, artifact_folder, is_finished
from boirl.search.sampler import RewardSampler
from boirl.search.settings import INITIAL_STREAM, SearchOptions, SearchSettings
from boirl.search.storage import RELEASED, Owner, is_alive, open_study, storage_errors
from boirl.surrogate.noise import check_standard_errors
from boirl.types import FloatArray

SETTINGS = "boirl:settings"
PROBLEM = "boirl:problem"
INITIAL = "boirl:initial"
ROLLOUTS = "boirl:rollouts"
OWNER = "boirl:owner"
PRIOR = "boirl:prior"

EVALUATION_STREAM = 4
"""An evaluation draws from the stream (seed, number, this)."""


@dataclass(frozen=True)
class Question:
    """A theta that waits for its evaluation."""

    number: int
    theta: tuple[float, ...]


class Study:
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
            be solved for twice; by default beside an SQLite file (`search.artifacts` for
            `search.db`), in the user's cache for other databases, else memory.
        prior: What is believed of theta beforehand: None for the uniform prior,
            `boirl.NormalPrior(mean, sd)`, or a log density in torch; see `boirl.priors`.
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
        artifacts: str | os.PathLike[str] | None = None,
        prior: Prior | LogDensity | None = None,
        **options: Unpack[SearchOptions],
    ) -> None:
        self.problem = problem
        self.prior = as_prior(prior, problem.box)
        self.settings = settings = SearchSettings.from_options(options)
        self.storage = storage
        self._asked: dict[int, optuna.Trial] = {}
        problem.check_reward_varies()
        surrogate = settings.build_surrogate(problem, rollout_policies)
        folder = artifact_folder(storage) if artifacts is None else Path(artifacts)
        with storage_errors(self.storage):
            self.optuna_study = open_study(storage, name or f"boirl-{problem.name}")
            self._check_or_record(PROBLEM, "problem", problem.fingerprint())
            self._check_or_record(SETTINGS, "settings", asdict(settings))
            self._check_or_record(PRIOR, "prior", self.prior.facts(problem.box))
            self._check_or_record(ROLLOUTS, "roll-outs", surrogate.projection.fingerprint())
            first = self._initial(initial, n_initial)
        self.records = EvaluationRecords(problem.box, folder)
        self.sampler = RewardSampler(
            surrogate,
            ACQUISITIONS[settings.acquisition],
            first,
            settings.seed,
            build_growth(problem, surrogate, settings),
            self.records.read,
            self.prior,
        )
        self.optuna_study.sampler = self.sampler
        self._owner = Owner()

    def __repr__(self) -> str:
        where = "memory" if self.storage is None else self.optuna_study.study_name
        return f"Study({self.problem!r}, {len(self.trials)} evaluations in {where})"

    @property
    def storage_name(self) -> str:
        """Where evaluations are kept, for messages: the address without its password."""
        return "memory" if self.storage is None else hide_password(self.storage)

    @property
    def trials(self) -> list[FrozenTrial]:
        """All finished evaluations, failed ones included, in the order they were asked for."""
        with storage_errors(self.storage):
            trials = self.optuna_study.get_trials(
                deepcopy=False, states=(TrialState.COMPLETE, TrialState.FAIL)
            )
        return [trial for trial in trials if is_finished(trial, self.problem.box)]

    @property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """All finished evaluations, whole, in the order they were asked for."""
        with storage_errors(self.storage):
            return tuple(self.records.read(trial) for trial in self.trials)

    def ask(self) -> Question:
        """The theta to evaluate next. One that a killed process left behind comes first."""
        box = self.problem.box
        bounds = zip(box.names, box.low.tolist(), box.high.tolist(), strict=True)
        with storage_errors(self.storage):
            trial = self._abandoned() or self._new_trial()
            self._asked[trial.number] = trial
            with self._released_if_interrupted(trial.number):
                theta = tuple(trial.suggest_float(name, low, high) for name, low, high in bounds)
        return Question(trial.number, theta)

    def tell(self, question: Question, evaluation: Evaluation | float) -> None:
        """Record an evaluation, or an NLL alone; durable when this returns."""
        trial = self._asked.get(question.number)
        if trial is None:
            raise InvalidInputError(
                f"evaluation {question.number} was reported before, or never asked for by this "
                "study; tell each question of ask() once"
            )
        if not isinstance(evaluation, Evaluation):
            evaluation = Evaluation(question.theta, float(evaluation))
        if evaluation.theta != question.theta:
            raise InvalidInputError(
                f"the evaluation is of theta {evaluation.theta}; expected that of the question, "
                f"{question.theta}"
            )
        if evaluation.ok:
            check_standard_errors([evaluation.nll_se], 1)
        with storage_errors(self.storage), suppress(optuna.exceptions.UpdateFinishedTrialError):
            # Suppressed: another process took this one for abandoned, and was quicker.
            self.records.write(trial, evaluation)
            if evaluation.ok:
                self.optuna_study.tell(trial, evaluation.nll)
            else:
                self.optuna_study.tell(trial, state=TrialState.FAIL)
        del self._asked[question.number]

    def run(self, evaluations: int, progress: bool = False) -> RewardSet:
        """Evaluate until there are so many evaluations in all, those of earlier runs included.

        Several processes may run on one storage; each ends when it sees enough, so that there may
        be a few more in the end, one for each further process at most.
        """
        if evaluations < 1:
            raise InvalidInputError(f"evaluations is {evaluations}; expected at least 1")
        with (
            remembered_interrupts() as raise_if_interrupted,
            SearchProgress(evaluations, enabled=progress) as bar,
        ):
            for trial in self.trials:
                bar.advance(trial.value, resumed=True)
            while len(self.trials) < evaluations:
                question = self.ask()
                seed = evaluation_seed(self.settings.seed, question.number)
                bar.begin(question.number)
                with self._released_if_interrupted(question.number):
                    evaluation = self.problem.evaluate(question.theta, seed, bar.report)
                    self.tell(question, evaluation)
                bar.advance(evaluation.nll if evaluation.ok else None)
                raise_if_interrupted()
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
        return RewardSet(self.problem, evaluations, surrogate, asdict(self.settings), self.prior)

    def _initial(self, design: Design, n_initial: int | None) -> FloatArray:
        """The initial thetas of the study: those it has, or new ones, which are recorded."""
        asked = json.loads(json.dumps(describe_design(self.problem.box, design, n_initial)))
        stored = self.optuna_study.user_attrs.get(INITIAL)
        if stored is not None and stored["design"] == asked:
            return np.array(stored["thetas"], dtype=np.float64)
        rng = np.random.default_rng([self.settings.seed, 0, INITIAL_STREAM])
        thetas = initial_thetas(self.problem, design, n_initial, rng)
        wanted = {"design": asked, "thetas": thetas.tolist()}
        self._check_or_record(INITIAL, "initial thetas", wanted)
        return thetas

    @contextmanager
    def _released_if_interrupted(self, number: int) -> Iterator[None]:
        """Let the next ask, here or after a restart, take up what is interrupted inside."""
        try:
            yield
        except BaseException:
            trial = self._asked.pop(number, None)
            if trial is not None:
                with suppress(Exception):
                    trial.set_user_attr(OWNER, RELEASED)
            raise

    def _new_trial(self) -> optuna.Trial:
        """A trial that has its owner from the start, so that no other process takes it over."""
        template = optuna.trial.create_trial(
            state=TrialState.RUNNING, user_attrs={OWNER: self._owner.record()}
        )
        study = self.optuna_study
        number = study._storage.create_new_trial(study._study_id, template_trial=template)
        return optuna.Trial(study, number)

    def _abandoned(self) -> optuna.Trial | None:
        """A trial whose process has gone, taken over; its theta follows from the same seed."""
        running = self.optuna_study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        for trial in running:
            if trial.number not in self._asked and not is_alive(trial.user_attrs.get(OWNER)):
                taken_over = optuna.Trial(self.optuna_study, trial._trial_id)
                taken_over.set_user_attr(OWNER, self._owner.record())
                return taken_over
        return None

    def _check_or_record(self, key: str, label: str, value: Any) -> None:
        """Refuse to mix evaluations of two different searches in one study."""
        value = json.loads(json.dumps(value))
        stored = self.optuna_study.user_attrs.get(key)
        if stored is None:
            self.optuna_study.set_user_attr(key, value)
        elif stored != value:
            raise InvalidInputError(
                f"study {self.optuna_study.study_name!r} in {self.storage_name} was made with "
                f"other {label}{_difference(stored, value)}; ask for the same, or choose another "
                "storage or study name"
            )


def explore(
    problem: Problem[Any],
    evaluations: int = 40,
    initial: Design = "sobol",
    storage: str | None = None,
    progress: bool = False,
    n_initial: int | None = None,
    name: str | None = None,
    rollout_policies: Sequence[Any] = (),
    artifacts: str | os.PathLike[str] | None = None,
    prior: Prior | LogDensity | None = None,
    **options: Unpack[SearchOptions],
) -> RewardSet:
    """Search for the rewards that explain the demonstrations, and return all that do.

    Args:
        problem: What to explain.
        evaluations: Policy optimisations in all, initial ones included.
        initial: Thetas to start from, or a design: `"sobol"` or `"hard"`.
        storage: A database to keep the evaluations in and to resume from, such as
            `"sqlite:///search.db"`.
        progress: Whether to show a progress bar.
        n_initial: As of `Study`, and so are the following ones.
        name: Name of the study.
        rollout_policies: Policies that the roll-outs of the projection come from.
        artifacts: Folder for the policies and the likelihoods of evaluations.
        prior: What is believed of theta beforehand; by default nothing.
        **options: See `SearchSettings`: `kernel`, `seed` and others.
    """
    study = Study(
        problem,
        initial=initial,
        n_initial=n_initial,
        storage=storage,
        name=name,
        rollout_policies=rollout_policies,
        artifacts=artifacts,
        prior=prior,
        **options,
    )
    return study.run(evaluations, progress=progress)


def evaluation_seed(seed: int, number: int) -> int:
    """The seed of an evaluation: another one for each, so that repeats are independent."""
    return int(np.random.SeedSequence([seed, number, EVALUATION_STREAM]).generate_state(1)[0])


def _difference(stored: Any, wanted: Any) -> str:
    """What differs between two records, where they are short enough to print."""
    if not isinstance(wanted, dict) or "thetas" in wanted:
        return ""
    keys = [key for key in wanted if stored.get(key) != wanted[key]]
    return ": " + ", ".join(f"{key} was {stored.get(key)!r}, now {wanted[key]!r}" for key in keys)
