"""The record of predictions: what earlier evaluations made of later ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm

from boirl.results.findings import Finding
from boirl.types import FloatArray, IntArray

if TYPE_CHECKING:
    from boirl.results.reward_set import RewardSet

CUTS = (0.5, 0.75)
"""Shares of the evaluations that the surrogate is refitted to, to predict those up to the next."""


@dataclass(frozen=True, eq=False)
class PredictionRecord:
    """Later evaluations as earlier ones predicted them.

    Attributes:
        numbers: Of the evaluations, `n`.
        nll: As evaluated, `n`.
        mean: As predicted, `n`.
        sd: Of an evaluation, its noise included, `n`.
    """

    numbers: IntArray
    nll: FloatArray
    mean: FloatArray
    sd: FloatArray

    @property
    def standardised(self) -> FloatArray:
        """Errors in standard deviations, `n`."""
        return (self.nll - self.mean) / np.maximum(self.sd, 1e-12)

    @property
    def coverage(self) -> float:
        """Share of the evaluations within their 95 % intervals; NaN where there are none."""
        inside = np.abs(self.standardised) <= norm.ppf(0.975)
        return float(inside.mean()) if len(inside) else float("nan")


def prediction_record(found: RewardSet) -> PredictionRecord:
    """Refit the surrogate to the first half and to three quarters, and predict what followed."""
    cuts = [int(share * len(found)) for share in CUTS]
    ends = [*cuts[1:], len(found)]
    parts = []
    for cut, end in zip(cuts, ends, strict=True):
        numbers = np.arange(cut, end)[np.isfinite(found.nll[cut:end])]
        # Two evaluations per parameter are the least that a landscape shows in.
        known = int(np.isfinite(found.nll[:cut]).sum())
        if len(numbers) and known >= 2 * found.problem.box.dimension:
            mean, sd = found.truncate(cut).predict_nll(found.thetas[numbers], observed=True)
            parts.append((numbers, found.nll[numbers], mean, sd))
    if not parts:
        return PredictionRecord(np.empty(0, dtype=np.int64), *(np.empty(0) for _ in range(3)))
    numbers, nll, mean, sd = (np.concatenate(column) for column in zip(*parts, strict=True))
    return PredictionRecord(numbers, nll, mean, sd)


def check_predictions(found: RewardSet) -> Finding | None:
    """Whether predictions were off where that matters.

    An error matters if it exceeds the likelihood-ratio tolerance and either the prediction or the
    evaluation is within the tolerance of the best. The largest standardised error of those may be
    as large as that of so many normal numbers at 95 % (Bonferroni, which allows for correlation).
    """
    record = prediction_record(found)
    if not len(record.numbers):
        return None
    tolerance = found.likelihood_ratio_tolerance()
    errors = np.abs(record.nll - record.mean)
    close = np.minimum(record.nll, record.mean) <= found.best_nll + tolerance
    size = len(record.numbers)
    limit = float(norm.ppf(1.0 - 0.025 / size))
    off = close & (errors > tolerance) & (np.abs(record.standardised) > limit)
    data = {
        "numbers": record.numbers,
        "mean": record.mean,
        "sd": record.sd,
        "standardised": record.standardised,
        "coverage": record.coverage,
        "off": record.numbers[off],
        "limit": limit,
    }
    held = f"{record.coverage:.0%} of {size} later evaluations were in their 95 % intervals"
    if not off.any():
        return Finding("predictions", False, held, data)
    worst = int(np.where(off, np.abs(record.standardised), 0.0).argmax())
    text = (
        f"{int(off.sum())} of {size} later evaluations were off where it matters (number "
        f"{record.numbers[worst]}: {record.mean[worst]:.4g} ± {record.sd[worst]:.2g} predicted, "
        f"{record.nll[worst]:.4g} found); run more evaluations, or verify"
    )
    return Finding("predictions off", True, text, data)
