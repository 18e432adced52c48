"""How well a posterior matches the exact landscape of the NLL."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boirl.solutions import RewardSet


@dataclass(frozen=True)
class LandscapeFit:
    """Root mean square error of the posterior mean, and share of NLLs in the 95 % intervals."""

    rmse: float
    coverage: float


def landscape_fit(found: RewardSet, count: int = 2000, seed: int = 0) -> LandscapeFit:
    """Compare the posterior with the exact NLL at `count` uniformly drawn thetas."""
    box = found.problem.box
    thetas = box.from_unit(np.random.default_rng(seed).random((count, box.dimension)))
    exact = found.problem.nll_batch(thetas)
    known = np.isfinite(exact)
    mean, sd = found.posterior(thetas[known])
    error = mean - exact[known]
    return LandscapeFit(
        rmse=float(np.sqrt(np.mean(error**2))),
        coverage=float(np.mean(np.abs(error) <= 1.96 * sd)),
    )
