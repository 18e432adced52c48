"""How well a posterior matches the exact landscape of the NLL."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boirl.results import RewardSet
from boirl.types import FloatArray


@dataclass(frozen=True)
class LandscapeFit:
    """Root mean square error of the posterior mean, and share of NLLs in the 95 % intervals."""

    rmse: float
    coverage: float


def landscape_fit(found: RewardSet, n: int = 2000, seed: int = 0) -> LandscapeFit:
    """Compare the posterior with the exact NLL at `n` uniformly drawn thetas."""
    box = found.problem.box
    thetas = box.from_unit(np.random.default_rng(seed).random((n, box.dimension)))
    return landscape_error(found, thetas, found.problem.nll_batch(thetas))


def landscape_error(found: RewardSet, thetas: FloatArray, exact: FloatArray) -> LandscapeFit:
    """Compare the posterior with exact NLLs, `n`, at thetas `n x d`; NaNs are left out."""
    known = np.isfinite(exact)
    mean, _ = found.predict_nll(thetas)
    low, high = found.fitted.interval(thetas)
    inside = (low <= exact) & (exact <= high)
    return LandscapeFit(
        rmse=float(np.sqrt(np.mean((mean - exact)[known] ** 2))),
        coverage=float(inside[known].mean()),
    )


def set_f1(found: RewardSet, thetas: FloatArray, exact: FloatArray, tolerance: float) -> float:
    """F1 of the predicted set of rewards within a relative tolerance of the best.

    Predicted: those whose posterior mean is within the tolerance of the best NLL found. True:
    those whose exact NLL is within it of the best NLL known, that of the truth included.
    """
    mean, _ = found.predict_nll(thetas)
    best = float(np.nanmin(exact))
    if found.truth is not None:
        best = min(best, found.truth.nll)
    predicted = mean <= found.best_nll + tolerance * abs(found.best_nll)
    true = exact <= best + tolerance * abs(best)
    return float(2.0 * (predicted & true).sum() / max(1, predicted.sum() + true.sum()))
