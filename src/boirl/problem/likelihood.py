"""How well a policy explains demonstrations. Every algorithm measures it here and only here."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from boirl.demonstrations import Demonstrations
from boirl.types import FloatArray


class Policy(Protocol):
    """Anything that gives the log probability of `T` actions (whole numbers or vectors)."""

    def log_prob(self, states: NDArray[Any], actions: NDArray[Any]) -> FloatArray: ...


def trajectory_log_likelihoods(policy: Policy, demonstrations: Demonstrations) -> FloatArray:
    """`sum over steps of log pi(a|s)` for each of `N` trajectories, `N`; no dynamics term."""
    log_probs = policy.log_prob(demonstrations.states, demonstrations.actions)
    totals = np.bincount(demonstrations.trajectory_numbers, log_probs, len(demonstrations))
    return totals.astype(np.float64)


def negative_log_likelihood(policy: Policy, demonstrations: Demonstrations) -> float:
    """The mean over trajectories of their negative log-likelihoods."""
    return -float(trajectory_log_likelihoods(policy, demonstrations).mean())


def negative_log_likelihoods(
    log_policies: FloatArray, demonstrations: Demonstrations
) -> FloatArray:
    """The same for a batch of tabular policies `n x S x A`: `n` numbers.

    Steps are counted by state-action first, so that further trajectories add no cost.
    """
    n_actions = log_policies.shape[2]
    pairs, counts = np.unique(
        demonstrations.states * n_actions + demonstrations.actions, return_counts=True
    )
    visited = log_policies.reshape(len(log_policies), -1)[:, pairs]
    totals: FloatArray = visited @ counts
    return -totals / len(demonstrations)
