"""The search as an Optuna sampler, so that every Optuna tool works on a study of rewards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, TrialState

from boirl.acquisitions import Acquisition, random
from boirl.surrogates import FittedSurrogate, Hyperparameters, Surrogate
from boirl.threads import single_thread
from boirl.types import Box, FloatArray

HYPERPARAMETERS = "boirl:hyperparameters"
FITTED_AT = "boirl:fitted_at"
EVALUATION = "boirl:evaluation"
PURPOSE = "boirl:purpose"

ALWAYS_REFIT_BELOW = 10
REFIT_GROWTH = 1.1
"""Hyperparameters are fitted anew at every evaluation of a short study, and later whenever the
evaluations have become a tenth more."""


@dataclass(frozen=True)
class Observations:
    """Finished evaluations: thetas `n x d`, NLLs `n`, and their standard errors, 0 if unknown."""

    thetas: FloatArray
    nll: FloatArray
    nll_se: FloatArray


class RewardSampler(BaseSampler):
    """Proposes thetas: first the initial ones, then what the acquisition asks for.

    The proposal for a trial depends on the seed, the number of the trial and the evaluations in
    the storage, and on nothing that lives in this object. A search that is interrupted and
    resumed goes on exactly as it would have.

    Args:
        surrogate: Models the NLL.
        grow: Gives the surrogate to use after evaluations of thetas `n x d`, where it changes.
        acquisition: Chooses the next theta.
        initial: Thetas to evaluate first, `n x d`.
        seed: Seeds every random choice.
    """

    def __init__(
        self,
        surrogate: Surrogate,
        acquisition: Acquisition,
        initial: FloatArray,
        seed: int,
        grow: Callable[[FloatArray], Surrogate] | None = None,
    ) -> None:
        self.surrogate = surrogate
        self.grow = grow
        self.acquisition = acquisition
        self.initial = initial
        self.seed = seed

    @property
    def box(self) -> Box:
        return self.surrogate.box

    def infer_relative_search_space(
        self, study: optuna.Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        return search_space(self.box)

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        with single_thread():
            theta, attributes = self._propose(study, trial)
        for key, value in attributes.items():
            study._storage.set_trial_system_attr(trial._trial_id, key, value)
        return dict(zip(self.box.names, theta.tolist(), strict=True))

    def sample_independent(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        raise ValueError(
            f"there is no parameter {param_name!r} in this study; expected one of "
            f"{', '.join(self.box.names)} with the bounds of the reward family"
        )

    def _propose(
        self, study: optuna.Study, trial: FrozenTrial
    ) -> tuple[FloatArray, dict[str, Any]]:
        if trial.number < len(self.initial):
            return self.initial[trial.number], {PURPOSE: "initial"}
        rng = np.random.default_rng([self.seed, trial.number])
        others = [
            other for other in study.get_trials(deepcopy=False) if other.number != trial.number
        ]
        observed = observations(others, self.box)
        if self.acquisition is random or len(observed.nll) == 0:
            return self.box.from_unit(rng.random(self.box.dimension)), {PURPOSE: "random"}
        surrogate = self.surrogate_after(others)
        fitted, attributes = self._fit(surrogate, others, observed)
        pending = pending_thetas(others, self.box)
        if len(pending):
            # Running evaluations are taken to come out as expected, so that the next proposal
            # goes elsewhere. Their standard error is not known yet.
            believed, _ = fitted.posterior(pending)
            observed = Observations(
                np.concatenate([observed.thetas, pending]),
                np.concatenate([observed.nll, believed]),
                np.concatenate([observed.nll_se, np.zeros(len(pending))]),
            )
            fitted = surrogate.build(
                observed.thetas,
                observed.nll,
                fitted.hyperparameters,
                nll_se=observed.nll_se,
            )
        unit, purpose = self.acquisition(fitted, rng)
        return self.box.from_unit(unit), {**attributes, PURPOSE: purpose}

    def surrogate_after(self, trials: list[FrozenTrial]) -> Surrogate:
        """The surrogate that the evaluations in a study call for."""
        if self.grow is None:
            return self.surrogate
        solved = [theta_of(t, self.box) for t in trials if t.state == TrialState.COMPLETE]
        return self.grow(np.array(solved).reshape(-1, self.box.dimension))

    def _fit(
        self, surrogate: Surrogate, trials: list[FrozenTrial], observed: Observations
    ) -> tuple[FittedSurrogate, dict[str, Any]]:
        last: Hyperparameters | None = None
        fitted_at = 0
        for trial in trials:
            if HYPERPARAMETERS in trial.system_attrs:
                last = trial.system_attrs[HYPERPARAMETERS]
                fitted_at = trial.system_attrs[FITTED_AT]
        size = len(observed.nll)
        if last is not None and ALWAYS_REFIT_BELOW <= size < REFIT_GROWTH * fitted_at:
            return surrogate.build(observed.thetas, observed.nll, last, nll_se=observed.nll_se), {}
        fitted = surrogate.fit(observed.thetas, observed.nll, last, observed.nll_se)
        return fitted, {HYPERPARAMETERS: fitted.hyperparameters, FITTED_AT: size}


def search_space(box: Box) -> dict[str, BaseDistribution]:
    """The box as Optuna distributions."""
    return {
        name: FloatDistribution(float(low), float(high))
        for name, low, high in zip(box.names, box.low, box.high, strict=True)
    }


def theta_of(trial: FrozenTrial, box: Box) -> FloatArray:
    """The theta of a trial, `d`."""
    return np.array([trial.params[name] for name in box.names])


def observations(trials: list[FrozenTrial], box: Box) -> Observations:
    """What finished trials told. A failed one counts as the worst NLL seen, lest it be retried."""
    finished = [t for t in trials if t.state in (TrialState.COMPLETE, TrialState.FAIL)]
    finished = [t for t in finished if len(t.params) == box.dimension]
    values = [t.value if t.state == TrialState.COMPLETE else None for t in finished]
    known = [value for value in values if value is not None]
    if not known:
        return Observations(np.empty((0, box.dimension)), np.empty(0), np.empty(0))
    nll = np.array([max(known) if value is None else value for value in values])
    nll_se = np.array([standard_error_of(trial) for trial in finished])
    return Observations(np.array([theta_of(t, box) for t in finished]), nll, nll_se)


def standard_error_of(trial: FrozenTrial) -> float:
    """The standard error of what a trial told, 0 where unknown; that of a failed one never is."""
    if trial.state != TrialState.COMPLETE:
        return 0.0
    return float(trial.user_attrs.get(EVALUATION, {}).get("nll_se", 0.0))


def pending_thetas(trials: list[FrozenTrial], box: Box) -> FloatArray:
    """Thetas under evaluation somewhere, `n x d`."""
    running = [
        theta_of(t, box)
        for t in trials
        if t.state == TrialState.RUNNING and len(t.params) == box.dimension
    ]
    return np.array(running).reshape(-1, box.dimension)
