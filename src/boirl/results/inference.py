"""What the demonstrations say of the parameters: a posterior over rewards.

With a uniform prior over the box, the probability of theta given `N` demonstrations goes with
`exp(-N * NLL(theta))`. The NLL is known at the evaluations alone; elsewhere it is drawn from the
Gaussian process, a landscape for each sample, so that what the surrogate does not know widens the
posterior as it should.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.stats import multivariate_normal, qmc

from boirl.surrogate.fitted import FittedSurrogate
from boirl.types import Box, FloatArray

CANDIDATES = 1024
ROUNDS = 8
IMPOSSIBLE = 12.0
"""Nats below the most probable that do not matter."""

ADAPTATIONS = 2
PILOT_SAMPLES = 200
WIDENED, LEAST_WIDTH = 1.5, 1e-3
"""Candidates near earlier samples spread so many times as far, and by so much of the part at least.
Wider than the samples, so that what they missed can be found."""

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
        searched: Whether the width is due to the demonstrations. Else the search does not know the
            landscape well enough to tell.
    """

    name: str
    low: float
    median: float
    high: float
    share: float
    searched: bool = field(default=True, kw_only=True)

    @property
    def verdict(self) -> str:
        """`"pinned down"`, `"narrowed"`, `"free"` or `"not searched enough"`."""
        if not self.searched:
            return "not searched enough"
        if self.share <= PINNED:
            return "pinned down"
        return "free" if self.share >= FREE else "narrowed"


def sample_rewards(
    fitted: FittedSurrogate, n_demonstrations: int, n: int, rng: np.random.Generator
) -> FloatArray:
    """Draw thetas, `n x d`, from the posterior over rewards.

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
    thetas, log_density = _spread(part, rng), np.zeros(CANDIDATES)
    for _ in range(ADAPTATIONS):
        drawn = _draw(fitted, thetas, log_density, n_demonstrations, PILOT_SAMPLES, rng)
        thetas, log_density = _around_samples(drawn, part, rng)
    return _draw(fitted, thetas, log_density, n_demonstrations, n, rng)


def _draw(
    fitted: FittedSurrogate,
    thetas: FloatArray,
    log_density: FloatArray,
    n_demonstrations: int,
    n: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Samples from candidates `n x d` that were drawn with a density, each under a landscape."""
    landscapes = fitted.sample(thetas, n, rng)
    # The highest sum of a log-weight and Gumbel noise is a draw by the weights.
    noise = rng.gumbel(size=landscapes.shape)
    return thetas[(noise - n_demonstrations * landscapes - log_density).argmax(axis=1)]


def _around_samples(
    samples: FloatArray, part: Box, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """New candidates, half of them all over a part of the box, half where samples were.

    Returns:
        Thetas `n x d` and the logarithm of the density that they were drawn with, `n`.
    """
    unit = part.to_unit(samples)
    covariance = WIDENED**2 * np.cov(unit.T).reshape(part.dimension, part.dimension)
    covariance += LEAST_WIDTH**2 * np.eye(part.dimension)
    near = multivariate_normal(unit.mean(axis=0), covariance)
    drawn = np.asarray(near.rvs(CANDIDATES // 2, random_state=rng)).reshape(-1, part.dimension)
    drawn = drawn[np.all((drawn >= 0.0) & (drawn <= 1.0), axis=1)]
    candidates = np.concatenate([part.to_unit(_spread(part, rng))[: CANDIDATES // 2], drawn])
    density = np.logaddexp(0.0, near.logpdf(candidates))
    return part.from_unit(candidates), density


def summarise_parameters(samples: FloatArray, box: Box) -> list[ParameterSummary]:
    """What samples of the posterior, `n x d`, say of each parameter."""
    low, median, high = np.quantile(samples, [0.025, 0.5, 0.975], axis=0)
    # Samples of a uniform posterior may happen to spread a little wider.
    shares = np.minimum(1.0, (high - low) / (0.95 * (box.high - box.low)))
    rows = zip(box.names, low, median, high, shares, strict=True)
    return [ParameterSummary(name, *map(float, numbers)) for name, *numbers in rows]


def _spread(part: Box, rng: np.random.Generator) -> FloatArray:
    return part.from_unit(qmc.Sobol(part.dimension, rng=rng).random(CANDIDATES))


def _around(thetas: FloatArray, part: Box) -> Box:
    """The box that thetas span, with a margin, within a part."""
    margin = MARGIN * (part.high - part.low)
    low = np.maximum(part.low, thetas.min(axis=0) - margin)
    return Box(part.names, low, np.minimum(part.high, thetas.max(axis=0) + margin))
