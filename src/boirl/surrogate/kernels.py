"""Covariances by name: GPyTorch kernels to fit, and the same written out for speed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from gpytorch.kernels import Kernel, MaternKernel, PolynomialKernel, RBFKernel, ScaleKernel
from gpytorch.priors import GammaPrior, LogNormalPrior
from torch import Tensor

from boirl.errors import InvalidInputError
from boirl.registry import Registry


class KernelParams(NamedTuple):
    """Hyperparameters of a fitted kernel: amplitudes, lengthscales and an offset."""

    lengthscale: float
    stationary: float
    linear: float
    offset: float
    theta_amplitude: float = 0.0
    theta_lengthscale: float = 1.0


@dataclass(frozen=True)
class KernelSpec:
    """A kernel by name, and the options it may be varied with.

    Args:
        name: As on the command line.
        projected: Whether it works on the rho-projection, or else on theta.
        smoothness: `nu` of a Matern kernel (1.5 as in the paper, or 2.5); None for an RBF.
        linear: Whether a linear kernel is added, which finds the slope of the landscape from a
            handful of evaluations.
        theta_kernel_dims: Number of coordinates, the last ones, that are theta itself. An RBF on
            these is added, for what the projection leaves unexplained.
    """

    name: str
    projected: bool
    smoothness: float | None = None
    linear: bool = False
    theta_kernel_dims: int = 0

    def __post_init__(self) -> None:
        if self.smoothness not in (None, 1.5, 2.5):
            raise InvalidInputError(
                f"the smoothness of a Matern kernel is {self.smoothness}; expected 1.5 or 2.5"
            )

    def build(self, dimension: int) -> Kernel:
        """The GPyTorch kernel on inputs scaled to the unit cube, one lengthscale for all.

        Args:
            dimension: Of the inputs, those of theta left out.
        """
        # The priors are wide. They keep an amplitude or the lengthscale from running to 0 or
        # infinity on few evaluations, where a later warm start would find no slope to return by.
        first = tuple(range(dimension)) if self.theta_kernel_dims else None
        options = {"lengthscale_prior": LogNormalPrior(0.0, 1.5), "active_dims": first}
        base: Kernel = (
            RBFKernel(**options)
            if self.smoothness is None
            else MaternKernel(nu=self.smoothness, **options)
        )
        kernel = _scaled(base)
        if self.linear:
            kernel = kernel + _scaled(PolynomialKernel(power=1, active_dims=first))
        if self.theta_kernel_dims:
            last = tuple(range(dimension, dimension + self.theta_kernel_dims))
            on_theta = RBFKernel(lengthscale_prior=LogNormalPrior(0.0, 1.5), active_dims=last)
            kernel = kernel + _scaled(on_theta)
        return kernel

    def params(self, kernel: Kernel) -> KernelParams:
        """The hyperparameters of a kernel that `build` made, as plain numbers."""
        stationary, *others = kernel.kernels if self.linear or self.theta_kernel_dims else (kernel,)
        found = {
            "lengthscale": stationary.base_kernel.lengthscale.item(),
            "stationary": stationary.outputscale.item(),
            "linear": 0.0,
            "offset": 0.0,
        }
        if self.linear:
            linear = others.pop(0)
            found |= {
                "linear": linear.outputscale.item(),
                "offset": linear.base_kernel.offset.item(),
            }
        if self.theta_kernel_dims:
            (on_theta,) = others
            found |= {
                "theta_amplitude": on_theta.outputscale.item(),
                "theta_lengthscale": on_theta.base_kernel.lengthscale.item(),
            }
        return KernelParams(**found)

    def covariance(self, a: Tensor, b: Tensor, params: KernelParams) -> Tensor:
        """What the GPyTorch kernel gives for latent points `n x K` and `m x K`: `n x m`.

        Written out because a search spends most of its time here, and GPyTorch's general
        machinery costs several times the arithmetic at these sizes.
        """
        (a, own), (b, other) = self._split(a), self._split(b)
        product = a @ b.mT
        squared = _squared_distances(a, b, product).clamp_min(1e-30) / params.lengthscale**2
        if self.smoothness is None:
            stationary = torch.exp(-0.5 * squared)
        else:
            scaled = (2.0 * self.smoothness * squared).sqrt()
            polynomial = 1.0 + scaled
            if self.smoothness == 2.5:
                polynomial = polynomial + scaled.square() / 3.0
            stationary = polynomial * torch.exp(-scaled)
        covariance = params.stationary * stationary
        if self.linear:
            covariance = covariance + params.linear * (product + params.offset)
        if self.theta_kernel_dims:
            apart = _squared_distances(own, other, own @ other.mT).clamp_min(0.0)
            on_theta = torch.exp(-0.5 * apart / params.theta_lengthscale**2)
            covariance = covariance + params.theta_amplitude * on_theta
        return covariance

    def variance(self, at: Tensor, params: KernelParams) -> Tensor:
        """The diagonal of `covariance(at, at)`: `n`."""
        squared = self._split(at)[0].square().sum(-1) + params.offset
        return params.stationary + params.theta_amplitude + params.linear * squared

    def _split(self, latent: Tensor) -> tuple[Tensor, Tensor]:
        """The coordinates of the projection, and those of theta."""
        if not self.theta_kernel_dims:
            return latent, latent[..., :0]
        return latent[..., : -self.theta_kernel_dims], latent[..., -self.theta_kernel_dims :]


def _scaled(kernel: Kernel) -> Kernel:
    return ScaleKernel(kernel, outputscale_prior=GammaPrior(2.0, 0.15))


def _squared_distances(a: Tensor, b: Tensor, product: Tensor) -> Tensor:
    return a.square().sum(-1, keepdim=True) + b.square().sum(-1) - 2.0 * product


KERNELS: Registry[KernelSpec] = Registry("kernel", "boirl.kernels")
"""The kernels of searches, by name."""

KERNELS.register("rho-rbf", KernelSpec("rho-rbf", projected=True, linear=True))
KERNELS.register("rbf", KernelSpec("rbf", projected=False))
KERNELS.register("matern", KernelSpec("matern", projected=False, smoothness=1.5))


def get_kernel(
    name: str, smoothness: float | None = None, linear: bool | None = None
) -> KernelSpec:
    """The kernel of this name, with its defaults replaced where an option is given."""
    kernel = KERNELS[name]
    if smoothness is not None:
        if kernel.smoothness is None:
            raise InvalidInputError(f"kernel {name!r} has no smoothness; only 'matern' has one")
        kernel = replace(kernel, smoothness=smoothness)
    return kernel if linear is None else replace(kernel, linear=linear)
