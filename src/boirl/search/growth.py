"""Roll-outs that grow with the search.

Where uniformly random behaviour is far worse than the demonstrations, roll-outs of it distinguish
no two rewards. The policies of rewards already evaluated are better to compare with: as the search
goes on, roll-outs of the first of them join those of the uniform policy, and the projection is
built again. Whether the NLL is explained better with them than without, the evidence says. Where
roll-outs of the uniform policy say nothing at all, there is nothing else to go by: whenever the
number of evaluations has doubled, those of the best reward are taken, and of rewards that are
farthest from each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.evaluation import Evaluation
from boirl.problem import Problem
from boirl.projections import LogRho, Projection, sample_rollouts
from boirl.projections.elsewhere import GrowsElsewhere
from boirl.search.settings import SearchSettings
from boirl.surrogate import Observations, Surrogate
from boirl.surrogate.observations import FITTED_EVALUATIONS, spread

MOST_POLICIES = 8
"""Whose roll-outs join the projection: each makes it slower."""

ROLLOUTS_PER_POLICY, ROLLOUTS_IF_BLIND = 2, 10
"""For each demonstration; more where those of the uniform policy say nothing and there is nothing
else to go by."""

POLICY_STREAM = 3


class GrowingRollouts:
    """The surrogate after some evaluations; the same for the same evaluations and seed.

    Args:
        problem: Where to roll out.
        start: The surrogate on roll-outs of the uniform policy.
        seed: Seeds the roll-outs.
        blind: Whether roll-outs of the uniform policy say nothing.
        always: Whether the projection grows even where the evidence is against it.
    """

    def __init__(
        self,
        problem: Problem[Any],
        start: Surrogate,
        seed: int,
        blind: bool = False,
        always: bool = True,
    ) -> None:
        self.problem = problem
        self.start = start
        self.seed = seed
        self.blind = blind
        self.n_rollouts = ROLLOUTS_IF_BLIND if blind else ROLLOUTS_PER_POLICY
        self.always = always
        self._latest: tuple[tuple[tuple[float, ...], ...], Surrogate] = ((), start)
        self._drawn: dict[tuple[int, tuple[float, ...]], list[Demonstrations]] = {}

    def __call__(self, evaluations: Sequence[Evaluation]) -> Surrogate:
        """The surrogate that evaluations, in their order, call for."""
        succeeded = [evaluation for evaluation in evaluations if evaluation.ok]
        stage = 2 ** (len(succeeded).bit_length() - 1) if succeeded else 0
        stage = stage if self.blind else min(stage, MOST_POLICIES)
        used = self._spread(succeeded[:stage])
        thetas = tuple(evaluation.theta for evaluation in used.values())
        if self._latest[0] != thetas:
            chosen = self._choose(used, succeeded[:stage]) if used else self.start
            self._latest = (thetas, chosen)
        return self._latest[1]

    def _spread(self, evaluations: Sequence[Evaluation]) -> dict[int, Evaluation]:
        """The best of some evaluations and those that are farthest from each other, by number."""
        if len(evaluations) <= MOST_POLICIES:
            return dict(enumerate(evaluations))
        unit = self.problem.box.to_unit(np.array([one.theta for one in evaluations]))
        best = np.array([int(np.argmin([one.nll for one in evaluations]))])
        return {int(one): evaluations[one] for one in np.sort(spread(unit, best, MOST_POLICIES))}

    def _choose(self, used: Mapping[int, Evaluation], seen: Sequence[Evaluation]) -> Surrogate:
        """The surrogate with roll-outs of some evaluations or the first one, by evidence of all.

        A single evaluation is evidence of nothing: there it is the share of the box that counts
        over which the first projection is blind.
        """
        grown = self.start.with_projection(self._grow(self.start.projection, used))
        if self.always:
            return grown
        box = self.problem.box
        if len(seen) == 1:
            return grown if self.blind else self.start
        observed = Observations.of(seen).thinned(box, FITTED_EVALUATIONS)
        return max((self.start, grown), key=lambda one: one.log_evidence(observed))

    def _grow(self, projection: Projection, evaluations: Mapping[int, Evaluation]) -> Projection:
        """The projection with roll-outs of the policies of evaluations, which go by number."""
        if isinstance(projection, GrowsElsewhere):
            thetas = [evaluation.theta for evaluation in evaluations.values()]
            rngs = [self._rng(number) for number in evaluations]
            return projection.grown(thetas, self.n_rollouts, rngs)
        assert isinstance(projection, LogRho)
        sets = [[uniform] for uniform in projection.rollouts]
        for number, evaluation in evaluations.items():
            drawn = self._rollouts_of(number, evaluation, projection.demonstrations)
            for together, more in zip(sets, drawn, strict=True):
                together.append(more)
        rollouts = [Demonstrations.concatenate(together) for together in sets]
        return type(projection)(
            self.problem,
            projection.demonstrations,
            rollouts,
            projection.reward,
            compares_policies=True,
        )

    def _rng(self, number: int) -> np.random.Generator:
        """Where the roll-outs of the policy of an evaluation come from."""
        return np.random.default_rng([self.seed, number, POLICY_STREAM])

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
            policy = (
                self.problem.policy_of(evaluation)
                if evaluation.policies or self.problem.is_model_free
                else self.problem.policy(evaluation.theta)
            )
            self._drawn[key] = sample_rollouts(
                self.problem, demonstrations, self.n_rollouts, self._rng(number), [policy]
            )
        return self._drawn[key]


def build_growth(
    problem: Problem[Any], surrogate: Surrogate, settings: SearchSettings
) -> GrowingRollouts | None:
    """What makes the projection of a search grow, where it is to."""
    if not surrogate.kernel.projected:
        return None
    projection, wanted = surrogate.projection, settings.rollouts
    if wanted == "uniform":
        projection.warn_if_saturated(problem.box)
        return None
    blind = projection.is_saturated(problem.box)
    always = wanted == "solved" or problem.is_model_free
    return GrowingRollouts(problem, surrogate, settings.seed, blind, always)
