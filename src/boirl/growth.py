"""Roll-outs that grow with the search.

Where uniformly random behaviour is far worse than the demonstrations, roll-outs of it tell no two
rewards apart. The policies of rewards already evaluated are better company: as the search goes on,
roll-outs of the first of them join those of the uniform policy, and the projection is made anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.errors import SolverError
from boirl.problem import Problem
from boirl.projections import LogRho, sample_rollouts
from boirl.surrogates import Surrogate
from boirl.types import FloatArray

STAGES = (1, 2, 4, 8, 12, 20)
"""Numbers of evaluations at which the projection is made anew, with the policies of all of them."""

ENOUGH_POLICIES = 4
"""Where as many do not help, a warning says so."""

ROLLOUTS_A_POLICY, ROLLOUTS_IF_SATURATED = 2, 10
"""For each demonstration. Each makes a projection slower; where those of the uniform policy tell
nothing, there is nothing else to go by."""

POLICY_STREAM = 3


class GrowingRollouts:
    """The surrogate after a number of evaluations; the same for the same evaluations and seed.

    Args:
        problem: Where to roll out.
        start: The surrogate on roll-outs of the uniform policy.
        seed: Seeds the roll-outs.
        count: Roll-outs of each policy for each demonstration.
    """

    def __init__(
        self,
        problem: Problem[Any],
        start: Surrogate,
        seed: int,
        count: int = ROLLOUTS_A_POLICY,
    ) -> None:
        self.problem = problem
        self.start = start
        self.seed = seed
        self.count = count
        self._latest: tuple[bytes, Surrogate] = (b"", start)
        self._drawn: dict[tuple[int, bytes], list[Demonstrations]] = {}

    def __call__(self, thetas: FloatArray) -> Surrogate:
        """The surrogate that the evaluations of `n x d` thetas, in their order, call for."""
        stage = max((size for size in STAGES if size <= len(thetas)), default=0)
        used = thetas[:stage]
        if stage == 0:
            return self.start
        if self._latest[0] != used.tobytes():
            self._latest = (used.tobytes(), self._build(used))
        return self._latest[1]

    def _build(self, thetas: FloatArray) -> Surrogate:
        projection = self.start.projection
        assert isinstance(projection, LogRho)
        sets = [[uniform] for uniform in projection.rollouts]
        for number, theta in enumerate(thetas):
            try:
                drawn = self._rollouts_of(number, theta, projection.demonstrations)
            except SolverError:
                continue
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
        if len(thetas) >= ENOUGH_POLICIES:
            grown.warn_if_saturated(self.problem.box)
        start = self.start
        return Surrogate(start.kernel, grown, start.box, start.scale, start.prior_mean)

    def _rollouts_of(
        self, number: int, theta: FloatArray, demonstrations: Demonstrations
    ) -> list[Demonstrations]:
        """Roll-outs of the policy of an evaluation, for each demonstration."""
        key = (number, theta.tobytes())
        if key not in self._drawn:
            rng = np.random.default_rng([self.seed, number, POLICY_STREAM])
            policy = self.problem.policy(theta)
            self._drawn[key] = sample_rollouts(
                self.problem, demonstrations, self.count, rng, [policy]
            )
        return self._drawn[key]
