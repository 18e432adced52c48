"""A Gaussian process on values and slopes, in standardised units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from boirl.surrogate.kernels import Geometry, KernelSpec, Values
from boirl.surrogate.pairs import Diagonal, Pair, Points

NOISE_FLOOR = 1e-9
"""Noise always assumed, so that rewards that fall on one point do no harm."""

LEAST_VARIANCE = 1e-14
"""Rounding of a covariance of order one may push a variance this far below 0."""

JITTERS = (0.0, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
"""Added to the diagonal, and as shares of it, in turn, until the covariance can be factorised in
double precision."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """Points by theta, in the unit cube, and by the projection."""

    theta: Points
    latent: Points

    def against(self, other: Inputs) -> Geometry:
        """What the covariance with other inputs is a function of."""
        return Geometry(Pair(self.theta, other.theta), Pair(self.latent, other.latent))

    def joined_by(self, others: Inputs) -> Inputs:
        """With other inputs, which have no slopes."""
        return Inputs(self.theta.joined_by(others.theta), self.latent.joined_by(others.latent))

    @property
    def diagonal(self) -> Geometry:
        """What the variance of the values is a function of."""
        return Geometry(Diagonal(self.theta), Diagonal(self.latent))


@dataclass(frozen=True, eq=False)
class Data:
    """What was observed: values first, then slopes, `N = n + d m` rows, ordered as by `Pair`.

    Args:
        inputs: Where.
        targets: Standardised values and slopes, `N`.
        noise: Variances that are known, `N`.
        learned: How much of each kind of noise that is learned each row has, by name, `N`.
    """

    inputs: Inputs
    targets: Tensor
    noise: Tensor
    learned: Mapping[str, Tensor]

    @cached_property
    def geometry(self) -> Geometry:
        return self.inputs.against(self.inputs)


class Process:
    """A kernel with hyperparameters, conditioned on data."""

    def __init__(self, kernel: KernelSpec, data: Data, values: Values) -> None:
        self.kernel = kernel
        self.data = data
        self.values = values

    @cached_property
    def _covariance(self) -> Tensor:
        """The covariance `K` of observations, `N x N`."""
        return noisy_covariance(self.kernel, self.data, self.values)

    @cached_property
    def _solved(self) -> tuple[Tensor, Tensor]:
        """`K^-1 y` and the inverse Cholesky factor of `K`."""
        factor = factorise(self._covariance)
        weights = torch.cholesky_solve(self.data.targets[:, None], factor)[:, 0]
        eye = torch.eye(len(factor), dtype=factor.dtype)
        return weights, torch.linalg.solve_triangular(factor, eye, upper=False)

    def marginals(self, at: Inputs) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation at points without slopes, `n` each; differentiable."""
        weights, inverse = self._solved
        cross = self.kernel.covariance(at.against(self.data.inputs), self.values)
        explained = (cross @ inverse.mT).square().sum(-1)
        variance = self.kernel.covariance(at.diagonal, self.values) - explained
        return cross @ weights, variance.clamp_min(LEAST_VARIANCE).sqrt()

    def mean(self, at: Inputs) -> Tensor:
        """Mean at points without slopes, `n`; differentiable."""
        weights, _ = self._solved
        return self.kernel.covariance(at.against(self.data.inputs), self.values) @ weights

    def joint(self, at: Inputs) -> tuple[Tensor, Tensor]:
        """Mean, `n`, and covariance, `n x n`."""
        weights, inverse = self._solved
        cross = self.kernel.covariance(at.against(self.data.inputs), self.values)
        explained = cross @ inverse.mT
        own = self.kernel.covariance(at.against(at), self.values)
        return cross @ weights, own - explained @ explained.mT

    def joint_factor(self, at: Inputs) -> tuple[Tensor, Tensor]:
        """Mean, `n`, and the Cholesky factor of the covariance, `n x n`.

        The covariance is a difference of two, and rounding leaves of it a share of the larger one.
        """
        mean, covariance = self.joint(at)
        return mean, factorise(covariance, self.kernel.covariance(at.diagonal, self.values))

    def record(self) -> Tensor:
        """How far off each value was predicted from the evaluations before it, `n`.

        In standard deviations: the Cholesky factor of a covariance predicts each row from those
        above it.
        """
        layout = self.data.inputs.theta.layout
        order = torch.argsort(layout.point, stable=True)
        factor = factorise(self._covariance[order][:, order])
        errors = torch.linalg.solve_triangular(
            factor, self.data.targets[order][:, None], upper=False
        )
        return errors[order < layout.n, 0]

    def landscapes(self, nodes: Inputs, noise: Tensor) -> Landscapes:
        """Landscapes drawn at nodes by standard normal numbers, `w x nodes`; see `Landscapes`."""
        weights, inverse = self._solved
        _, factor = self.joint_factor(nodes)
        # A draw `L noise` has the weights `(L L^T)^-1 L noise = L^-T noise`.
        drawn = torch.linalg.solve_triangular(factor.mT, noise.mT, upper=True).mT
        cross = self.kernel.covariance(nodes.against(self.data.inputs), self.values)
        explained = drawn @ cross @ inverse.mT @ inverse
        n = self.data.inputs.theta.layout.n
        values, slopes = (weights - explained).tensor_split([n], dim=-1)
        together = torch.cat([values, drawn, slopes], dim=-1)
        return Landscapes(self, self.data.inputs.joined_by(nodes), together)


@dataclass(frozen=True, eq=False)
class Landscapes:
    """Functions that the data leave possible, `w` of them.

    Each was drawn at nodes and is, elsewhere, what the process expects given that: a combination of
    covariances with the data and the nodes, `N + nodes` of them.
    """

    process: Process
    inputs: Inputs
    weights: Tensor

    def __call__(self, at: Inputs, numbers: Tensor) -> Tensor:
        """Values at `n` points, each of the landscape with a number, `n`."""
        kernel, values = self.process.kernel, self.process.values
        covariance = kernel.covariance(at.against(self.inputs), values)
        return (covariance * self.weights[numbers]).sum(dim=1)


def noisy_covariance(kernel: KernelSpec, data: Data, values: Values) -> Tensor:
    """The covariance of observations, noise included, `N x N`."""
    noise = data.noise + sum(values[name] * rows for name, rows in data.learned.items())
    return kernel.covariance(data.geometry, values) + torch.diag(noise)


def factorise(covariance: Tensor, rounded: Tensor | None = None) -> Tensor:
    """The Cholesky factor of a covariance, with as little jitter as it takes.

    Args:
        covariance: `n x n`.
        rounded: Variances that rounding errors are shares of, `n`; by default those of the
            covariance.
    """
    variances = covariance.diagonal().abs() if rounded is None else rounded
    for jitter in JITTERS:
        shifted = covariance
        if jitter:
            shifted = covariance + torch.diag(jitter * (1.0 + variances))
        factor, failed = torch.linalg.cholesky_ex(shifted)
        if not failed:
            return factor
    raise torch.linalg.LinAlgError("the covariance of the evaluations cannot be factorised")
