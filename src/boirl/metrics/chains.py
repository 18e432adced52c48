"""Have Markov chains mixed? (Vehtari et al. 2021, Bayesian Analysis.)

Both measures look at ranks, so that they hold for any distribution, and at the halves of each
chain, so that a drift shows. NaN where chains are shorter than four steps or nothing ever moved.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from boirl.types import FloatArray

SHORTEST = 4
TINY = 1e-12
"""Variance of rank scores below which a chain has not moved."""


def r_hat(chains: FloatArray) -> float:
    """Rank-normalised split R-hat of one number in `m` chains of `n` steps, `m x n`.

    1 where all chains are alike; above 1.01 to 1.05 they have not mixed. The larger of two: that of
    the numbers, and that of their distances from the median, which sees chains of unlike spread.
    """
    halves = _halves(chains)
    if halves is None:
        return float("nan")
    distances = np.abs(halves - np.median(halves))
    return max(_ratio(numbers) for numbers in (halves, distances) if np.ptp(numbers) > 0.0)


def effective_sample_size(chains: FloatArray) -> float:
    """How many independent draws are as informative of the middle of one number: bulk ESS.

    Args:
        chains: The number in `m` chains of `n` steps, `m x n`.
    """
    halves = _halves(chains)
    if halves is None:
        return float("nan")
    ranks = _normalise_ranks(halves)
    length = ranks.shape[1]
    covariances = _autocovariances(ranks).mean(axis=0)
    within = covariances[0] * length / (length - 1.0)
    variance = covariances[0] + ranks.mean(axis=1).var(ddof=1)
    correlations = 1.0 - (within - covariances) / variance
    correlations[0] = 1.0
    # Geyer: sums of neighbouring correlations are positive and fall; what does not is noise.
    pairs = correlations[: length // 2 * 2].reshape(-1, 2).sum(axis=1)
    stop = int(np.argmax(pairs <= 0.0)) if (pairs <= 0.0).any() else len(pairs)
    time = 2.0 * np.minimum.accumulate(pairs[:stop]).sum() - 1.0
    # Chains that swing may beat independent draws, but not by any factor.
    return float(ranks.size / max(time, 1.0 / np.log10(ranks.size)))


def _halves(chains: FloatArray) -> FloatArray | None:
    """Both halves of each chain, `2m x n/2`; the middle of an odd number of steps is left out."""
    half = chains.shape[1] // 2
    if chains.shape[1] < SHORTEST:
        return None
    halves = np.concatenate([chains[:, :half], chains[:, -half:]])
    return halves if np.ptp(halves) > 0.0 else None


def _normalise_ranks(chains: FloatArray) -> FloatArray:
    ranks = rankdata(chains, axis=None).reshape(chains.shape)
    scores: FloatArray = ndtri((ranks - 0.375) / (chains.size + 0.25))
    return scores


def _ratio(chains: FloatArray) -> float:
    ranks = _normalise_ranks(chains)
    length = ranks.shape[1]
    within = ranks.var(axis=1, ddof=1).mean()
    between = ranks.mean(axis=1).var(ddof=1)
    return float(np.sqrt((length - 1.0) / length + between / max(within, TINY)))


def _autocovariances(chains: FloatArray) -> FloatArray:
    """Of each chain at each lag, `m x n`, by the fast Fourier transform."""
    length = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    spectrum = np.abs(np.fft.rfft(centred, 2 * length, axis=1)) ** 2
    return np.fft.irfft(spectrum, 2 * length, axis=1)[:, :length] / length
