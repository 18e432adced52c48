"""Numbers from trials, with honest intervals: bootstrap, exact binomial, and paired tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

RESAMPLES = 10_000
LEVEL = 0.95


class Interval(NamedTuple):
    low: float
    high: float


def bootstrap_mean(values: Sequence[float], seed: int = 0) -> Interval:
    """95 % percentile interval of a mean, by resampling trials."""
    given = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(seed)
    means = given[rng.integers(len(given), size=(RESAMPLES, len(given)))].mean(axis=1)
    low, high = np.quantile(means, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0])
    return Interval(float(low), float(high))


def share_interval(successes: int, trials: int) -> Interval:
    """95 % interval of a share (Wilson)."""
    found = binomtest(successes, trials).proportion_ci(LEVEL, method="wilson")
    return Interval(float(found.low), float(found.high))


class Paired(NamedTuple):
    """Two methods on the same trials: who was first in how many, and how likely that is by luck.

    `p` is that of the exact two-sided sign test over the trials that have a first. A method that
    never got there is later than one that did; trials in which neither did say nothing.
    """

    first: int
    second: int
    p: float


def paired(one: Mapping[object, int | None], other: Mapping[object, int | None]) -> Paired:
    """Compare evaluations needed, by trial; None is never."""
    both = [(one[trial], other[trial]) for trial in one if trial in other]
    needed = [(np.inf if a is None else a, np.inf if b is None else b) for a, b in both]
    first = sum(a < b for a, b in needed)
    second = sum(b < a for a, b in needed)
    p = binomtest(first, first + second).pvalue if first + second else 1.0
    return Paired(first, second, float(p))
