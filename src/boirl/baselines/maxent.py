"""Maximum-entropy IRL: descent of the NLL by its exact gradient, from several starts.

With the operator `logsumexp` this is maximum (causal) entropy IRL; for a linear family its gradient
is the features expected less those demonstrated, as in Ziebart's. With the other operators it is
maximum likelihood under their policies, so that the method minimises what all others are measured
by.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.stats import qmc

from boirl.baselines.descents import DescentBaseline, DescentState
from boirl.baselines.run import BaselineRun
from boirl.errors import InvalidInputError
from boirl.estimation.descent import descend
from boirl.evaluation import Evaluation
from boirl.problem import Problem
from boirl.results.grouping import group_alike
from boirl.search.settings import INITIAL_STREAM
from boirl.types import FloatArray

SOLUTIONS_WITHIN = 0.10


@dataclass(frozen=True)
class MaxEnt(DescentBaseline):
    """One policy and its gradient per step; BFGS within the box, from Sobol points.

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
        if problem.is_model_free:
            raise InvalidInputError(
                f"maxent needs exact gradients, and the policies of problem {problem.name!r} are "
                "learned; use gcl or airl"
            )

    def descend(self, problem: Problem[Any], seed: int, number: int) -> list[Evaluation]:
        """Every evaluation of a descent. Thetas without a policy or gradient shorten its steps."""
        box = problem.box
        # The first start is that of a search with this seed: they can be compared step by step.
        rng = np.random.default_rng([seed, 0, INITIAL_STREAM])
        starts = qmc.Sobol(box.dimension, rng=rng)
        if number > 1:
            starts.fast_forward(number - 1)
        start = starts.random(1)[0]
        seen: list[Evaluation] = []

        def nll_and_slope(unit: FloatArray) -> tuple[float, FloatArray] | None:
            evaluation = problem.evaluate(box.from_unit(unit))
            seen.append(replace(evaluation, facts={**evaluation.facts, "start": number}))
            if not evaluation.ok or evaluation.gradient is None:
                return None
            return evaluation.nll, evaluation.gradient * (box.high - box.low)

        descend(nll_and_slope, start, self.steps, self.tolerance)
        if number == 1 and len(seen) == 1 and seen[0].ok and seen[0].gradient is None:
            # At the very first theta: not a matter of where it is.
            problem.nll_and_gradient(np.array(seen[0].theta))
        return seen

    def finish(self, problem: Problem[Any], state: DescentState, run: BaselineRun) -> BaselineRun:
        """Add the ends of descents: of those within 10 % of the best NLL, one per behaviour."""
        descents = [evaluation.facts["start"] for evaluation in run.evaluations]
        facts = {"descents": len(set(descents))}
        if not np.isfinite(run.nll).any():
            return replace(run, facts=facts)
        good = run.indices_within(SOLUTIONS_WITHIN)
        _, firsts = np.unique([descents[index] for index in good], return_index=True)
        ends = good[np.sort(firsts)]
        alike = group_alike(run.distances(ends), problem.same_behaviour)
        solutions = run.thetas[[ends[members[0]] for members in alike]]
        return replace(run, solutions=solutions, facts=facts)
