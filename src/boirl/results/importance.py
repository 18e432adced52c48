"""Exact samples of a density by importance, from proposals that learn where it is.

Points are drawn in rounds. A tenth come from the uniform distribution, so that what everybody else
missed may be found; the others from a mixture around samples: first those that somebody guessed,
then those of the rounds before. Each point is weighted by the density over that of all rounds
together (adaptive multiple importance sampling), so that none is wasted and the weights are exact
whatever the guess was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, logsumexp

from boirl.results.proposals import MixtureProposal, log_jacobian
from boirl.types import FloatArray

LogDensity = Callable[[FloatArray], FloatArray]
"""Log density of points of the unit cube, `n x d`, up to a constant; `-inf` where it is 0."""

ROUNDS = 10
POINTS_PER_PARAMETER = 10
"""Effective points that a proposal is made of at least: what a covariance takes. Where there are
fewer, weights are flattened."""

UNIFORM_SHARE = 0.1
"""Of the points that are drawn from all over the cube: its density bounds the weights there."""

EDGE = 1e-9
ARCHIVE = 1024
"""Samples that a proposal is made of."""


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """Points of the unit cube, `n x d`, their log densities `n`, and log weights `n`."""

    points: FloatArray
    log_density: FloatArray
    log_weights: FloatArray


def importance_sample(
    log_density: LogDensity, guess: FloatArray, n: int, rng: np.random.Generator
) -> WeightedPoints:
    """Weighted points of a density on the unit cube.

    Args:
        log_density: Called `n` times in all, in batches.
        guess: Samples of something near it, in the unit cube, `m x d`.
        n: Points.
        rng: All randomness comes from here.
    """
    dimension = guess.shape[1]
    archive = logit(np.clip(guess, EDGE, 1.0 - EDGE))
    n_uniform = max(1, round(UNIFORM_SHARE * n))
    spread = np.clip(rng.random((n_uniform, dimension)), EDGE, 1.0 - EDGE)
    drawn = [logit(spread)]
    known = [log_density(spread)]
    # The log of each round's density times the number of points drawn from it.
    parts: list[Callable[[FloatArray], FloatArray]] = [
        lambda places: np.log(n_uniform) + log_jacobian(places)
    ]
    weights = np.empty(0)
    for size in _sizes(n - n_uniform):
        proposal = MixtureProposal(archive[rng.permutation(len(archive))[:ARCHIVE]], rng)
        places, tried = _draw(proposal, size, rng)
        drawn.append(places)
        known.append(log_density(expit(places)))
        parts.append(_part(proposal, tried))
        all_places = np.concatenate(drawn)
        density = logsumexp([part(all_places) for part in parts], axis=0)
        weights = np.concatenate(known) + log_jacobian(all_places) - density
        if np.isfinite(weights).any():
            flat = weights * _power(weights, POINTS_PER_PARAMETER * dimension)
            chances = np.exp(flat - flat.max())
            chosen = rng.choice(len(weights), ARCHIVE, p=chances / chances.sum())
            archive = _jittered(all_places[chosen], rng)
    points = expit(np.concatenate(drawn))
    return WeightedPoints(points, np.concatenate(known), weights)


def _sizes(n: int) -> list[int]:
    """Points of each round."""
    ends = np.round(np.linspace(0, n, ROUNDS + 1)).astype(int)
    return [int(size) for size in np.diff(ends) if size]


def _part(proposal: MixtureProposal, tried: int) -> Callable[[FloatArray], FloatArray]:
    return lambda places: np.log(tried) + proposal.log_density(places)


def _draw(proposal: MixtureProposal, n: int, rng: np.random.Generator) -> tuple[FloatArray, int]:
    """`n` draws inside the cube, in logits, and how many it took with those outside."""
    found: list[FloatArray] = []
    tried = 0
    while (count := sum(len(part) for part in found)) < n:
        places, inside = proposal.draw(n, rng)
        usable = np.flatnonzero(inside)[: n - count]
        # Those after the last one that is used were not drawn.
        tried += n if len(usable) < n - count else int(usable[-1]) + 1
        found.append(places[usable])
    # Beyond this a point is on the border for all that arithmetic knows.
    edge = float(logit(1.0 - EDGE))
    return np.clip(np.concatenate(found), -edge, edge), tried


def _power(log_weights: FloatArray, least: float) -> float:
    """The highest power of the weights, at most 1, that leaves so many effective points."""
    finite = log_weights[np.isfinite(log_weights)]
    low, high = 0.0, 1.0
    if effective_size(finite) >= least or len(finite) <= least:
        return high
    for _ in range(30):
        middle = 0.5 * (low + high)
        enough = effective_size(middle * finite) >= least
        low, high = (middle, high) if enough else (low, middle)
    return low


def _jittered(places: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Resampled places, moved so little that a single one repeated has some spread."""
    return places + 1e-3 * rng.standard_normal(places.shape)


def effective_size(log_weights: FloatArray) -> float:
    """`(sum w)^2 / sum w^2`: how many unweighted samples are worth as much."""
    if not np.isfinite(log_weights).any():
        return 0.0
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.sum() ** 2 / np.square(weights).sum())


def smooth_tail(log_weights: FloatArray) -> tuple[FloatArray, float]:
    """Pareto-smoothed log weights, and the shape `k` of their tail (Vehtari et al. 2024).

    The largest weights are replaced by quantiles of the generalised Pareto distribution that fits
    them. Its `k` says how far to trust them: estimates are reliable up to 0.7.
    """
    n = int(np.isfinite(log_weights).sum())
    tail = int(min(0.2 * n, 3.0 * np.sqrt(n)))
    if tail < 5:
        return log_weights, np.inf
    order = np.argsort(log_weights, kind="stable")
    top = order[-tail:]
    shifted = log_weights - log_weights.max()
    cut = float(np.exp(shifted[order[-tail - 1]]))
    excess = np.exp(shifted[top]) - cut
    if excess[-1] <= 1e-12:
        # Weights that are all alike have no tail.
        return log_weights, -np.inf
    k, scale = _fit_pareto(np.maximum(excess, 1e-10 * excess[-1]))
    levels = (np.arange(tail) + 0.5) / tail
    quantiles = scale * (np.expm1(-k * np.log1p(-levels)) / k if k else -np.log1p(-levels))
    smoothed = log_weights.copy()
    smoothed[top] = np.minimum(np.log(cut + quantiles), 0.0) + log_weights.max()
    return smoothed, k


def _fit_pareto(excess: FloatArray) -> tuple[float, float]:
    """Shape and scale of a generalised Pareto distribution (Zhang and Stephens 2009).

    Args:
        excess: Above the threshold, ascending.
    """
    n = len(excess)
    m = 30 + int(np.sqrt(n))
    quartile = excess[max(0, int(n / 4 + 0.5) - 1)]
    ranks = np.arange(1, m + 1) - 0.5
    theta = 1.0 / excess[-1] + (1.0 - np.sqrt(m / ranks)) / (3.0 * quartile)
    shapes = np.log1p(-theta[:, None] * excess).mean(axis=1)
    likelihood = n * (np.log(-theta / shapes) - shapes - 1.0)
    weights = np.exp(likelihood - logsumexp(likelihood))
    centre = float((theta * weights).sum())
    k = float(np.log1p(-centre * excess).mean())
    # A weak prior towards 0.5, as Pareto smoothing has it, for short tails.
    return (n * k + 5.0) / (n + 10.0), -k / centre
