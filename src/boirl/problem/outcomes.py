"""What training runs of one reward end with, and what follows from all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from boirl.policies.network import NetworkPolicy
from boirl.types import FloatArray

EQUALLY_GOOD = 0.02
"""How much of the gain over random actions a run may lack to count as good as the best."""

TRIMMED = 0.25
"""Share of runs at each end whose NLLs are left out: a policy may be as good and yet odd in places
where it never goes."""


class Outcome(NamedTuple):
    """What a training run ended with.

    Attributes:
        policy: What was learned.
        log_likelihoods: Log-likelihood of each trajectory under it, `N`.
        mean_return: Of its roll-outs under theta.
        warm: Whether the run started from an anchor.
    """

    policy: NetworkPolicy
    log_likelihoods: FloatArray
    mean_return: float
    warm: bool

    @property
    def nll(self) -> float:
        return -float(self.log_likelihoods.mean())


def equally_good(outcomes: Sequence[Outcome], chance: float) -> list[Outcome]:
    """The outcomes that are about as good as the best, given the return of random actions.

    Runs from scratch and warm-started runs are two kinds, which may explain demonstrations
    differently though they are equally good. Only one kind is kept.
    """
    best = max(outcomes, key=mean_return).mean_return
    good = [one for one in outcomes if one.mean_return >= best - EQUALLY_GOOD * abs(best - chance)]
    from_scratch = [one for one in good if not one.warm]
    return from_scratch or good


def centre(values: FloatArray, trimmed: float) -> tuple[float, float]:
    """Mean and its standard error, without a share of the values at each end; 0 for a single one.

    The standard error of a trimmed mean is that of Yuen: by the standard deviation after trimmed
    values were set to the nearest that is kept.
    """
    count = len(values)
    cut = int(trimmed * count)
    ordered = np.sort(values)
    kept = ordered[cut : count - cut]
    if count == 1:
        return float(kept[0]), 0.0
    pulled_in = np.clip(ordered, kept[0], kept[-1])
    spread = float(pulled_in.std(ddof=1)) / (1.0 - 2.0 * cut / count)
    return float(kept.mean()), spread / math.sqrt(count)


def without_extremes(outcomes: Sequence[Outcome], trimmed: float) -> list[Outcome]:
    """Those whose mean NLL `centre` gives, the one with the highest return first."""
    cut = int(trimmed * len(outcomes))
    ordered = sorted(outcomes, key=lambda outcome: outcome.nll)[cut : len(outcomes) - cut]
    return sorted(ordered, key=mean_return, reverse=True)


def mean_return(outcome: Outcome) -> float:
    return outcome.mean_return
