"""Random search: thetas drawn uniformly from the box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from boirl.baselines.base import Baseline
from boirl.evaluation import Evaluation
from boirl.problem import Problem
from boirl.types import Report


@dataclass(frozen=True)
class RandomSearch(Baseline):
    """One uniformly drawn theta per iteration."""

    name: ClassVar[str] = "random"
    summary: ClassVar[str] = "thetas drawn uniformly from the box"

    def check(self, problem: Problem[Any]) -> None:
        """Applies everywhere."""

    def begin(self, problem: Problem[Any], seed: int) -> np.random.Generator:
        return np.random.default_rng(seed)

    def unpack(self, problem: Problem[Any], packed: Any) -> np.random.Generator:
        if not isinstance(packed, np.random.Generator):
            raise ValueError(f"its state is a {type(packed).__name__}; expected a generator")
        return packed

    def advance(
        self, problem: Problem[Any], state: np.random.Generator, report: Report
    ) -> Evaluation:
        theta = problem.box.from_unit(state.random(problem.box.dimension))
        return problem.evaluate(theta, int(state.integers(2**31)), report)
