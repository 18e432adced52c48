"""What a surrogate sees of evaluations, in a search and in its answer alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from boirl.evaluation import Evaluation
from boirl.types import FloatArray


@dataclass(frozen=True, eq=False)
class Observations:
    """Thetas `n x d`, their NLLs `n` and standard errors `n`, 0 where unknown.

    A failed evaluation stands here with the worst NLL of those that succeeded: there is nothing
    good at its theta, and neither a search nor the samples of its answer should go there.
    """

    thetas: FloatArray
    nll: FloatArray
    nll_se: FloatArray

    @classmethod
    def of(cls, evaluations: Sequence[Evaluation]) -> Observations:
        """Of evaluations; empty where all of them failed."""
        nll = np.array([evaluation.nll for evaluation in evaluations], dtype=np.float64)
        failed = np.isnan(nll)
        if failed.all():
            dimension = len(evaluations[0].theta) if evaluations else 0
            return cls(np.empty((0, dimension)), np.empty(0), np.empty(0))
        nll_se = np.array([evaluation.nll_se for evaluation in evaluations])
        return cls(
            thetas=np.array([evaluation.theta for evaluation in evaluations]),
            nll=np.where(failed, np.nanmax(nll), nll),
            nll_se=np.where(failed, 0.0, nll_se),
        )

    def __len__(self) -> int:
        return len(self.nll)

    def joined_by(self, thetas: FloatArray, nll: FloatArray) -> Observations:
        """These and others whose standard errors are unknown."""
        return Observations(
            np.concatenate([self.thetas, thetas]),
            np.concatenate([self.nll, nll]),
            np.concatenate([self.nll_se, np.zeros(len(nll))]),
        )
