"""What a surrogate sees of evaluations, in a search and in its answer alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from boirl.evaluation import Evaluation
from boirl.types import FloatArray, IntArray


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
