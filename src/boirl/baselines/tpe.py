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
    seed: int
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
        return _State(seed, study, np.random.default_rng(seed))

    def pack(self, state: _State) -> dict[str, Any]:
        values = [trial.value for trial in state.study.get_trials(deepcopy=False)]
        return {"seed": state.seed, "rng": state.rng, "values": values}

    def unpack(self, problem: Problem[Any], packed: dict[str, Any]) -> _State:
        """Suggestions follow from the seed and the NLLs, so they are made again."""
        state = self.begin(problem, packed["seed"])
        for value in packed["values"]:
            _tell(state, _ask(problem, state), value)
        state.rng = packed["rng"]
        return state

    def advance(self, problem: Problem[Any], state: _State, report: Report) -> Evaluation:
        trial = _ask(problem, state)
        theta = np.array([trial.params[name] for name in problem.box.names])
        evaluation = problem.evaluate(theta, int(state.rng.integers(2**31)), report)
        _tell(state, trial, evaluation.nll if evaluation.ok else None)
        return evaluation


def _ask(problem: Problem[Any], state: _State) -> optuna.Trial:
    return state.study.ask(search_space(problem.box))


def _tell(state: _State, trial: optuna.Trial, nll: float | None) -> None:
    if nll is None:
        state.study.tell(trial, state=optuna.trial.TrialState.FAIL)
    else:
        state.study.tell(trial, nll)
