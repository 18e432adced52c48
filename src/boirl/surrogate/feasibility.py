"""Where evaluations succeed: a small Gaussian process classifier on theta.

Solvers diverge in a part of the box with a border of its own. Failures have no NLL; what they say
is where not to look: neither proposals nor samples of the posterior belong where an evaluation is
more likely to fail than not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from boirl.types import FloatArray, HalfSpace

VARIANCES = (10.0, 100.0, 1e3, 1e4, 1e5)
LENGTHSCALES = (0.15, 0.3, 0.6)
"""Variances of the log odds, from a blurred border to a sharp one, and lengthscales of the bends of
the border, as a share of the box per root of a parameter. The most probable pair is used."""

BENDS = 0.2
"""Variance of the bends as a share of that of half-spaces: most borders are cut off a corner."""

PRIOR_LOG_ODDS = 2.0
"""Nine evaluations in ten are expected to succeed where nothing is known."""

NEWTON_STEPS = 25
"""Of the most probable log odds; they converge within ten or so."""

LIKELY = math.log(0.5)
"""Log probability above which success is more likely than not."""

WORST = -1e6
"""Worth of an evaluation that is more likely to fail than not, below that of any other."""


class _Fit(NamedTuple):
    """The most probable log odds for one variance and lengthscale.

    Attributes:
        slope: `K^-1 (f - prior)`, `n`.
        inverse: `(K + W^-1)^-1`, `n x n`.
        log_evidence: By Laplace's method.
    """

    variance: float
    lengthscale: float
    slope: Tensor
    inverse: Tensor
    log_evidence: float


@dataclass(frozen=True, eq=False)
class Feasibility:
    """The probability that an evaluation succeeds, by those that did and those that failed.

    Args:
        succeeded: Points of the unit cube, `n x d`.
        failed: Points of the unit cube, `m x d`.
        ruled_out: Parts of the cube where evaluations fail for certain.
    """

    succeeded: FloatArray
    failed: FloatArray
    ruled_out: tuple[HalfSpace, ...] = ()

    def log_probability(self, unit: Tensor) -> Tensor:
        """Log probability of success at points `n x d` of the unit cube; differentiable."""
        chance = torch.zeros(len(unit), dtype=torch.float64)
        if len(self.failed):
            chance = torch.nn.functional.logsigmoid(self._odds(unit))
        if self.ruled_out:
            chance = torch.where(self._beyond(unit) < 0.0, chance, -torch.inf)
        return chance

    def is_likely(self, unit: FloatArray) -> NDArray[np.bool_]:
        """Whether success is more likely than not at points `n x d` of the unit cube, `n`."""
        with torch.no_grad():
            found: NDArray[np.bool_] = (self.log_probability(torch.tensor(unit)) > LIKELY).numpy()
        return found

    def worth(self, unit: Tensor, worth: Tensor) -> Tensor:
        """What evaluations at points `n x d`, worth so much if they succeed, `n`, are worth.

        Where failure is more likely than success it is next to nothing, and slopes lead back.
        """
        if len(self.failed):
            odds = self._odds(unit)
            expected = worth + torch.nn.functional.logsigmoid(odds)
            worth = torch.where(odds > 0.0, expected, WORST * (1.0 - odds))
        if self.ruled_out:
            beyond = self._beyond(unit)
            worth = torch.where(beyond < 0.0, worth, WORST * (1.0 + beyond))
        return worth

    def safe_margins(self, unit: Tensor) -> Tensor:
        """How far points `n x d` are, in all likelihood, inside of each limit, `n x c`.

        At least 0 where a limit is kept; differentiable. Here there are no limits.
        """
        return unit.new_zeros((len(unit), 0))

    def is_ruled_out(self, unit: FloatArray) -> bool:
        """Whether an evaluation at a point, `d`, fails for certain."""
        return bool(self.ruled_out) and float(self._beyond(torch.tensor(unit[None]))) >= 0.0

    def _beyond(self, unit: Tensor) -> Tensor:
        """How far points are beyond the nearest border to what fails for certain, `n`."""
        normals, offsets = self._half_spaces
        return (unit @ normals.mT - offsets).max(dim=-1).values

    @cached_property
    def _half_spaces(self) -> tuple[Tensor, Tensor]:
        normals = torch.tensor(np.array([half.normal for half in self.ruled_out]))
        return normals, torch.tensor([half.offset for half in self.ruled_out], dtype=torch.float64)

    def _odds(self, unit: Tensor) -> Tensor:
        """Log odds of success, averaged over what is not known of them, `n`."""
        fit = self._fit
        cross = _covariance(unit, self._points, fit.variance, fit.lengthscale)
        explained = (cross @ fit.inverse * cross).sum(-1)
        own = fit.variance * ((unit - 0.5).square().sum(-1) + BENDS)
        variance = (own - explained).clamp_min(0.0)
        return (PRIOR_LOG_ODDS + cross @ fit.slope) / (1.0 + math.pi / 8.0 * variance).sqrt()

    @cached_property
    def _points(self) -> Tensor:
        return torch.tensor(np.concatenate([self.succeeded, self.failed]))

    @cached_property
    def _fit(self) -> _Fit:
        labels = torch.ones(len(self._points), dtype=torch.float64)
        labels[len(self.succeeded) :] = 0.0
        fits = [
            _laplace(self._points, labels, variance, lengthscale)
            for variance in VARIANCES
            for lengthscale in LENGTHSCALES
        ]
        return max(fits, key=lambda fit: fit.log_evidence)


def _covariance(one: Tensor, other: Tensor, variance: float, lengthscale: float) -> Tensor:
    linear = (one - 0.5) @ (other - 0.5).mT
    squared = one.square().sum(-1, keepdim=True) + other.square().sum(-1) - 2 * one @ other.mT
    scale = lengthscale**2 * one.shape[-1]
    return variance * (linear + BENDS * torch.exp(-0.5 * squared.clamp_min(0.0) / scale))


@torch.no_grad()
def _laplace(points: Tensor, labels: Tensor, variance: float, lengthscale: float) -> _Fit:
    """Newton's method for logistic odds (Rasmussen and Williams 2006, section 3.4)."""
    kernel = _covariance(points, points, variance, lengthscale)
    eye = torch.eye(len(points), dtype=torch.float64)
    signs = 2.0 * labels - 1.0

    def height(slope: Tensor) -> float:
        odds = PRIOR_LOG_ODDS + kernel @ slope
        fit = torch.nn.functional.logsigmoid(signs * odds).sum()
        return float(fit - 0.5 * slope @ kernel @ slope)

    slope, reached = torch.zeros_like(labels), -math.inf
    for _ in range(NEWTON_STEPS):
        chance = torch.sigmoid(PRIOR_LOG_ODDS + kernel @ slope)
        weight = (chance * (1.0 - chance)).clamp_min(1e-12)
        root = weight.sqrt()
        factor = torch.linalg.cholesky(eye + root[:, None] * kernel * root)
        inverse = root[:, None] * torch.cholesky_inverse(factor) * root
        target = weight * (kernel @ slope) + labels - chance
        step = target - inverse @ (kernel @ target) - slope
        share = 1.0
        while height(slope + share * step) < reached and share > 1e-3:
            share *= 0.5
        slope = slope + share * step
        before, reached = reached, height(slope)
        if reached - before < 1e-9:
            break
    log_evidence = reached - float(factor.diagonal().log().sum())
    return _Fit(variance, lengthscale, slope, inverse, log_evidence)
