"""A Gaussian process over the rewards of states, by their features (Levine and others 2011).

The reward of a state is a function of its features with the covariance

    k(x, y) = variance * exp(-1/2 sum_i relevance_i ((x_i - y_i)^2 + noise [x is not y])),

and is known by its values `u` at a few inducing states: `r = K_ru K_uu^-1 u`, without the
uncertainty that is left (the deterministic training conditional). Features whose relevance is 0 do
not count. The prior is that of `u` and of the hyperparameters,

    log p = -1/2 u' K_uu^-1 u - 1/2 log |K_uu| - 1/2 tr K_uu^-2 - sum_i log(1 + relevance_i);

its third term keeps inducing states from determining each other, its last one favours few relevant
features. All of it is a function of one point in the unit cube: `u` in units of its own deviations,
which makes descents short, then the logarithms of the relevances and of the variance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from boirl.types import FloatArray, IntArray

NOISE = 1e-2
"""Of the features, twice its variance, as in the authors' toolkit."""

DEVIATIONS = 8.0
"""Bound of the values at inducing states, in standard deviations; the prior keeps them below."""

LOG_RELEVANCE = (math.log(1e-3), math.log(1e3))
LOG_VARIANCE = (math.log(1e-2), math.log(1e6))
FIRST_VARIANCE = 5.0
FIRST_SPREAD = 0.1
"""Of the values at inducing states of a start, in standard deviations."""

FIRST_LOG_RELEVANCE_SPREAD = 0.5


class RewardBelief(NamedTuple):
    """Rewards of all states, `S`, the log density of the prior, and hyperparameters."""

    rewards: Tensor
    log_prior: Tensor
    relevance: Tensor
    variance: Tensor


class RewardProcess:
    """The process on states with features `S x k`, given by its values at `m` of them.

    Args:
        features: Scaled to unit deviation.
        inducing: Numbers of the inducing states.
    """

    def __init__(self, features: Tensor, inducing: IntArray) -> None:
        chosen = features[torch.as_tensor(inducing)]
        self.to_inducing = (features[:, None, :] - chosen[None]).square()
        self.between = (chosen[:, None, :] - chosen[None]).square()
        self.n_inducing, self.n_features = chosen.shape

    @property
    def dimension(self) -> int:
        """Of the unit cube."""
        return self.n_inducing + self.n_features + 1

    def start(self, rng: np.random.Generator) -> FloatArray:
        """A point of the cube to descend from: small rewards, features about equally relevant."""
        values = FIRST_SPREAD * rng.standard_normal(self.n_inducing)
        relevance = FIRST_LOG_RELEVANCE_SPREAD * rng.standard_normal(self.n_features)
        parts = [
            _to_unit(values, -DEVIATIONS, DEVIATIONS),
            _to_unit(relevance, *LOG_RELEVANCE),
            _to_unit(np.array([math.log(FIRST_VARIANCE)]), *LOG_VARIANCE),
        ]
        return np.concatenate(parts).clip(0.0, 1.0)

    def belief(self, unit: Tensor) -> RewardBelief:
        """What a point of the cube, `dimension`, stands for; differentiable."""
        sizes = [self.n_inducing, self.n_features, 1]
        white, relevance, variance = unit.split(sizes)
        white = _from_unit(white, -DEVIATIONS, DEVIATIONS)
        relevance = _from_unit(relevance, *LOG_RELEVANCE).exp()
        variance = _from_unit(variance, *LOG_VARIANCE).exp()[0]
        blurred = variance * torch.exp(-0.5 * NOISE * relevance.sum())
        own = torch.eye(self.n_inducing, dtype=torch.float64)
        covariance = blurred * torch.exp(-0.5 * self.between @ relevance)
        covariance = covariance + (variance - blurred) * own
        factor = torch.linalg.cholesky(covariance)
        # With u = L z, K_uu^-1 u is the solution of L' x = z.
        weights = torch.linalg.solve_triangular(factor.mT, white[:, None], upper=True)[:, 0]
        rewards = blurred * torch.exp(-0.5 * self.to_inducing @ relevance) @ weights
        inverse = torch.cholesky_solve(own, factor)
        log_prior = (
            -0.5 * white.square().sum()
            - factor.diagonal().log().sum()
            - 0.5 * inverse.square().sum()
            - torch.log1p(relevance).sum()
        )
        return RewardBelief(rewards, log_prior, relevance, variance)


def choose_inducing(
    features: FloatArray, demonstrated: IntArray, count: int, rng: np.random.Generator
) -> IntArray:
    """States for inducing points, at most `count`, no two of them with the same features.

    Demonstrated states come first, those that are visited most before the others; then random ones.

    Args:
        features: `S x k`.
        demonstrated: The state of every demonstrated step.
        count: At most so many.
        rng: Draws the others.
    """
    visits = np.bincount(demonstrated, minlength=len(features))
    order = np.lexsort((rng.random(len(features)), -visits))
    firsts = np.unique(features[order], axis=0, return_index=True)[1]
    chosen: IntArray = order[np.sort(firsts)[:count]]
    return chosen


def _to_unit(values: FloatArray, low: float, high: float) -> FloatArray:
    return (values - low) / (high - low)


def _from_unit(unit: Tensor, low: float, high: float) -> Tensor:
    return low + (high - low) * unit
