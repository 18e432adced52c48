"""A surrogate under a prior over theta: NLLs from which the prior's share is taken off."""

from __future__ import annotations

import numpy as np

from boirl.priors import Prior
from boirl.surrogate.fitted import FittedSurrogate
from boirl.types import Box, FloatArray


class PenalisedSurrogate:
    """What samples of the posterior need of a surrogate, with `NLL - log_prior / N` for the NLL.

    `exp(-N (NLL - log_prior / N))` is likelihood times prior.

    Args:
        fitted: Of the NLL.
        prior: Over theta.
        n_demonstrations: `N`.
    """

    def __init__(self, fitted: FittedSurrogate, prior: Prior, n_demonstrations: int) -> None:
        self.fitted = fitted
        self.prior = prior
        self.n_demonstrations = n_demonstrations

    @property
    def box(self) -> Box:
        return self.fitted.box

    def penalty(self, thetas: FloatArray) -> FloatArray:
        """What is added to the NLL of thetas `n x d`: `n`."""
        return -self.prior.log_prior(thetas) / self.n_demonstrations

    def posterior(self, thetas: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, sd = self.fitted.posterior(thetas)
        return mean + self.penalty(thetas), sd

    def interval(self, thetas: FloatArray) -> tuple[FloatArray, FloatArray]:
        low, high = self.fitted.interval(thetas)
        penalty = self.penalty(thetas)
        return low + penalty, high + penalty

    def sample(self, thetas: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        return self.fitted.sample(thetas, n, rng) + self.penalty(thetas)
