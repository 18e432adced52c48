"""Optuna's tree-structured Parzen estimator over theta: what one would try first off the shelf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import optuna

from boirl.baselines.base import Baseline
from boirl.evaluation import Evaluation
from boirl.problem import Problem
from boirl.search.sampler import search_space
from boirl.search.storage import open_study
from boirl.types import Report


@dataclass
class _State:
    study: optuna.Study
    rng: np.random.Generator


@dataclass(frozen=True)
class TPE(Baseline):
    """One evaluation per iteration, where Optuna's default sampler suggests it."""

    name: ClassVar[str] = "tpe"
    summary: ClassVar[str] = "Optuna's default sampler over theta"

    def check(self, problem: Problem[Any]) -> None:
        """Applies everywhere."""

    def begin(self, problem: Problem[Any], seed: int) -> _State:
        study = open_study(None, self.name, optuna.samplers.TPESampler(seed=seed))
        return _State(study, np.random.default_rng(seed))

    def advance(self, problem: Problem[Any], state: _State, report: Report) -> Evaluation:
        trial = state.study.ask(search_space(problem.box))
        theta = np.array([trial.params[name] for name in problem.box.names])
        evaluation = problem.evaluate(theta, int(state.rng.integers(2**31)), report)
        if evaluation.ok:
            state.study.tell(trial, evaluation.nll)
        else:
            state.study.tell(trial, state=optuna.trial.TrialState.FAIL)
        return evaluation
