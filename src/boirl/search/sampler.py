"""The search as an Optuna sampler, so that every Optuna tool works on a study of rewards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, TrialState

from boirl.evaluation import Evaluation
from boirl.priors import UNIFORM, Prior
from boirl.problem import Problem
from boirl.search.acquisitions import ACQUISITIONS, Acquisition, Proposal, random, resolve
from boirl.search.descent import is_off, quasi_newton_step
from boirl.search.growth import build_growth
from boirl.search.initial import initial_thetas
from boirl.search.records import evaluation_of, is_finished, theta_of
from boirl.search.settings import INITIAL_STREAM, SearchOptions, SearchSettings
from boirl.surrogate import FittedSurrogate, Observations, Surrogate
from boirl.threads import single_thread
from boirl.types import Box, FloatArray

FIT = "boirl:fit"
PURPOSE = "boirl:purpose"
PREDICTED = "boirl:predicted"
DESCEND = "descend"

REFIT_GROWTH = 1.2
"""Hyperparameters are refitted when there are a fifth more evaluations than at the last fit."""

Grow = Callable[[Sequence[Evaluation]], Surrogate]
"""Gives the surrogate to use after some evaluations."""


class RewardSampler(BaseSampler):
    """Proposes thetas: first the initial ones, then what the acquisition asks for.

    The proposal for a trial depends on the seed, the number of the trial and the evaluations in
    the storage, and on nothing that lives in this object. A search that is interrupted and
    resumed goes on exactly as it would have.

    Args:
        surrogate: Models the NLL.
        acquisition: Chooses the next theta.
        initial: Thetas to evaluate first, `n x d`.
        seed: Seeds every random choice.
        grow: Gives the surrogate to use after some evaluations, where it changes.
        read: Gives the evaluation of a finished trial; by default what its database knows.
        prior: What is believed of theta beforehand.
    """

    def __init__(
        self,
        surrogate: Surrogate,
        acquisition: Acquisition,
        initial: FloatArray,
        seed: int,
        grow: Grow | None = None,
        read: Callable[[FrozenTrial], Evaluation] | None = None,
        prior: Prior = UNIFORM,
    ) -> None:
        self.surrogate = surrogate
        self.grow = grow
        self.acquisition = acquisition
        self.initial = initial
        self.seed = seed
        self.prior = prior
        self.read = read or partial(evaluation_of, box=surrogate.box)

    @classmethod
    def for_problem(cls, problem: Problem[Any], **options: Unpack[SearchOptions]) -> RewardSampler:
        """The sampler of a search with these settings, for a study that is run with Optuna alone.

        Such a study keeps no policies, so that the projection does not grow where they are learned.

        Example:
            >>> study = optuna.create_study(sampler=RewardSampler.for_problem(problem, seed=1))
        """
        settings = SearchSettings.from_options(options)
        surrogate = settings.build_surrogate(problem)
        rng = np.random.default_rng([settings.seed, 0, INITIAL_STREAM])
        return cls(
            surrogate,
            ACQUISITIONS[settings.acquisition],
            initial_thetas(problem, "sobol", None, rng),
            settings.seed,
            None if problem.is_model_free else build_growth(problem, surrogate, settings),
        )

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
        done = [other for other in others if is_finished(other, self.box)]
        finished = [self.read(other) for other in done]
        observed = Observations.of(finished)
        if self.acquisition is random or len(observed) == 0:
            return self.box.from_unit(rng.random(self.box.dimension)), {PURPOSE: "random"}
        surrogate = self.surrogate_after(finished)
        fitted, attributes = self._fit(surrogate, others, observed)
        pending = pending_thetas(others, self.box)
        if len(pending):
            # Running evaluations are taken to come out as expected, so that the next proposal
            # goes elsewhere. Their standard error is not known yet.
            believed, _ = fitted.posterior(pending)
            fitted = _build(
                surrogate, observed.joined_by(pending, believed), fitted.hyperparameters
            )
        # Two steps down from the same best would be one and the same.
        descent = None if len(pending) else self._descend(done, observed)
        unit, purpose = descent or self.acquisition(replace(fitted, prior=self.prior), rng)
        theta = self.box.from_unit(unit)
        mean, sd = fitted.posterior(theta[None], observed=True)
        predicted = [float(mean[0]), float(sd[0])]
        return theta, {**attributes, PURPOSE: purpose, PREDICTED: predicted}

    def _descend(self, done: list[FrozenTrial], observed: Observations) -> Proposal | None:
        """A quasi-Newton step, where the last prediction was off and there is a way down."""
        last = max(done, key=lambda trial: trial.number)
        predicted = last.system_attrs.get(PREDICTED)
        if self.acquisition is not resolve or predicted is None:
            return None
        nll = float("nan") if last.value is None else last.value
        n = self.surrogate.n_demonstrations
        if not is_off(predicted, nll, n, self.box.dimension):
            return None
        best = min((t for t in done if t.value is not None), key=lambda trial: trial.value or 0.0)
        tried = sum(
            trial.number > best.number and trial.system_attrs.get(PURPOSE) == DESCEND
            for trial in done
        )
        unit = quasi_newton_step(observed, self.box, tried, n)
        return None if unit is None else Proposal(unit, DESCEND)

    def surrogate_after(self, evaluations: Sequence[Evaluation]) -> Surrogate:
        """The surrogate that some evaluations call for."""
        return self.surrogate if self.grow is None else self.grow(evaluations)

    def _fit(
        self, surrogate: Surrogate, trials: list[FrozenTrial], observed: Observations
    ) -> tuple[FittedSurrogate, dict[str, Any]]:
        """The fitted surrogate, and what the trial keeps of a new fit.

        The last fit is used again while there are few more evaluations and the projection is the
        same.
        """
        fits = [trial.system_attrs[FIT] for trial in trials if FIT in trial.system_attrs]
        last: dict[str, Any] | None = fits[-1] if fits else None
        size, projection = len(observed), surrogate.projection.fingerprint()
        same = last is not None and last["projection"] == projection
        if same and last and size < REFIT_GROWTH * last["size"]:
            return _build(surrogate, observed, last["hyperparameters"]), {}
        fitted = surrogate.fit(
            observed.thetas,
            observed.nll,
            # Studies of earlier versions know the better scale alone.
            None if last is None else last.get("warm_start", last["hyperparameters"]),
            observed.nll_se,
            observed.gradients,
            observed.failed,
            # The most probable hyperparameters: each draw more costs as much time again. The answer
            # is averaged over several.
            draws=1,
        )
        fit = {
            "hyperparameters": fitted.hyperparameters,
            "warm_start": fitted.warm_start,
            "size": size,
            "projection": projection,
        }
        return fitted, {FIT: fit}


def _build(
    surrogate: Surrogate, observed: Observations, hyperparameters: dict[str, Any] | None
) -> FittedSurrogate:
    return surrogate.build(
        observed.thetas,
        observed.nll,
        hyperparameters,
        observed.nll_se,
        observed.gradients,
        observed.failed,
    )


def search_space(box: Box) -> dict[str, BaseDistribution]:
    """The box as Optuna distributions."""
    return {
        name: FloatDistribution(float(low), float(high))
        for name, low, high in zip(box.names, box.low, box.high, strict=True)
    }


def pending_thetas(trials: list[FrozenTrial], box: Box) -> FloatArray:
    """Thetas under evaluation somewhere, `n x d`."""
    running = [
        theta_of(t, box)
        for t in trials
        if t.state == TrialState.RUNNING and len(t.params) == box.dimension
    ]
    return np.array(running).reshape(-1, box.dimension)
