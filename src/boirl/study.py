"""Ask, evaluate, tell: the loop, its storage and its resumption."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import optuna
from optuna.trial import FrozenTrial, TrialState

from boirl.acquisitions import get_acquisition
from boirl.errors import BoirlError, InvalidInputError, StorageError
from boirl.growth import GrowingRollouts
from boirl.initial import Design, initial_thetas
from boirl.problem import Problem
from boirl.progress import SearchProgress
from boirl.projections import (
    Identity,
    LogRho,
    Projection,
    Rho,
    choose_demonstrations,
    sample_rollouts,
)
from boirl.sampler import RewardSampler, theta_of
from boirl.solutions import RewardSet
from boirl.surrogates import Surrogate, get_kernel
from boirl.types import Evaluation

SETTINGS = "boirl:settings"
PROBLEM = "boirl:problem"
INITIAL = "boirl:initial"
ROLLOUTS = "boirl:rollouts"
OWNER = "boirl:owner"
EVALUATION = "boirl:evaluation"
RELEASED = "released"

# A proposal draws from the stream (seed, number); these are of other streams of the same seed.
PROJECTION_STREAM, INITIAL_STREAM = 1, 2

PROJECTIONS: dict[str, type[LogRho]] = {"log_rho": LogRho, "rho": Rho}


@dataclass(frozen=True)
class SearchSettings:
    """Everything that decides which thetas a search proposes; kept with the study.

    Args:
        kernel: `"rho-rbf"`, `"rbf"` or `"matern"`.
        acquisition: `"improve-explore"`, `"log-ei"` or `"random"`.
        projection: `"log_rho"` or, as in the text of the paper, `"rho"`; used by `"rho-rbf"`.
        n_demonstrations: `K`, the demonstrations in the projection.
        n_rollouts: `M`, the roll-outs that each is compared with.
        rollouts: `"uniform"`: of the uniform policy (or those of `rollout_policies`); `"solved"`:
            of the policies of rewards evaluated, too; `"auto"`: the latter where the former are
            saturated.
        smoothness: `nu` of the Matern kernel, 1.5 (default) or 2.5.
        linear: Whether a linear kernel is added; by default for `"rho-rbf"` alone.
        seed: Seeds every random choice.
    """

    kernel: str = "rho-rbf"
    acquisition: str = "improve-explore"
    projection: str = "log_rho"
    n_demonstrations: int = 10
    n_rollouts: int = 5
    rollouts: str = "auto"
    smoothness: float | None = None
    linear: bool | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        get_kernel(self.kernel, self.smoothness, self.linear)
        get_acquisition(self.acquisition)
        if self.projection not in PROJECTIONS:
            raise InvalidInputError(
                f"there is no projection {self.projection!r}; expected one of "
                f"{', '.join(PROJECTIONS)}"
            )
        if self.rollouts not in ("auto", "uniform", "solved"):
            raise InvalidInputError(
                f"rollouts is {self.rollouts!r}; expected 'auto', 'uniform' or 'solved'"
            )
        for name, least in (("seed", 0), ("n_demonstrations", 1), ("n_rollouts", 1)):
            value = getattr(self, name)
            if int(value) != value or value < least:
                raise InvalidInputError(
                    f"{name} is {value}; expected a whole number from {least} on"
                )
            object.__setattr__(self, name, int(value))

    def build_surrogate(self, problem: Problem[Any], policies: Sequence[Any] = ()) -> Surrogate:
        """Draw demonstrations and roll-outs (phase 1 of the paper) and make the surrogate."""
        kernel = get_kernel(self.kernel, self.smoothness, self.linear)
        projection: Projection = Identity(problem.box)
        if kernel.projected:
            rng = np.random.default_rng([self.seed, 0, PROJECTION_STREAM])
            chosen = choose_demonstrations(problem.demonstrations, self.n_demonstrations, rng)
            rollouts = sample_rollouts(problem, chosen, self.n_rollouts, rng, policies)
            projection = PROJECTIONS[self.projection](problem, chosen, rollouts)
        return Surrogate(kernel, projection, problem.box)


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
        **settings: See `SearchSettings`.

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
        **settings: Any,
    ) -> None:
        self.problem = problem
        self.settings = _settings(settings)
        self.storage = storage
        self._asked: dict[int, optuna.Trial] = {}
        surrogate = self.settings.build_surrogate(problem, rollout_policies)
        grow = self._growth(surrogate)
        rng = np.random.default_rng([self.settings.seed, 0, INITIAL_STREAM])
        first = initial_thetas(problem, initial, n_initial, rng)
        sampler = RewardSampler(
            surrogate, get_acquisition(self.settings.acquisition), first, self.settings.seed, grow
        )
        with self._storage_errors():
            self.optuna_study = _open_study(storage, name or f"boirl-{problem.name}", sampler)
            self._check_or_record(PROBLEM, "problem", problem.fingerprint())
            self._check_or_record(SETTINGS, "settings", asdict(self.settings))
            self._check_or_record(ROLLOUTS, "roll-outs", surrogate.projection.fingerprint())
            self._check_or_record(INITIAL, "initial thetas", first.tolist())
        self.sampler = sampler
        self._token = uuid.uuid4().hex
        _LIVE[self._token] = self

    @property
    def trials(self) -> list[FrozenTrial]:
        """All finished evaluations, failed ones included, in the order they were asked for."""
        with self._storage_errors():
            return self.optuna_study.get_trials(
                deepcopy=False, states=(TrialState.COMPLETE, TrialState.FAIL)
            )

    def ask(self) -> Question:
        """The theta to evaluate next. One that a killed process left behind comes first."""
        with self._storage_errors():
            trial = self._abandoned() or self._new_trial()
            box = self.problem.box
            theta = tuple(
                trial.suggest_float(name, low, high)
                for name, low, high in zip(
                    box.names, box.low.tolist(), box.high.tolist(), strict=True
                )
            )
        self._asked[trial.number] = trial
        return Question(trial.number, theta)

    def tell(self, question: Question, evaluation: Evaluation | float) -> None:
        """Record what came out; durable when this returns."""
        trial = self._asked.get(question.number)
        if trial is None:
            raise InvalidInputError(
                f"evaluation {question.number} was told before, or never asked for by this study; "
                "tell each question of ask() once"
            )
        if not isinstance(evaluation, Evaluation):
            evaluation = Evaluation(question.theta, float(evaluation))
        failure = evaluation.failure
        if failure is None and not np.isfinite(evaluation.nll):
            failure = f"the NLL is {evaluation.nll}; expected a finite number"
        record = {"nll_se": evaluation.nll_se, "seconds": evaluation.seconds, "failure": failure}
        with self._storage_errors(), suppress(optuna.exceptions.UpdateFinishedTrialError):
            # Suppressed: another process took this one for abandoned, and was quicker.
            trial.set_user_attr(EVALUATION, record)
            if failure is None:
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
        with SearchProgress(evaluations, enabled=progress) as bar:
            for trial in self.trials:
                bar.advance(trial.value, resumed=True)
            while len(self.trials) < evaluations:
                question = self.ask()
                try:
                    evaluation = self.problem.evaluate(question.theta, seed=self.settings.seed)
                except BaseException:
                    # Interrupted: the next ask, here or after a restart, takes it up again.
                    self._asked.pop(question.number).set_user_attr(OWNER, RELEASED)
                    raise
                self.tell(question, evaluation)
                bar.advance(evaluation.nll if evaluation.ok else None)
        return self.result()

    def result(self) -> RewardSet:
        """What is known so far."""
        box = self.problem.box
        trials = self.trials
        if not any(trial.state == TrialState.COMPLETE for trial in trials):
            reasons = {_record(trial).get("failure") for trial in trials}
            raise BoirlError(
                f"none of {len(trials)} evaluations succeeded; "
                + ("; ".join(map(str, reasons)) if reasons else "run or tell some first")
            )
        return RewardSet(
            problem=self.problem,
            surrogate=self.sampler.surrogate_after(trials),
            settings=asdict(self.settings),
            thetas=np.array([theta_of(trial, box) for trial in trials]),
            nll=np.array(
                [t.value if t.state == TrialState.COMPLETE else np.nan for t in trials],
                dtype=np.float64,
            ),
            seconds=np.array([_record(trial).get("seconds", np.nan) for trial in trials]),
            failures=tuple(_record(trial).get("failure") for trial in trials),
        )

    def _growth(self, surrogate: Surrogate) -> GrowingRollouts | None:
        """What makes the projection grow, where it is to."""
        if not surrogate.kernel.projected:
            return None
        growing = self.settings.rollouts == "solved" or (
            self.settings.rollouts == "auto" and surrogate.projection.is_saturated(self.problem.box)
        )
        if growing:
            return GrowingRollouts(self.problem, surrogate, self.settings.seed)
        surrogate.projection.warn_if_saturated(self.problem.box)
        return None

    def _new_trial(self) -> optuna.Trial:
        """A trial that has its owner from the very start, lest another process take it over."""
        template = optuna.trial.create_trial(
            state=TrialState.RUNNING, user_attrs={OWNER: self._owner()}
        )
        study = self.optuna_study
        number = study._storage.create_new_trial(study._study_id, template_trial=template)
        return optuna.Trial(study, number)

    def _owner(self) -> dict[str, Any]:
        pid = os.getpid()
        return {
            "host": socket.gethostname(),
            "pid": pid,
            "started": _start_time(pid),
            "study": self._token,
        }

    def _abandoned(self) -> optuna.Trial | None:
        """A trial whose process has gone, taken over; its theta follows from the same seed."""
        running = self.optuna_study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        for trial in running:
            if trial.number not in self._asked and not _is_alive(trial.user_attrs.get(OWNER)):
                taken_over = optuna.Trial(self.optuna_study, trial._trial_id)
                taken_over.set_user_attr(OWNER, self._owner())
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
                f"study {self.optuna_study.study_name!r} in {self.storage} was made with other "
                f"{label}{_difference(stored, value)}; ask for the same, or choose another storage "
                "or study name"
            )

    @contextmanager
    def _storage_errors(self) -> Iterator[None]:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            yield
        except (
            SQLAlchemyError,
            ImportError,
            optuna.exceptions.StorageInternalError,
            sqlite3.Error,
        ) as error:
            cause = getattr(error, "orig", None) or error.__cause__ or error
            reason = str(getattr(cause, "orig", None) or cause).splitlines()[0]
            raise StorageError(
                f"the storage {self.storage} cannot be used ({reason}); evaluations finished "
                "before are kept. Check that the file is an Optuna database, that its folder is "
                "writable and that the disk is not full, then run again to resume"
            ) from error


def explore(
    problem: Problem[Any],
    evaluations: int = 40,
    kernel: str = "rho-rbf",
    seed: int = 0,
    initial: Design = "sobol",
    storage: str | None = None,
    progress: bool = False,
    **options: Any,
) -> RewardSet:
    """Search for the rewards that explain the demonstrations, and return all that do.

    Args:
        problem: What to explain.
        evaluations: Policy optimisations in all, initial ones included.
        kernel: `"rho-rbf"`, `"rbf"` or `"matern"`.
        seed: Seeds every random choice; two runs with one seed agree.
        initial: Thetas to start from, or a design: `"sobol"` or `"hard"`.
        storage: A database to keep the evaluations in and to resume from, such as
            `"sqlite:///search.db"`.
        progress: Whether to show a progress bar.
        **options: Further arguments of `Study`.
    """
    study = Study(problem, kernel=kernel, seed=seed, initial=initial, storage=storage, **options)
    return study.run(evaluations, progress=progress)


def _settings(given: dict[str, Any]) -> SearchSettings:
    unknown = set(given) - set(SearchSettings.__dataclass_fields__)
    if unknown:
        raise InvalidInputError(
            f"there is no setting {', '.join(sorted(unknown))}; expected some of "
            f"{', '.join(SearchSettings.__dataclass_fields__)}"
        )
    return SearchSettings(**given)


def _open_study(storage: str | None, name: str, sampler: RewardSampler) -> optuna.Study:
    if storage is not None and "://" not in storage:
        raise InvalidInputError(
            f"the storage is {storage!r}; expected a database address such as 'sqlite:///search.db'"
        )
    if storage is not None and storage.startswith("sqlite:///"):
        folder = Path(storage.removeprefix("sqlite:///")).resolve().parent
        if not folder.is_dir():
            raise InvalidInputError(f"the folder {str(folder)!r} of the storage does not exist")
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(
            storage=storage, study_name=name, sampler=sampler, load_if_exists=True
        )
    finally:
        optuna.logging.set_verbosity(verbosity)


def _record(trial: FrozenTrial) -> dict[str, Any]:
    return dict(trial.user_attrs.get(EVALUATION, {}))


def _difference(stored: Any, wanted: Any) -> str:
    """What differs between two records, where they are short enough to print."""
    if not isinstance(wanted, dict):
        return ""
    keys = [key for key in wanted if stored.get(key) != wanted[key]]
    return ": " + ", ".join(f"{key} was {stored.get(key)!r}, now {wanted[key]!r}" for key in keys)


def _start_time(pid: int) -> str:
    """Tells two processes apart that were given one number; empty where the system can't say."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _is_alive(owner: dict[str, Any] | str | None) -> bool:
    """Whether the owner of a trial may still be at work.

    Owners on other machines, and those that are not studies of boirl, are given the benefit of the
    doubt.
    """
    if owner is None or isinstance(owner, str):
        return owner != RELEASED
    if owner["host"] != socket.gethostname():
        return True
    if owner["pid"] == os.getpid() and owner["started"] == _start_time(os.getpid()):
        return owner["study"] in _LIVE
    try:
        os.kill(owner["pid"], 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return bool(owner["started"] == _start_time(owner["pid"]))


_LIVE: WeakValueDictionary[str, Study] = WeakValueDictionary()
"""The studies of this process, by the token that marks their evaluations."""
