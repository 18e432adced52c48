"""How probable hyperparameters are, the most probable ones, and draws around them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.optimize import OptimizeResult, minimize
from torch import Tensor
from torch.autograd.function import once_differentiable

from boirl.surrogate.kernels import KernelSpec, Prior
from boirl.surrogate.process import Data, factorise, noisy_covariance
from boirl.types import FloatArray

FAR = 8.0
"""Log hyperparameters stay within so many prior standard deviations of their medians."""

IMPOSSIBLE = 1e10
"""Loss of hyperparameters whose covariance cannot be factorised."""

SMALLEST_GAIN = 0.01
"""Nats below which a step is the last one of a climb: hyperparameters that are as probable to a
hundredth are as good."""

HESSIAN_STEP = 1e-3
"""Step, in log hyperparameters, of the differences of gradients that give the curvature."""


class Evidence:
    """Log probability of hyperparameters given data, up to a constant.

    Hyperparameters are one vector of logarithms in units of their prior: 0 is the median, 1 one
    prior standard deviation above.
    """

    def __init__(self, kernel: KernelSpec, data: Data, noise: Sequence[Prior]) -> None:
        self.kernel = kernel
        self.data = data
        dimension = data.inputs.theta.x.shape[-1]
        self.priors = [*kernel.priors(dimension), *noise]
        self.sizes = [prior.size for prior in self.priors]
        self.size = sum(self.sizes)
        sizes = torch.tensor(self.sizes)
        medians = torch.tensor([prior.median for prior in self.priors], dtype=torch.float64)
        widths = torch.tensor([prior.width for prior in self.priors], dtype=torch.float64)
        self._medians = medians.repeat_interleave(sizes)
        self._widths = widths.repeat_interleave(sizes)

    def values(self, vector: Tensor) -> dict[str, Tensor]:
        """Hyperparameters by name."""
        parts = (self._medians * torch.exp(self._widths * vector)).split(self.sizes)
        return {prior.name: part for prior, part in zip(self.priors, parts, strict=True)}

    def log_probability(self, vector: FloatArray) -> float:
        """Log probability of the data and the hyperparameters; minus infinity where the covariance
        cannot be factorised."""
        with torch.no_grad():
            return float(self._log_probability(torch.as_tensor(vector)))

    def loss(self, vector: FloatArray) -> tuple[float, FloatArray]:
        """The negative of `log_probability`, and its slopes."""
        leaf = torch.tensor(vector, requires_grad=True)
        found = self._log_probability(leaf)
        if not torch.isfinite(found):
            return IMPOSSIBLE, np.zeros_like(vector)
        (slopes,) = torch.autograd.grad(found, leaf)
        return -float(found.detach()), -slopes.numpy()

    def _log_probability(self, vector: Tensor) -> Tensor:
        covariance = noisy_covariance(self.kernel, self.data, self.values(vector))
        likelihood: Tensor = _LogDensity.apply(covariance, self.data.targets)
        return likelihood - 0.5 * vector.square().sum()

    def maximise(self, start: FloatArray, steps: int) -> tuple[FloatArray, float]:
        """The most probable hyperparameters and their log probability, by L-BFGS from a start."""
        lowest = math.inf

        def stop_at_the_top(intermediate_result: OptimizeResult) -> None:
            nonlocal lowest
            gain, lowest = lowest - intermediate_result.fun, intermediate_result.fun
            if gain < SMALLEST_GAIN:
                raise StopIteration

        found = minimize(
            self.loss,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(-FAR, FAR)] * self.size,
            callback=stop_at_the_top,
            options={"maxiter": steps, "ftol": 0.0},
        )
        return np.asarray(found.x), -float(found.fun)

    def curvature(self, vector: FloatArray) -> FloatArray:
        """Second derivatives of the loss, by differences of its slopes."""
        _, centre = self.loss(vector)
        steps = HESSIAN_STEP * np.eye(self.size)
        hessian = np.array([self.loss(vector + step)[1] - centre for step in steps]) / HESSIAN_STEP
        return 0.5 * (hessian + hessian.T)


class _LogDensity(torch.autograd.Function):
    """Log density of targets `y`, `N`, under a normal distribution of covariance `K`, `N x N`.

    Its slope by `K` is `(w w^T - K^-1) / 2` with `w = K^-1 y`.
    """

    @staticmethod
    def forward(ctx: Any, covariance: Tensor, targets: Tensor) -> Tensor:
        try:
            factor = factorise(covariance)
        except torch.linalg.LinAlgError:
            return covariance.new_tensor(-math.inf)
        weights = torch.cholesky_solve(targets[:, None], factor)
        ctx.save_for_backward(factor, weights)
        constant = 0.5 * len(targets) * math.log(2.0 * math.pi)
        return -0.5 * (targets @ weights[:, 0]) - factor.diagonal().log().sum() - constant

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, None]:
        factor, weights = ctx.saved_tensors
        inverse = torch.cholesky_inverse(factor)
        half = 0.5 * slopes[0]
        return torch.addmm(inverse.mul_(-half), half * weights, weights.mT), None


@dataclass(frozen=True, eq=False)
class Laplace:
    """A Gaussian around the most probable hyperparameters.

    Attributes:
        centre: The most probable vector.
        root: Square root of the covariance.
        log_evidence: Log probability of the data, averaged over the Gaussian.
    """

    centre: FloatArray
    root: FloatArray
    log_evidence: float

    @classmethod
    def around(cls, evidence: Evidence, centre: FloatArray, height: float) -> Laplace:
        """The Gaussian with the curvature of the evidence, nowhere wider than the prior, around
        hyperparameters of some log probability."""
        precision, axes = np.linalg.eigh(evidence.curvature(centre))
        precision = np.maximum(precision, 1.0)
        return cls(centre, axes / np.sqrt(precision), height - 0.5 * float(np.log(precision).sum()))

    def draws(self, evidence: Evidence, noise: FloatArray, keep: int) -> FloatArray:
        """`keep` vectors, resampled from the points that noise `n x p` stands for.

        Resampling by importance, at equal steps, turns draws from the Gaussian into draws from
        the probability itself.
        """
        drawn = np.clip(self.centre + noise @ self.root.T, -FAR, FAR)
        log_weights = np.array([evidence.log_probability(one) for one in drawn])
        log_weights += 0.5 * np.square(noise).sum(axis=1)
        weights = np.exp(log_weights - log_weights.max())
        steps = (np.arange(keep) + 0.5) / keep
        return drawn[np.searchsorted(np.cumsum(weights / weights.sum()), steps)]


def to_vector(priors: Sequence[Prior], values: Mapping[str, Sequence[float]]) -> FloatArray | None:
    """The vector of hyperparameters by name; None where they belong to another kernel."""
    parts = []
    for prior in priors:
        given = values.get(prior.name)
        if given is None or len(given) != prior.size:
            return None
        parts.append(np.log(np.asarray(given) / prior.median) / prior.width)
    return np.concatenate(parts)
