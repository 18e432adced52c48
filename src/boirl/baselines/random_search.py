"""Random search: thetas drawn uniformly from the box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from boirl.baselines.base import Baseline, Iterate
from boirl.problem import Problem
from boirl.types import FloatArray, Report


@dataclass
class Evaluations:
    """How many there were, and the source of all randomness."""

    rng: np.random.Generator
    done: int = 0

    def evaluate(self, problem: Problem[Any], theta: FloatArray, report: Report) -> Iterate:
        """Evaluate a theta as a search does."""
        evaluation = problem.evaluate(theta, int(self.rng.integers(2**31)), report)
        self.done += 1
        return Iterate(
            theta=evaluation.theta,
            nll=evaluation.nll,
            policies=self.done * problem.policies_an_evaluation,
            environment_steps=self.done * problem.policies_an_evaluation * problem.steps_a_policy,
        )


@dataclass(frozen=True)
class RandomSearch(Baseline):
    """A uniformly drawn theta an iteration."""

    name: ClassVar[str] = "random"
    summary: ClassVar[str] = "thetas drawn uniformly from the box"

    def check(self, problem: Problem[Any]) -> None:
        """Applies everywhere."""

    def begin(self, problem: Problem[Any], seed: int) -> Evaluations:
        return Evaluations(np.random.default_rng(seed))

    def advance(self, problem: Problem[Any], state: Evaluations, report: Report) -> Iterate:
        theta = problem.box.from_unit(state.rng.random(problem.box.dimension))
        return state.evaluate(problem, theta, report)
