"""Maximum-entropy IRL: descent of the NLL by its exact gradient, from several starts.

With the operator `logsumexp` this is maximum (causal) entropy IRL; for a linear family its gradient
is the features expected less those demonstrated, as in Ziebart's. With the other operators it is
maximum likelihood under their policies, so that the method minimises what all others are measured
by.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

from boirl.baselines.base import Baseline, BaselineRun, Iterate
from boirl.errors import InvalidInputError, SolverError
from boirl.grouping import group_alike
from boirl.problem import Problem
from boirl.solutions import limit_above
from boirl.types import FloatArray, Report

SOLUTIONS_WITHIN = 0.10


@dataclass
class _State:
    """Starts to come, steps of the present descent that are not told yet, ends of former ones."""

    starts: qmc.Sobol
    waiting: deque[tuple[FloatArray, float]] = field(default_factory=deque)
    ends: list[tuple[FloatArray, float]] = field(default_factory=list)
    policies: int = 0
    descents: int = 0


@dataclass(frozen=True)
class MaxEnt(Baseline):
    """A policy and its gradient an iteration; L-BFGS-B within the box, from Sobol points.

    Args:
        steps: Iterations of a descent at most.
        tolerance: A descent ends where an iteration gains less than this share of the NLL.
    """

    steps: int = 100
    tolerance: float = 1e-9

    name: ClassVar[str] = "maxent"
    summary: ClassVar[str] = "descent by exact gradients from several starts"

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise InvalidInputError(f"steps is {self.steps}; expected at least 1")
        if not self.tolerance > 0.0:
            raise InvalidInputError(f"tolerance is {self.tolerance}; expected a positive number")

    def check(self, problem: Problem[Any]) -> None:
        if problem.learns:
            raise InvalidInputError(
                f"maxent needs exact gradients, and the policies of problem {problem.name!r} are "
                "learned; use gcl or airl"
            )

    def begin(self, problem: Problem[Any], seed: int) -> _State:
        return _State(qmc.Sobol(problem.box.dimension, rng=np.random.default_rng(seed)))

    def advance(self, problem: Problem[Any], state: _State, report: Report) -> Iterate:
        if not state.waiting:
            start = state.starts.random(1)[0]
            state.waiting.extend(self._descend(problem, start))
            state.ends.append(min(state.waiting, key=_nll))
            state.descents += 1
        unit, nll = state.waiting.popleft()
        state.policies += 1
        theta = tuple(problem.box.from_unit(unit).tolist())
        return Iterate(theta, nll, policies=state.policies, facts={"start": state.descents})

    def _descend(self, problem: Problem[Any], start: FloatArray) -> list[tuple[FloatArray, float]]:
        """Every theta of a descent, in the unit cube, with its NLL; it ends where one has none."""
        box = problem.box
        seen: list[tuple[FloatArray, float]] = []

        def nll_and_slope(unit: FloatArray) -> tuple[float, FloatArray]:
            try:
                nll, gradient = problem.nll_and_gradient(box.from_unit(unit))
            except SolverError:
                seen.append((unit.copy(), float("nan")))
                raise
            seen.append((unit.copy(), nll))
            return nll, gradient * (box.high - box.low)

        with suppress(SolverError):
            minimize(
                nll_and_slope,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, 1.0)] * box.dimension,
                options={"maxiter": self.steps, "ftol": self.tolerance},
            )
        return seen

    def finish(self, problem: Problem[Any], state: _State, run: BaselineRun) -> BaselineRun:
        """Add the ends of descents: of those within 10 % of the best NLL, one a behaviour."""
        ends = sorted((end for end in state.ends if np.isfinite(end[1])), key=_nll)
        limit = limit_above(ends[0][1], SOLUTIONS_WITHIN) if ends else np.nan
        good = [problem.box.from_unit(unit) for unit, nll in ends if nll <= limit]
        facts = {"descents": state.descents}
        if not good:
            return replace(run, facts=facts)
        distances = problem.behaviour_distances([problem.policy(theta) for theta in good])
        firsts = [members[0] for members in group_alike(distances, problem.same_behaviour)]
        return replace(run, solutions=np.array([good[number] for number in firsts]), facts=facts)


def _nll(step: tuple[FloatArray, float]) -> float:
    return float(np.nan_to_num(step[1], nan=np.inf))
