"""What a Gaussian process expects of the NLL before it has seen any."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import torch
from gpytorch.means import ConstantMean, Mean
from torch import Tensor

PriorMean = Literal["constant", "log-rho"]
PRIOR_MEANS: tuple[PriorMean, ...] = get_args(PriorMean)

FIRST_SLOPE = 2.0
"""Slope before anything is fitted, in standard deviations of outputs over the range of log rho."""


class FallingMean(Mean):
    """A constant less a multiple, not negative, of the mean coordinate of the latent space.

    Where the latent space is log rho, that is how clearly demonstrations beat roll-outs: it ranks
    rewards before a single policy is solved.
    """

    def __init__(self) -> None:
        super().__init__()
        self.register_parameter("constant", torch.nn.Parameter(torch.zeros(())))
        self.register_parameter("root_slope", torch.nn.Parameter(torch.tensor(FIRST_SLOPE**0.5)))

    def forward(self, x: Tensor) -> Tensor:
        return self.constant - self.root_slope.square() * (x.mean(dim=-1) - 0.5)


class PriorLine(NamedTuple):
    """A prior mean as plain numbers."""

    constant: float
    slope: float

    def __call__(self, latent: Tensor) -> Tensor:
        """The prior mean at latent points `n x K`: `n`."""
        return self.constant - self.slope * (latent.mean(dim=-1) - 0.5)


def build_mean(name: PriorMean) -> Mean:
    """The GPyTorch mean of this name."""
    return ConstantMean() if name == "constant" else FallingMean()


def as_line(mean: Mean) -> PriorLine:
    """A mean that `build_mean` made, as plain numbers."""
    slope = mean.root_slope.item() ** 2 if isinstance(mean, FallingMean) else 0.0
    return PriorLine(mean.constant.item(), slope)
