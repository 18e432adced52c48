"""Roll-outs that grow with the search.

Where uniformly random behaviour is far worse than the demonstrations, roll-outs of it distinguish
no two rewards. The policies of rewards already evaluated are better to compare with: as the search
goes on, roll-outs of the first of them join those of the uniform policy, and the projection is
built again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.evaluation import Evaluation
from boirl.problem import Problem
from boirl.projections import LogRho, sample_rollouts
from boirl.search.settings import SearchSettings
from boirl.surrogate import Surrogate

STAGES = (1, 2, 4, 8, 12, 20)
"""Numbers of evaluations at which the projection is built again, with the policies of all of them.
"""

ENOUGH_POLICIES = 4
"""Where as many do not help, a warning says so."""

ROLLOUTS_PER_POLICY, ROLLOUTS_IF_SATURATED = 2, 10
"""For each demonstration. Each makes a projection slower; where those of the uniform policy say
nothing, there is nothing else to go by."""

MANY_PARAMETERS = 8
"""From so many parameters on, the policies of evaluated rewards join the projection."""

POLICY_STREAM = 3


class GrowingRollouts:
    """The surrogate after some evaluations; the same for the same evaluations and seed.

    Args:
        problem: Where to roll out.
        start: The surrogate on roll-outs of the uniform policy.
        seed: Seeds the roll-outs.
        n_rollouts: Roll-outs of each policy for each demonstration.
    """

    def __init__(
        self,
        problem: Problem[Any],
        start: Surrogate,
        seed: int,
        n_rollouts: int = ROLLOUTS_PER_POLICY,
    ) -> None:
        self.problem = problem
        self.start = start
        self.seed = seed
        self.n_rollouts = n_rollouts
        self._latest: tuple[tuple[tuple[float, ...], ...], Surrogate] = ((), start)
        self._drawn: dict[tuple[int, tuple[float, ...]], list[Demonstrations]] = {}

    def __call__(self, evaluations: Sequence[Evaluation]) -> Surrogate:
        """The surrogate that evaluations, in their order, call for."""
        succeeded = [evaluation for evaluation in evaluations if evaluation.ok]
        used = succeeded[: max((size for size in STAGES if size <= len(succeeded)), default=0)]
        thetas = tuple(evaluation.theta for evaluation in used)
        if self._latest[0] != thetas:
            self._latest = (thetas, self._build(used) if used else self.start)
        return self._latest[1]

    def _build(self, evaluations: Sequence[Evaluation]) -> Surrogate:
        projection = self.start.projection
        assert isinstance(projection, LogRho)
        sets = [[uniform] for uniform in projection.rollouts]
        for number, evaluation in enumerate(evaluations):
            drawn = self._rollouts_of(number, evaluation, projection.demonstrations)
            for together, more in zip(sets, drawn, strict=True):
                together.append(more)
        rollouts = [Demonstrations.concatenate(together) for together in sets]
        grown = type(projection)(
            self.problem,
            projection.demonstrations,
            rollouts,
            projection.reward,
            compares_policies=True,
        )
        if len(evaluations) >= ENOUGH_POLICIES:
            grown.warn_if_saturated(self.problem.box)
        start = self.start
        return Surrogate(start.kernel, grown, start.box, start.scale, start.n_demonstrations)

    def _rollouts_of(
        self, number: int, evaluation: Evaluation, demonstrations: Demonstrations
    ) -> list[Demonstrations]:
        """Roll-outs of the policy of an evaluation, for each demonstration.

        Raises:
            SolverError: The policy was learned and its artifact is missing. Without it the search
                would go on differently.
        """
        key = (number, evaluation.theta)
        if key not in self._drawn:
            rng = np.random.default_rng([self.seed, number, POLICY_STREAM])
            policy = (
                self.problem.policy_of(evaluation)
                if evaluation.policies or self.problem.is_model_free
                else self.problem.policy(evaluation.theta)
            )
            self._drawn[key] = sample_rollouts(
                self.problem, demonstrations, self.n_rollouts, rng, [policy]
            )
        return self._drawn[key]


def build_growth(
    problem: Problem[Any], surrogate: Surrogate, settings: SearchSettings
) -> GrowingRollouts | None:
    """What makes the projection of a search grow, where it is to."""
    if not surrogate.kernel.projected:
        return None
    wanted = settings.rollouts
    if wanted == "auto" and (problem.is_model_free or problem.box.dimension >= MANY_PARAMETERS):
        wanted = "solved"
    projection = surrogate.projection
    # Roll-outs that will be joined by better ones are not worth a warning.
    check = projection.warn_if_saturated if wanted == "uniform" else projection.is_saturated
    saturated = check(problem.box)
    if wanted == "uniform" or (wanted == "auto" and not saturated):
        return None
    n_rollouts = ROLLOUTS_IF_SATURATED if saturated else ROLLOUTS_PER_POLICY
    return GrowingRollouts(problem, surrogate, settings.seed, n_rollouts)
