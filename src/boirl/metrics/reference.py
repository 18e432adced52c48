"""The exact optimum and the exact posterior over rewards, to measure answers against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boirl.cache import cached_arrays
from boirl.estimation.optimum import CountedNll, find_optimum
from boirl.metrics.exact_chains import PARTICLES, sample_exactly
from boirl.problem import Problem
from boirl.tolerance import likelihood_ratio_tolerance
from boirl.types import Box, FloatArray

VERSION = 1
"""Of how references are computed: a new one leaves those in the cache unused."""

STARTS = 8
BINS = 20
KEPT_PER_CHAIN = 250
NOISE_DRAWS = 16


@dataclass(frozen=True, eq=False)
class ExactReference:
    """What is exactly true of a problem.

    Attributes:
        box: Names and bounds of the parameters.
        best: The theta of lowest NLL, `d`.
        best_nll: Its NLL.
        n_demonstrations: `N`.
        chains: Samples of the posterior under a uniform prior over the box, `m x n x d`.
        r_hat: The largest of the parameters.
        effective_sample_size: The smallest of the parameters.
        evaluations: Exact NLLs that it took.
    """

    box: Box
    best: FloatArray
    best_nll: float
    n_demonstrations: int
    chains: FloatArray
    r_hat: float
    effective_sample_size: float
    evaluations: int

    @property
    def samples(self) -> FloatArray:
        """All samples of the posterior, `n x d`."""
        return self.chains.reshape(-1, self.box.dimension)

    @property
    def median(self) -> FloatArray:
        """Of each parameter, `d`."""
        return np.median(self.samples, axis=0)

    @property
    def halves(self) -> tuple[FloatArray, FloatArray]:
        """The samples of one half of the chains, and of the other, `n x d` each."""
        middle = len(self.chains) // 2
        one, other = self.chains[:middle], self.chains[middle:]
        return one.reshape(-1, self.box.dimension), other.reshape(-1, self.box.dimension)

    def tolerances_above(self, nll: float) -> float:
        """How far an NLL is above the optimum, in tolerances of the likelihood-ratio test."""
        tolerance = likelihood_ratio_tolerance(self.n_demonstrations, self.box.dimension)
        return (nll - self.best_nll) / tolerance

    def variation(self, samples: FloatArray) -> float:
        """Mean marginal total variation between samples, `n x d`, and the posterior.

        Each marginal is cut into 20 bins that are equally probable.
        """
        whole = self.samples
        inner = np.quantile(whole, np.arange(1, BINS) / BINS, axis=0)
        columns = zip(inner.T, whole.T, samples.T, strict=True)
        return float(np.mean([_variation(*column) for column in columns]))

    def noise(self, n: int, seed: int = 0) -> float:
        """The `variation` to expect of `n` independent exact draws.

        That of draws from one half of the chains: a half differs from the whole by as much, in
        expectation, as the whole differs from the truth.
        """
        rng = np.random.default_rng(seed)
        drawn = [
            half[rng.integers(len(half), size=n)]
            for half in self.halves
            for _ in range(NOISE_DRAWS)
        ]
        return float(np.mean([self.variation(samples) for samples in drawn]))


def marginal_shares(edges: FloatArray, values: FloatArray) -> FloatArray:
    """The share of values in each of the bins between inner edges, `k + 1`."""
    counts = np.bincount(np.searchsorted(edges, values), minlength=len(edges) + 1)
    return counts / len(values)


def _variation(edges: FloatArray, one: FloatArray, other: FloatArray) -> float:
    return float(0.5 * np.abs(marginal_shares(edges, one) - marginal_shares(edges, other)).sum())


def exact_reference(
    problem: Problem[Any],
    seed: int = 0,
    least_effective: float = 5000.0,
    most_rounds: int = 24,
    particles: int = PARTICLES,
) -> ExactReference:
    """The reference of a problem; computed once, then in the cache.

    The optimum is the best end of descents by exact gradients, from thetas all over the box, from
    the truth where it is known, and from the best sample of the posterior. Samples have the density
    `exp(-N NLL)`; rewards without a policy have density 0.

    Args:
        problem: With known dynamics.
        seed: Of starts and chains.
        least_effective: Effective sample size to reach.
        most_rounds: See `sample_exactly`.
        particles: See `sample_exactly`.
    """

    def compute() -> dict[str, FloatArray]:
        return _compute(problem, seed, least_effective, most_rounds, particles)

    key = (
        "exact reference",
        VERSION,
        problem.fingerprint(),
        *(seed, least_effective, most_rounds, particles),
    )
    arrays = cached_arrays("exact-references", key, compute)
    return ExactReference(
        problem.box,
        arrays["best"],
        float(arrays["best_nll"]),
        len(problem.demonstrations),
        arrays["chains"],
        float(arrays["r_hat"]),
        float(arrays["effective_sample_size"]),
        int(arrays["evaluations"]),
    )


def _compute(
    problem: Problem[Any], seed: int, least_effective: float, most_rounds: int, particles: int
) -> dict[str, FloatArray]:
    box, objective = problem.box, CountedNll(problem)
    truth = None if problem.truth is None else box.to_unit(np.array([problem.truth]))
    optimum = find_optimum(objective, STARTS, seed, truth)
    lowest = [optimum.nll]
    best_seen = [optimum.unit]
    n = len(problem.demonstrations)

    def log_density(units: FloatArray) -> FloatArray:
        nll = problem.nll_batch(box.from_unit(units))
        if np.isfinite(nll).any() and np.nanmin(nll) < lowest[0]:
            lowest[0] = float(np.nanmin(nll))
            best_seen[0] = units[np.nanargmin(nll)]
        return -n * (nll - optimum.nll)

    chains = sample_exactly(
        log_density, box.dimension, seed, 1.01, least_effective, most_rounds, particles
    )
    if lowest[0] < optimum.nll:
        again = find_optimum(objective, 1, seed, best_seen[0][None])
        optimum = min(optimum, again, key=lambda one: one.nll)
        lowest[0] = min(lowest[0], optimum.nll)
    every = max(1, chains.points.shape[1] // KEPT_PER_CHAIN)
    best = optimum.unit if optimum.nll <= lowest[0] else best_seen[0]
    return {
        "best": box.from_unit(best),
        "best_nll": np.array(lowest[0]),
        "chains": box.from_unit(chains.points[:, ::every]),
        "r_hat": np.array(chains.r_hat),
        "effective_sample_size": np.array(chains.effective_sample_size),
        "evaluations": np.array(float(chains.evaluations + objective.evaluations)),
    }
