"""Optuna's tree-structured Parzen estimator over theta: what one would try first off the shelf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import optuna
from optuna.distributions import FloatDistribution

from boirl.baselines.base import Baseline, Iterate
from boirl.baselines.random_search import Evaluations
from boirl.problem import Problem
from boirl.storage import open_study
from boirl.types import Report


@dataclass
class _State:
    study: optuna.Study
    evaluations: Evaluations


@dataclass(frozen=True)
class TPE(Baseline):
    """An evaluation an iteration, where Optuna's default sampler suggests it."""

    name: ClassVar[str] = "tpe"
    summary: ClassVar[str] = "Optuna's default sampler over theta"

    def check(self, problem: Problem[Any]) -> None:
        """Applies everywhere."""

    def begin(self, problem: Problem[Any], seed: int) -> _State:
        study = open_study(None, self.name, optuna.samplers.TPESampler(seed=seed))
        return _State(study, Evaluations(np.random.default_rng(seed)))

    def advance(self, problem: Problem[Any], state: _State, report: Report) -> Iterate:
        box = problem.box
        bounds = zip(box.names, box.low, box.high, strict=True)
        trial = state.study.ask({name: FloatDistribution(low, high) for name, low, high in bounds})
        theta = np.array([trial.params[name] for name in box.names])
        done = state.evaluations.evaluate(problem, theta, report)
        if np.isnan(done.nll):
            state.study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            state.study.tell(trial, done.nll)
        return done
