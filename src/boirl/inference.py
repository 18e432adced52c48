"""What the demonstrations say of the parameters: a posterior over rewards.

With a uniform prior over the box, the probability of theta given `N` demonstrations goes with
`exp(-N * NLL(theta))`. The NLL is known at the evaluations alone; elsewhere it is drawn from the
Gaussian process, a landscape for each sample, so that what the surrogate does not know widens the
posterior as it should.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc

from boirl.fitted import FittedSurrogate
from boirl.types import Box, FloatArray

CANDIDATES = 1024
ROUNDS = 8
IMPOSSIBLE = 12.0
"""Nats below the most probable that do not matter."""

MARGIN = 0.05
SHRINKS = 0.8
"""A part of the box that is no smaller than this share of the last one is small enough."""

PINNED, FREE = 0.2, 0.8
"""Shares of its range up to which a parameter is pinned down, and from which on it is free."""


@dataclass(frozen=True)
class ParameterSummary:
    """What is known of a parameter: the middle and the ends of its 95 % interval.

    Attributes:
        share: Width of the interval as a share of what it would be without demonstrations.
    """

    name: str
    low: float
    median: float
    high: float
    share: float

    @property
    def verdict(self) -> str:
        """`"pinned down"`, `"narrowed"` or `"free"`."""
        if self.share <= PINNED:
            return "pinned down"
        return "free" if self.share >= FREE else "narrowed"


def sample_rewards(
    fitted: FittedSurrogate, n_demonstrations: int, count: int, rng: np.random.Generator
) -> FloatArray:
    """Draw thetas, `count x d`, from the posterior over rewards.

    Candidates fill the part of the box that may matter, which is found by narrowing it down to
    thetas that are not impossible. Each sample is drawn from them under a landscape of its own.
    """
    part = fitted.box
    for _ in range(ROUNDS):
        thetas = _spread(part, rng)
        mean, _ = fitted.posterior(thetas)
        low, _ = fitted.interval(thetas)
        possible = thetas[n_demonstrations * (low - mean.min()) <= IMPOSSIBLE]
        narrower = _around(possible, part)
        shrinks = np.prod((narrower.high - narrower.low) / (part.high - part.low))
        part = narrower
        if shrinks >= SHRINKS:
            break
    thetas = np.concatenate([_spread(part, rng), fitted.thetas[_inside(fitted.thetas, part)]])
    landscapes = fitted.sample(thetas, count, rng)
    # The highest sum of a log-weight and Gumbel noise is a draw by the weights.
    noise = rng.gumbel(size=landscapes.shape)
    return thetas[(noise - n_demonstrations * landscapes).argmax(axis=1)]


def summarise_parameters(samples: FloatArray, box: Box) -> list[ParameterSummary]:
    """What samples of the posterior, `n x d`, say of each parameter."""
    low, median, high = np.quantile(samples, [0.025, 0.5, 0.975], axis=0)
    shares = (high - low) / (0.95 * (box.high - box.low))
    rows = zip(box.names, low, median, high, shares, strict=True)
    return [ParameterSummary(name, *map(float, numbers)) for name, *numbers in rows]


def _spread(part: Box, rng: np.random.Generator) -> FloatArray:
    return part.from_unit(qmc.Sobol(part.dimension, rng=rng).random(CANDIDATES))


def _around(thetas: FloatArray, part: Box) -> Box:
    """The box that thetas span, with a margin, within a part."""
    margin = MARGIN * (part.high - part.low)
    low = np.maximum(part.low, thetas.min(axis=0) - margin)
    return Box(part.names, low, np.minimum(part.high, thetas.max(axis=0) + margin))


def _inside(thetas: FloatArray, part: Box) -> np.ndarray:
    return np.all((thetas >= part.low) & (thetas <= part.high), axis=1)
