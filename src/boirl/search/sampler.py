"""The search as an Optuna sampler, so that every Optuna tool works on a study of rewards."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, TrialState

from boirl.constraints import NO_CONSTRAINTS, Constraints
from boirl.constraints.region import constrain
from boirl.evaluation import Evaluation
from boirl.priors import UNIFORM, Prior
from boirl.problem import Problem
from boirl.search.acquisitions import (
    ACQUISITIONS,
    Acquisition,
    Proposal,
    random,
    resolve,
    sharpen,
)
from boirl.search.descent import is_off, quasi_newton_step
from boirl.search.growth import build_growth
from boirl.search.initial import initial_thetas, steps_down
from boirl.search.novelty import Tried, new_proposal
from boirl.search.records import damaged, evaluation_of, is_finished, theta_of
from boirl.search.settings import INITIAL_STREAM, SearchOptions, SearchSettings
from boirl.surrogate import FittedSurrogate, Observations, Surrogate
from boirl.surrogate.observations import FITTED_EVALUATIONS
from boirl.surrogate.warping import SCALES
from boirl.threads import single_thread
from boirl.types import Box, FloatArray

FIT = "boirl:fit"
PURPOSE = "boirl:purpose"
PREDICTED = "boirl:predicted"
KNOWN = "boirl:known"
"""System attribute of a trial: how many evaluations were finished when it was proposed, and which
were running."""

INITIAL_PURPOSE, DESCEND = "initial", "descend"

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
        constraints: What a reward or its behaviour must be like to be a solution.
        steps_down: Whether the first evaluation is followed by a step down from it.
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
        constraints: Constraints = NO_CONSTRAINTS,
        steps_down: bool = False,
    ) -> None:
        self.surrogate = surrogate
        self.grow = grow
        self.acquisition = acquisition
        self.initial = initial
        self.seed = seed
        self.prior = prior
        self.constraints = constraints
        self.steps_down = steps_down
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
            steps_down=steps_down(problem, "sobol", None),
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
        theta, attributes = self.propose(trial.number, study.get_trials(deepcopy=False))
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

    def propose(
        self, number: int, trials: Sequence[FrozenTrial]
    ) -> tuple[FloatArray, dict[str, Any]]:
        """The theta of a trial, `d`, and what its system attributes keep of the proposal.

        Args:
            number: Of the trial.
            trials: All that are known; finished ones have evaluations, those running are pending.
        """
        others = [other for other in trials if other.number != number]
        box = self.box
        done = [other for other in others if is_finished(other, box)]
        running = [other for other in others if is_running(other, box)]
        with single_thread():
            theta, attributes = self._propose(number, others, done, running)
        # What the proposal follows from, beside the seed: `boirl.search.replay` makes it again.
        known = {"finished": len(done), "running": [other.number for other in running]}
        return theta, {**attributes, KNOWN: known}

    def _propose(
        self,
        number: int,
        others: list[FrozenTrial],
        done: list[FrozenTrial],
        running: list[FrozenTrial],
    ) -> tuple[FloatArray, dict[str, Any]]:
        if number < len(self.initial):
            return self.initial[number], {PURPOSE: INITIAL_PURPOSE}
        rng = np.random.default_rng([self.seed, number])
        finished = [] if self.acquisition is random else [self.read(other) for other in done]
        observed = Observations.of(finished).thinned(self.box)
        if len(observed) == 0:
            return self.box.from_unit(rng.random(self.box.dimension)), {PURPOSE: "random"}
        surrogate = self.surrogate_after(finished)
        fitted, attributes = self._fit(surrogate, others, observed)
        pending = pending_thetas(running, self.box)
        if len(pending):
            # Running evaluations are taken to come out as expected, so that the next proposal
            # goes elsewhere. Their standard error is not known yet.
            believed, _ = fitted.posterior(pending)
            fitted = _build(
                surrogate, observed.joined_by(pending, believed), fitted.hyperparameters
            )
        fitted = constrain(
            fitted, surrogate, self.constraints, [finished[one] for one in observed.numbers]
        )
        # Two steps down from the same best would be one and the same; and the way down may lead to
        # where constraints are broken.
        free = not len(pending) and not self.constraints
        proposal = self._descend(done, finished, observed, fitted) if free else None
        evaluated = [] if fitted.noisy else [one.theta for one in finished]
        tried = Tried(self.box, pending, np.reshape(evaluated, (-1, self.box.dimension)))
        if proposal is None or not tried.is_new(proposal.unit):
            expected = replace(fitted, prior=self.prior)
            proposal = new_proposal(self.acquisition, expected, tried, rng)
        unit, purpose = proposal
        theta = self.box.from_unit(unit)
        mean, sd = fitted.posterior(theta[None], observed=True)
        predicted = [float(mean[0]), float(sd[0])]
        return theta, {**attributes, PURPOSE: purpose, PREDICTED: predicted}

    def _descend(
        self,
        done: list[FrozenTrial],
        finished: list[Evaluation],
        observed: Observations,
        fitted: FittedSurrogate,
    ) -> Proposal | None:
        """A quasi-Newton step, where there is a way down and nothing better to go by."""
        n = self.surrogate.n_demonstrations
        if not (self.steps_down and len(observed) == 1) and not self._was_off(done, finished):
            return None
        best = done[int(observed.numbers[observed.nll.argmin()])]
        tried = sum(
            trial.number > best.number and trial.system_attrs.get(PURPOSE) == DESCEND
            for trial in done
        )
        unit = quasi_newton_step(observed, self.box, n, tried)
        if unit is None or fitted.feasibility.is_ruled_out(unit):
            return None
        return Proposal(unit, DESCEND)

    def _was_off(self, done: list[FrozenTrial], finished: list[Evaluation]) -> bool:
        """Whether the last prediction was off."""
        latest = max(range(len(done)), key=lambda place: done[place].number)
        predicted = done[latest].system_attrs.get(PREDICTED)
        if self.acquisition not in (resolve, sharpen) or predicted is None:
            return False
        n = self.surrogate.n_demonstrations
        return is_off(predicted, finished[latest].nll, n, self.box.dimension)

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
        fits = [trial for trial in trials if FIT in trial.system_attrs]
        last = _kept_fit(fits[-1]) if fits else None
        size, projection = len(observed), surrogate.projection.fingerprint()
        same = last is not None and last["projection"] == projection
        if same and last and size < REFIT_GROWTH * last["size"]:
            return _build(surrogate, observed, last["hyperparameters"]), {}
        few = observed.thinned(self.box, FITTED_EVALUATIONS)
        fitted = surrogate.fit(
            few.thetas,
            few.nll,
            # Studies of earlier versions know the better scale alone.
            None if last is None else last.get("warm_start", last["hyperparameters"]),
            few.nll_se,
            few.gradients,
            few.failed,
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
        if few is not observed:
            fitted = _build(surrogate, observed, fitted.hyperparameters)
        return fitted, {FIT: fit}


def _kept_fit(trial: FrozenTrial) -> dict[str, Any]:
    """What a trial keeps of the fit that it was proposed by.

    Raises:
        StorageError: It is not as it was written.
    """
    kept: dict[str, Any] = trial.system_attrs[FIT]
    try:
        size, projection = float(kept["size"]), str(kept["projection"])
        fits = [kept["hyperparameters"], kept.get("warm_start", kept["hyperparameters"])]
        for component in itertools.chain.from_iterable(fit["components"] for fit in fits):
            if component["scale"] not in SCALES:
                raise ValueError(f"there is no scale {component['scale']!r}")
            for values in component["values"].values():
                np.array(values, dtype=np.float64)
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        raise damaged(trial, f"{FIT}: {' '.join(str(error).split())}") from error
    return {**kept, "size": size, "projection": projection}


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


def is_running(trial: FrozenTrial, box: Box) -> bool:
    """Whether a trial is under evaluation somewhere."""
    return trial.state == TrialState.RUNNING and len(trial.params) == box.dimension


def pending_thetas(trials: list[FrozenTrial], box: Box) -> FloatArray:
    """Thetas under evaluation somewhere, `n x d`."""
    running = [theta_of(trial, box) for trial in trials if is_running(trial, box)]
    return np.array(running).reshape(-1, box.dimension)
