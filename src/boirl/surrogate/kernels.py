"""Covariances by name: one formula each, for fitting, prediction, slopes and sampling alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from boirl.errors import InvalidInputError
from boirl.registry import Registry
from boirl.surrogate.pairs import Diagonal, Pair
from boirl.surrogate.slopes import Profile, ProfileOf

PRIOR_WIDTH = 2.0
"""Standard deviation of log hyperparameters beforehand: anything from a fiftieth to fifty times the
median is plausible, and what the evaluations do not ask for shrinks to the median."""

BESIDE_PROJECTION = 0.1
"""Share of the variance that theta is taken to explain beside the projection, which is to explain
most of it: with as much, searches from a single poor reward follow its slope and find the
demonstrator later."""

MEDIAN_LENGTHSCALE = 0.5
"""In the unit cube: half of it."""


class Prior(NamedTuple):
    """A hyperparameter and its log-normal prior; `size` numbers go by one name."""

    name: str
    size: int
    median: float
    width: float = PRIOR_WIDTH


class Geometry(NamedTuple):
    """What a kernel is a function of: points by theta, in the unit cube, and by the projection."""

    theta: Pair | Diagonal
    latent: Pair | Diagonal


Values = Mapping[str, Tensor]
"""Hyperparameters by name, all of them positive."""


@dataclass(frozen=True)
class KernelSpec:
    """A sum of up to three covariances: on theta, on the projection, and linear in the projection.

    Shrinkage priors on the amplitudes decide how much of each there is, no switch does. Another
    kernel is another class with these three methods.

    Args:
        name: As on the command line.
        projected: Whether it works on the rho-projection and theta, or on theta alone.
        smoothness: `nu` of a Matern kernel (1.5 as in the paper, or 2.5); None for an RBF.
        linear: Whether a linear kernel is added, which finds the slope of the landscape from a
            handful of evaluations.
    """

    name: str
    projected: bool
    smoothness: float | None = None
    linear: bool = False

    def __post_init__(self) -> None:
        if self.smoothness not in PROFILES:
            raise InvalidInputError(
                f"the smoothness of a Matern kernel is {self.smoothness}; expected 1.5 or 2.5"
            )

    def priors(self, dimension: int) -> list[Prior]:
        """The hyperparameters, for a theta of this dimension."""
        found = [
            Prior("theta_amplitude", 1, BESIDE_PROJECTION if self.projected else 1.0),
            Prior("theta_lengthscale", dimension, MEDIAN_LENGTHSCALE * math.sqrt(dimension)),
        ]
        if self.projected:
            found += [
                Prior("latent_amplitude", 1, 1.0),
                Prior("latent_lengthscale", 1, MEDIAN_LENGTHSCALE),
            ]
        return [*found, Prior("linear_amplitude", 1, 1.0)] if self.linear else found

    def covariance(self, at: Geometry, values: Values) -> Tensor:
        """The formula: of values and slopes, see `boirl.surrogate.pairs`."""
        profile = PROFILES[self.smoothness]
        on_theta = at.theta.divided_by(values["theta_lengthscale"])
        total = on_theta.stationary(profile, values["theta_amplitude"])
        if self.projected:
            total = total + at.latent.stationary(
                profile, values["latent_amplitude"], values["latent_lengthscale"]
            )
        if self.linear:
            straight = at.latent if self.projected else at.theta
            total = total + values["linear_amplitude"] * straight.dot()
        return total


def rbf(squared: Tensor) -> Profile:
    """`exp(-s / 2)`."""
    value = torch.exp(-0.5 * squared)
    return Profile(value, -0.5 * value, 0.25 * value)


def matern_three_halves(squared: Tensor) -> Profile:
    """`(1 + r) exp(-r)` with `r = sqrt(3 s)`."""
    r = (3.0 * squared.clamp_min(1e-24)).sqrt()
    decay = torch.exp(-r)
    return Profile((1.0 + r) * decay, -1.5 * decay, 2.25 * decay / r)


def matern_five_halves(squared: Tensor) -> Profile:
    """`(1 + r + r^2 / 3) exp(-r)` with `r = sqrt(5 s)`."""
    r = (5.0 * squared.clamp_min(1e-24)).sqrt()
    decay = torch.exp(-r)
    first = (-5.0 / 6.0) * (1.0 + r) * decay
    return Profile((1.0 + r + r.square() / 3.0) * decay, first, (25.0 / 12.0) * decay)


PROFILES: dict[float | None, ProfileOf] = {
    None: rbf,
    1.5: matern_three_halves,
    2.5: matern_five_halves,
}

KERNELS: Registry[KernelSpec] = Registry("kernel", "boirl.kernels")
"""The kernels of searches, by name."""

KERNELS.register(
    "rho-matern", KernelSpec("rho-matern", projected=True, smoothness=2.5, linear=True)
)
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
            raise InvalidInputError(f"kernel {name!r} has no smoothness; Matern kernels have one")
        kernel = replace(kernel, smoothness=smoothness)
    return kernel if linear is None else replace(kernel, linear=linear)
