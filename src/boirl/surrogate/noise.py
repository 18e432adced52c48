"""How noisy evaluations are: standard errors that came with them, and what is made of those.

A policy that is learned from samples gives another NLL every time. An evaluator that repeats itself
reports the mean and its standard error; one that does not reports 0, and the noise has to be
learned.

The standard error of two or three repeats is itself a poor estimate, and two repeats may agree by
luck. On the other hand the noise of learning is not the same everywhere. The variance at a theta is
therefore a weighted mean: of the evaluations around it that reported a standard error, and, with
the weight of one evaluation, of all that did. An evaluation far from others thus has the mean of
its own and of the pooled variance; one that reported none and has no neighbours has the pooled one.

A theta that was evaluated several times shows how noisy it is: the variance of its NLLs is what
counts there, the more the more of them there are, and from four on no noise is added to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boirl.errors import InvalidInputError
from boirl.types import FloatArray, IntArray

SE_PSEUDO_REPEATS = 2.0
"""Weight of a reported standard error, in repeats of the evaluation. Where a theta has more degrees
of freedom of its own, from four evaluations on, they determine its noise without help."""

SAME_THETA = 1e-9

NEIGHBOURHOOD = 0.05
"""Evaluations closer than about this share of the box are taken to be as noisy as each other."""


def check_standard_errors(nll_se: ArrayLike | None, n: int) -> FloatArray:
    """The standard errors of so many evaluations, 0 where unknown; an error names a wrong one."""
    if nll_se is None:
        return np.zeros(n)
    errors = np.asarray(nll_se, dtype=np.float64)
    if errors.shape != (n,):
        raise InvalidInputError(
            f"nll_se has shape {errors.shape}; expected one number for each of {n} evaluations"
        )
    wrong = np.flatnonzero(~(np.isfinite(errors) & (errors >= 0.0)))
    if wrong.size:
        raise InvalidInputError(
            f"nll_se of evaluation {wrong[0]} is {errors[wrong[0]]}; expected a finite number, 0 "
            "or more; report 0 where the standard error is not known"
        )
    return errors


def pooled_variance(nll_se: FloatArray) -> float:
    """The mean squared standard error of the evaluations that reported one; 0 where none did."""
    reported = nll_se[nll_se > 0.0]
    return float(np.square(reported).mean()) if reported.size else 0.0


def noise_variances(nll_se: FloatArray, unit: FloatArray, at: FloatArray) -> FloatArray:
    """The variance that an evaluation at each of `m` thetas is taken to have, `m`.

    Args:
        nll_se: Standard errors of `n` evaluations, 0 where they reported none.
        unit: Their thetas in the unit cube, `n x d`.
        at: Where, in the unit cube, `m x d`.
    """
    reported = nll_se > 0.0
    squared = np.square(at[:, None] - unit[reported]).sum(axis=2) / NEIGHBOURHOOD**2
    weights = np.exp(-0.5 * squared)
    total: FloatArray = weights @ np.square(nll_se[reported]) + pooled_variance(nll_se)
    return total / (weights.sum(axis=1) + 1.0)


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """How noisy evaluations are, by those seen.

    Args:
        nll: Their NLLs, `n`.
        nll_se: Their standard errors, `n`, 0 where they reported none.
        unit: Their thetas in the unit cube, `n x d`.
    """

    nll: FloatArray
    nll_se: FloatArray
    unit: FloatArray

    def variances(self, at: FloatArray) -> FloatArray:
        """The variance of an evaluation at each of `m` points of the unit cube, `m`.

        Logarithms of what standard errors and repeats say are averaged: a theta that repeats itself
        to a tenth is not as noisy as others that do not.
        """
        reported = noise_variances(self.nll_se, self.unit, at)
        spread, freedom = self._repeats(at)
        repeated = (freedom > 0) & (spread > 0.0) & (reported > 0.0)
        freedom, spread = freedom[repeated], spread[repeated]
        logs = freedom * np.log(spread) + SE_PSEUDO_REPEATS * np.log(reported[repeated])
        reported[repeated] = np.exp(logs / (freedom + SE_PSEUDO_REPEATS))
        return reported

    def is_unknown(self, at: FloatArray) -> np.ndarray:
        """Where an evaluation may be noisier than `variances`, at each of `m` points, `m`."""
        spread, freedom = self._repeats(at)
        known = (freedom > SE_PSEUDO_REPEATS) & (spread > 0.0) & self.nll_se.any()
        return ~known

    def _repeats(self, at: FloatArray) -> tuple[FloatArray, IntArray]:
        """Variance of repeated evaluations at `m` points, and how many there are less one."""
        spread, freedom = np.zeros(len(at)), np.zeros(len(at), dtype=np.int64)
        thetas, group, counts = np.unique(
            self.unit, axis=0, return_inverse=True, return_counts=True
        )
        for number in np.flatnonzero(counts > 1):
            here = np.abs(at - thetas[number]).max(axis=1) <= SAME_THETA
            spread[here] = self.nll[group.reshape(-1) == number].var(ddof=1)
            freedom[here] = counts[number] - 1
        return spread, freedom
