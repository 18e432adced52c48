"""Ask, evaluate, tell: the loop and its resumption."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.trial import FrozenTrial, TrialState

from boirl.acquisitions import get_acquisition
from boirl.errors import BoirlError, InvalidInputError
from boirl.growth import ROLLOUTS_A_POLICY, ROLLOUTS_IF_SATURATED, GrowingRollouts
from boirl.initial import Design, initial_thetas
from boirl.interrupts import remembered_interrupts
from boirl.noise import check_standard_errors
from boirl.problem import Problem
from boirl.progress import SearchProgress
from boirl.sampler import EVALUATION, RewardSampler, standard_error_of, theta_of
from boirl.settings import SearchSettings
from boirl.solutions import RewardSet
from boirl.storage import RELEASED, Owner, is_alive, open_study, storage_errors
from boirl.surrogates import Surrogate
from boirl.types import Evaluation

SETTINGS = "boirl:settings"
PROBLEM = "boirl:problem"
INITIAL = "boirl:initial"
ROLLOUTS = "boirl:rollouts"
OWNER = "boirl:owner"

MANY_PARAMETERS = 8
"""From so many parameters on, the policies of evaluated rewards join the projection."""

INITIAL_STREAM = 2
"""The initial design draws from the stream (seed, 0, this)."""

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
        policies: Folder for policies that a problem learns, so that they can be rolled out later;
            by default beside an SQLite file (`search.policies` for `search.db`), else in memory.
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
        policies: str | os.PathLike[str] | None = None,
        **settings: Any,
    ) -> None:
        folder = _policy_folder(storage) if policies is None else Path(policies)
        self.problem = problem = problem if folder is None else problem.with_policies(folder)
        self.settings = SearchSettings.from_options(settings)
        self.storage = storage
        self._asked: dict[int, optuna.Trial] = {}
        surrogate = self.settings.build_surrogate(problem, rollout_policies)
        grow = self._growth(surrogate)
        rng = np.random.default_rng([self.settings.seed, 0, INITIAL_STREAM])
        first = initial_thetas(problem, initial, n_initial, rng)
        sampler = RewardSampler(
            surrogate, get_acquisition(self.settings.acquisition), first, self.settings.seed, grow
        )
        with storage_errors(self.storage):
            self.optuna_study = open_study(storage, name or f"boirl-{problem.name}", sampler)
            self._check_or_record(PROBLEM, "problem", problem.fingerprint())
            self._check_or_record(SETTINGS, "settings", asdict(self.settings))
            self._check_or_record(ROLLOUTS, "roll-outs", surrogate.projection.fingerprint())
            self._check_or_record(INITIAL, "initial thetas", first.tolist())
        self.sampler = sampler
        self._owner = Owner()

    @property
    def trials(self) -> list[FrozenTrial]:
        """All finished evaluations, failed ones included, in the order they were asked for."""
        with storage_errors(self.storage):
            return self.optuna_study.get_trials(
                deepcopy=False, states=(TrialState.COMPLETE, TrialState.FAIL)
            )

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
        if failure is None:
            check_standard_errors([evaluation.nll_se], 1)
        if failure is None and not np.isfinite(evaluation.nll):
            failure = f"the NLL is {evaluation.nll}; expected a finite number"
        record = {"nll_se": evaluation.nll_se, "seconds": evaluation.seconds, "failure": failure}
        with storage_errors(self.storage), suppress(optuna.exceptions.UpdateFinishedTrialError):
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
            nll_se=np.array([standard_error_of(trial) for trial in trials]),
        )

    def _growth(self, surrogate: Surrogate) -> GrowingRollouts | None:
        """What makes the projection grow, where it is to."""
        if not surrogate.kernel.projected:
            return None
        wanted, problem = self.settings.rollouts, self.problem
        if wanted == "auto" and (problem.learns or problem.box.dimension >= MANY_PARAMETERS):
            wanted = "solved"
        projection = surrogate.projection
        # Roll-outs that will be joined by better ones are not worth a warning.
        check = projection.warn_if_saturated if wanted == "uniform" else projection.is_saturated
        saturated = check(problem.box)
        if wanted == "uniform" or (wanted == "auto" and not saturated):
            return None
        count = ROLLOUTS_IF_SATURATED if saturated else ROLLOUTS_A_POLICY
        return GrowingRollouts(problem, surrogate, self.settings.seed, count)

    @contextmanager
    def _released_if_interrupted(self, number: int) -> Iterator[None]:
        """Let the next ask, here or after a restart, take up what is interrupted inside."""
        try:
            yield
        except BaseException:
            trial = self._asked.pop(number)
            with suppress(Exception):
                trial.set_user_attr(OWNER, RELEASED)
            raise

    def _new_trial(self) -> optuna.Trial:
        """A trial that has its owner from the very start, lest another process take it over."""
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
                f"study {self.optuna_study.study_name!r} in {self.storage} was made with other "
                f"{label}{_difference(stored, value)}; ask for the same, or choose another storage "
                "or study name"
            )


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


def evaluation_seed(seed: int, number: int) -> int:
    """The seed of an evaluation: another one for each, so that repeats are independent."""
    return int(np.random.SeedSequence([seed, number, EVALUATION_STREAM]).generate_state(1)[0])


def _policy_folder(storage: str | None) -> Path | None:
    if storage is None or not storage.startswith("sqlite:///"):
        return None
    file = storage.removeprefix("sqlite:///")
    return None if file in ("", ":memory:") else Path(file).with_suffix(".policies")


def _record(trial: FrozenTrial) -> dict[str, Any]:
    return dict(trial.user_attrs.get(EVALUATION, {}))


def _difference(stored: Any, wanted: Any) -> str:
    """What differs between two records, where they are short enough to print."""
    if not isinstance(wanted, dict):
        return ""
    keys = [key for key in wanted if stored.get(key) != wanted[key]]
    return ": " + ", ".join(f"{key} was {stored.get(key)!r}, now {wanted[key]!r}" for key in keys)
