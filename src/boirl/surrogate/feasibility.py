"""Where evaluations succeed: a small Gaussian process classifier on theta.

Solvers diverge in a part of the box with a border of its own. Failures have no NLL; what they say
is where not to look, and that neither proposals nor samples of the posterior belong there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from boirl.types import FloatArray

LENGTHSCALE = 0.3
"""Of the border, as a share of the box per root of a parameter: bent, not rugged."""

SLOPE_VARIANCE, BEND_VARIANCE = 30.0, 5.0
"""Variances of the log odds: half-spaces first, bends of their border second."""

PRIOR_LOG_ODDS = 2.0
"""Nine evaluations in ten are expected to succeed where nothing is known."""

NEWTON_STEPS = 25
"""Of the most probable log odds; they converge within ten or so."""


@dataclass(frozen=True, eq=False)
class Feasibility:
    """The probability that an evaluation succeeds, by those that did and those that failed.

    Args:
        succeeded: Points of the unit cube, `n x d`.
        failed: Points of the unit cube, `m x d`.
    """

    succeeded: FloatArray
    failed: FloatArray

    def log_probability(self, unit: Tensor) -> Tensor:
        """Log probability of success at points `n x d` of the unit cube; differentiable."""
        if not len(self.failed):
            return torch.zeros(len(unit), dtype=torch.float64)
        at, slope, inverse = self._solved
        cross = self._covariance(unit, at)
        mean = PRIOR_LOG_ODDS + cross @ slope
        explained = (cross @ inverse * cross).sum(-1)
        own = SLOPE_VARIANCE * ((unit - 0.5).square().sum(-1)) + BEND_VARIANCE
        variance = (own - explained).clamp_min(0.0)
        return torch.nn.functional.logsigmoid(mean / (1.0 + np.pi / 8.0 * variance).sqrt())

    def _covariance(self, one: Tensor, other: Tensor) -> Tensor:
        linear = (one - 0.5) @ (other - 0.5).mT
        squared = one.square().sum(-1, keepdim=True) + other.square().sum(-1) - 2 * one @ other.mT
        scale = LENGTHSCALE**2 * one.shape[-1]
        bends = torch.exp(-0.5 * squared.clamp_min(0.0) / scale)
        return SLOPE_VARIANCE * linear + BEND_VARIANCE * bends

    @cached_property
    def _solved(self) -> tuple[Tensor, Tensor, Tensor]:
        """Points, `K^-1 (f - prior)` and `(K + W^-1)^-1`, by Newton's method for logistic odds."""
        with torch.no_grad():
            at = torch.tensor(np.concatenate([self.succeeded, self.failed]))
            label = torch.ones(len(at), dtype=torch.float64)
            label[len(self.succeeded) :] = 0.0
            kernel = self._covariance(at, at)
            eye = torch.eye(len(at), dtype=torch.float64)
            odds, residual = torch.zeros(len(at), dtype=torch.float64), label
            inverse = eye
            for _ in range(NEWTON_STEPS):
                chance = torch.sigmoid(PRIOR_LOG_ODDS + odds)
                weight = (chance * (1.0 - chance)).clamp_min(1e-9)
                inverse = torch.linalg.inv(kernel + torch.diag(1.0 / weight))
                residual = label - chance
                odds = kernel @ (inverse @ (odds + residual / weight))
            residual = label - torch.sigmoid(PRIOR_LOG_ODDS + odds)
        return at, residual, inverse
