"""What a surrogate sees of evaluations, in a search and in its answer alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from boirl.evaluation import Evaluation
from boirl.types import Box, FloatArray, IntArray

MOST_EVALUATIONS = 300
"""That a surrogate is made of, as time goes with the cube of their number."""

FITTED_EVALUATIONS = 100
"""Hyperparameters are fitted to at most so many evaluations, which tell as much of them as all do;
time goes with the cube."""


@dataclass(frozen=True, eq=False)
class Observations:
    """Evaluations that succeeded, and where others failed.

    Attributes:
        thetas: Where evaluations succeeded, `n x d`.
        nll: Their NLLs, `n`.
        nll_se: Standard errors, `n`, 0 where unknown.
        gradients: Derivatives of the NLLs by theta, `n x d`, NaN where there is none.
        failed: Where evaluations failed, `m x d`: they have no NLL.
        numbers: Which of all evaluations those that succeeded are, `n`.
    """

    thetas: FloatArray
    nll: FloatArray
    nll_se: FloatArray
    gradients: FloatArray
    failed: FloatArray
    numbers: IntArray

    @classmethod
    def of(cls, evaluations: Sequence[Evaluation]) -> Observations:
        """Of evaluations."""
        dimension = len(evaluations[0].theta) if evaluations else 0
        rows = (-1, dimension) if evaluations else (0, 0)
        succeeded = [one for one in evaluations if one.ok]
        failed = [one.theta for one in evaluations if not one.ok]
        missing = np.full(dimension, np.nan)
        gradients = [missing if one.gradient is None else one.gradient for one in succeeded]
        return cls(
            thetas=np.array([one.theta for one in succeeded]).reshape(rows),
            nll=np.array([one.nll for one in succeeded], dtype=np.float64),
            nll_se=np.array([one.nll_se for one in succeeded], dtype=np.float64),
            gradients=np.array(gradients, dtype=np.float64).reshape(rows),
            failed=np.array(failed, dtype=np.float64).reshape(rows),
            numbers=np.flatnonzero([one.ok for one in evaluations]),
        )

    def __len__(self) -> int:
        return len(self.nll)

    def thinned(self, box: Box, most: int = MOST_EVALUATIONS) -> Observations:
        """At most so many that succeeded, and as many that failed.

        Of those that succeeded the best half and, of the others, those that are farthest from what
        is kept; what is left out lies close to one that is not.
        """
        if max(len(self), len(self.failed)) <= most:
            return self
        kept, wrong = np.arange(len(self)), np.arange(len(self.failed))
        if len(kept) > most:
            best = np.argsort(self.nll, kind="stable")[: most // 2]
            kept = np.sort(spread(box.to_unit(self.thetas), best, most))
        if len(wrong) > most:
            wrong = np.sort(spread(box.to_unit(self.failed), wrong[:1], most))
        return Observations(
            self.thetas[kept],
            self.nll[kept],
            self.nll_se[kept],
            self.gradients[kept],
            self.failed[wrong],
            self.numbers[kept],
        )

    def joined_by(self, thetas: FloatArray, nll: FloatArray) -> Observations:
        """These and others whose standard errors and gradients are unknown."""
        return Observations(
            np.concatenate([self.thetas, thetas]),
            np.concatenate([self.nll, nll]),
            np.concatenate([self.nll_se, np.zeros(len(nll))]),
            np.concatenate([self.gradients, np.full(thetas.shape, np.nan)]),
            self.failed,
            self.numbers,
        )


def spread(unit: FloatArray, chosen: IntArray, count: int) -> IntArray:
    """So many of points `n x d`: the chosen ones, then each time the one farthest from all."""
    found = chosen.tolist()
    distances = cdist(unit, unit[chosen]).min(axis=1)
    while len(found) < count:
        farthest = int(distances.argmax())
        found.append(farthest)
        distances = np.minimum(distances, np.linalg.norm(unit - unit[farthest], axis=1))
    return np.array(found)
