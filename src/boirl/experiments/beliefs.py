"""The exact posterior over rewards on a table, for any demonstrations of one environment.

Rewards all over the part of the box that matters are solved for once. Their values say how likely
any further demonstration is, so that beliefs before and after an answer cost nothing.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import qmc

from boirl.demonstrations import Demonstrations
from boirl.evaluation import Evaluation
from boirl.problem import TabularProblem
from boirl.types import FloatArray

POINTS = 2048
SOLVED_AT_ONCE = 256
NARROWED = 2
"""How often the box is narrowed to what the demonstrations leave, by a quarter of the points."""

DROPPED = 6.0
"""Nats below the best from which on a reward does not count for where the box is narrowed to."""


class ExactBelief:
    """Weighted rewards under the demonstrations of a problem, and further ones.

    Args:
        problem: On a table.
        points: Rewards that are solved for.
    """

    def __init__(self, problem: TabularProblem, points: int = POINTS) -> None:
        self.problem = problem
        box = problem.box
        unit = qmc.Sobol(box.dimension, rng=np.random.default_rng(0)).random(points)
        low, high = box.low, box.high
        for _ in range(NARROWED):
            self._place(low, high, unit[: points // 4])
            inside = self.thetas[self.first > self.first.max() - DROPPED]
            margin = 0.05 * (inside.max(axis=0) - inside.min(axis=0)) + 1e-9
            low = np.maximum(box.low, inside.min(axis=0) - margin)
            high = np.minimum(box.high, inside.max(axis=0) + margin)
        self._place(low, high, unit)

    def _place(self, low: FloatArray, high: FloatArray, unit: FloatArray) -> None:
        box = self.problem.box
        self.share = float(np.prod((high - low) / (box.high - box.low)))
        self.evaluations = solved_evaluations(self.problem, low + (high - low) * unit)
        self.thetas = np.array([one.theta for one in self.evaluations])
        self.first = self.log_likelihoods(self.problem.demonstrations)

    def log_likelihoods(self, shown: Demonstrations) -> FloatArray:
        """Of demonstrations altogether under each reward, `n`."""
        other = self.problem.with_demonstrations(shown)
        return other.kept_log_likelihoods(self.evaluations).sum(axis=1)

    @staticmethod
    def weights(log_likelihoods: FloatArray) -> FloatArray:
        """Of each reward in the posterior, `n`."""
        weights = np.exp(log_likelihoods - log_likelihoods.max())
        return weights / weights.sum()

    def volume(self, log_likelihoods: FloatArray) -> float:
        """Of the posterior, as a share of the box: the exponential of its entropy."""
        weights = self.weights(log_likelihoods)
        positive = weights[weights > 0.0]
        entropy = -float((positive * np.log(positive)).sum())
        return self.share * float(np.exp(entropy)) / len(weights)


def solved_evaluations(problem: TabularProblem, thetas: FloatArray) -> list[Evaluation]:
    """Rewards with the values that they are solved for, without an NLL; failures are left out."""
    found = []
    for first in range(0, len(thetas), SOLVED_AT_ONCE):
        some = thetas[first : first + SOLVED_AT_ONCE]
        solution = problem.solver.solve_batch(
            problem.mdp, problem.mdp.expected_rewards(problem.reward, some)
        )
        found += [
            Evaluation(tuple(theta), 0.0, policies=({"values": values},))
            for theta, values, fine in zip(
                some.tolist(), solution.values, solution.converged, strict=True
            )
            if fine
        ]
    return found
