"""The reward of lowest NLL in the box, by descents from several starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import qmc

from boirl.errors import InvalidInputError, SolverError
from boirl.estimation.descent import Descent, descend
from boirl.evaluation import Evaluation
from boirl.problem import Problem
from boirl.types import FloatArray

SCREENED_PER_START = 4
"""Thetas all over the box of which the best one is a start."""

MOST_SCREENED = 1024
"""Thetas without a policy after which there is taken to be none."""

AGREEMENT = 1e-6
"""Share of the NLL within which the ends of two descents count as the same."""


class CountedNll:
    """NLL and gradient of a problem on the unit cube, for `descend`, which counts evaluations.

    A theta whose solver fails, or that has no gradient, has no value.
    """

    def __init__(self, problem: Problem[Any]) -> None:
        self.problem = problem
        self.evaluations = 0
        self.failure = "it was not evaluated"

    def evaluate(self, unit: FloatArray) -> Evaluation:
        self.evaluations += 1
        return self.problem.evaluate(self.problem.box.from_unit(unit))

    def __call__(self, unit: FloatArray) -> tuple[float, FloatArray] | None:
        evaluation = self.evaluate(unit)
        if not evaluation.ok or evaluation.gradient is None:
            self.failure = evaluation.failure or "the NLL has no gradient there"
            return None
        box = self.problem.box
        return evaluation.nll, evaluation.gradient * (box.high - box.low)

    def batch(self, units: FloatArray) -> FloatArray:
        """NLLs, NaN where there is none, `n`."""
        self.evaluations += len(units)
        return self.problem.nll_batch(self.problem.box.from_unit(units))


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best end of several descents.

    Attributes:
        unit: In the unit cube, `d`.
        nll: There.
        gradient: By the unit cube's coordinates, `d`.
        descents: How many there were.
        agreeing: How many of them ended at the same NLL.
        converged: Whether the best one ended because nothing was left to gain.
    """

    unit: FloatArray
    nll: float
    gradient: FloatArray
    descents: int
    agreeing: int
    converged: bool


def find_optimum(
    objective: CountedNll, starts: int, seed: int, first: FloatArray | None = None
) -> Optimum:
    """Descend from the best of some thetas all over the box.

    Args:
        objective: What to minimise.
        starts: Descents.
        seed: Of the thetas.
        first: Further starts in the unit cube, `n x d`, which are descended from first.

    Raises:
        InvalidInputError: The NLL has no gradient, or one that does not tell of jumps.
        SolverError: No theta has a policy.
    """
    problem = objective.problem
    if problem.is_model_free:
        raise InvalidInputError(
            f"the policies of problem {problem.name!r} are learned, so its NLL has no exact "
            "gradient; expected known dynamics (use boirl.explore)"
        )
    if problem.jumping_parameters:
        names = ", ".join(problem.jumping_parameters)
        raise InvalidInputError(
            f"the reward of problem {problem.name!r} changes along {names} in a way that its "
            "derivative does not tell of (a threshold, or a part cut off from the graph), so that "
            "no maximum and no standard error follow from it; smooth the reward, hold "
            f"{names} (reward.fix), or use boirl.explore"
        )
    chosen = _screened(objective, starts, seed)
    if first is not None:
        chosen = np.concatenate([first, chosen])
    ends = [end for end in (descend(objective, start) for start in chosen) if end is not None]
    if not ends:
        # A theta that was solved while screening and has no gradient: say why.
        problem.nll_and_gradient(problem.box.from_unit(chosen[-1]))
        raise SolverError(f"no start has a gradient: {objective.failure}")
    best: Descent = min(ends, key=lambda end: end.value)
    close = best.value + AGREEMENT * max(1.0, abs(best.value))
    agreeing = sum(end.value <= close for end in ends)
    return Optimum(best.point, best.value, best.gradient, len(ends), agreeing, best.converged)


def _screened(objective: CountedNll, starts: int, seed: int) -> FloatArray:
    """The best of some thetas all over the box, `starts x d` in the unit cube."""
    sequence = qmc.Sobol(objective.problem.box.dimension, rng=np.random.default_rng(seed))
    size = 2 ** int(np.ceil(np.log2(SCREENED_PER_START * starts)))
    points = sequence.random(size)
    nll = objective.batch(points)
    while np.isfinite(nll).sum() < starts and len(points) < MOST_SCREENED:
        more = sequence.random(len(points))
        points, nll = np.concatenate([points, more]), np.append(nll, objective.batch(more))
    if not np.isfinite(nll).any():
        raise SolverError(
            f"none of {len(points)} thetas all over the box has a policy; expected some: narrow "
            "the bounds of the parameters"
        )
    order = np.argsort(np.where(np.isnan(nll), np.inf, nll), kind="stable")
    return points[order[: min(starts, int(np.isfinite(nll).sum()))]]
