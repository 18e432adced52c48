"""A Gaussian process with one set of hyperparameters, and what its outputs stand for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from boirl.surrogate.doubt import Doubt
from boirl.surrogate.latent import LatentSpace
from boirl.surrogate.process import NOISE_FLOOR, Process
from boirl.surrogate.warping import OutputScale, Scale
from boirl.types import FloatArray


@dataclass(frozen=True, eq=False)
class Component:
    """One set of hyperparameters on one scale.

    Attributes:
        values: Hyperparameters by name, ready for JSON.
        centre: The output that the standardised output 0 stands for.
        spread: The difference of outputs that one unit of the standardised ones stands for.
        doubt: Which NLLs are explained to a share alone.
    """

    process: Process
    space: LatentSpace
    output: OutputScale
    scale: Scale
    values: dict[str, list[float]]
    centre: float
    spread: float
    doubt: Doubt

    @property
    def noise(self) -> float:
        """Variance of the learned noise of standardised outputs."""
        return self.values["noise"][0]

    @property
    def noise_sd(self) -> float:
        """Standard deviation of the learned noise of outputs."""
        return math.sqrt(self.noise) * self.spread

    def nll(self, standardised: Tensor) -> Tensor:
        """The NLLs that standardised outputs stand for."""
        outputs = self.centre + self.spread * standardised
        found: Tensor = self.output.back(outputs, outputs)[0]
        return found

    def expected_nll(
        self, unit: Tensor, projected: Tensor, calibration: float, least: float
    ) -> Tensor:
        """The NLL to expect, `n`, if none is below `least`.

        `E max(f, least)` for a normal `f`: its mean where that is well known and above, and rising
        with what is not known. At points `n x d` that are projected to `n x K`, with a factor on
        standard deviations.
        """
        mean, sd = self.outputs(unit, projected)
        mean, sd = self.output.moments(mean, calibration * sd)
        above = (mean - least) / sd
        density = torch.exp(-0.5 * above.square()) / math.sqrt(2.0 * math.pi)
        return least + sd * (density + above * torch.special.ndtr(above))

    def unexplained(self, nll: Tensor) -> Tensor:
        """Variance of outputs that evaluations with these NLLs leave unexplained, `n` each.

        Exact evaluations have no noise. What is learned as such, and as doubt of those far worse
        than the best, is part of the landscape that the process cannot follow.
        """
        rest = torch.full_like(nll, (self.noise + NOISE_FLOOR) * self.spread**2)
        if "doubt" not in self.values:
            return rest
        (share,) = self.values["doubt"]
        return rest + share * (self.output.slopes(nll) * self.doubt.nll(nll)).square()

    def with_unexplained(self, mean: FloatArray, sd: FloatArray) -> FloatArray:
        """The sd of outputs, `n`, given that of the process; for exact evaluations, with what they
        leave unexplained."""
        if "doubt" not in self.values:
            return sd
        left = self.unexplained(torch.tensor(self.output.inverse(mean))).numpy()
        return np.asarray(np.sqrt(np.square(sd) + left))

    def outputs(self, unit: Tensor, projected: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Mean and sd of the output, `n` each; differentiable."""
        at = self.space.inputs(unit, projected=projected)
        mean, sd = self.process.marginals(at)
        return self.centre + self.spread * mean, self.spread * sd
