"""Bending the scales that a Gaussian process sees.

Where the worst rewards of a box are many times worse than the best, one lengthscale cannot serve
both: next to differences of a thousand, the valley of good rewards is flat. Logarithms on both
sides open it. The output becomes `log(NLL - min + share of the range)`, and the projection, whose
coordinates are log-probabilities and reach just as far, is compressed by its own rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from botorch.models.transforms.input import InputTransform
from torch import Tensor

from boirl.projections.base import Projection
from boirl.types import FloatArray

Scale = Literal["linear", "log"]
SCALES: tuple[Scale, ...] = get_args(Scale)

SHARE_OF_RANGE = 0.03
"""How far above the lowest NLL, as a share of the range, the logarithm begins to bend."""

SAME = 1e-12
"""NLLs whose range is a smaller share of them than this differ by rounding alone."""


@dataclass(frozen=True)
class OutputScale:
    """The map from an NLL to the output of the Gaussian process: a logarithm, or nothing.

    Args:
        offset: Added to the NLL before the logarithm; None for no logarithm.
    """

    offset: float | None = None

    @classmethod
    def of(cls, scale: Scale, nll: FloatArray) -> OutputScale:
        """The map for evaluations with these NLLs, `n`."""
        spread = float(nll.max() - nll.min())
        if scale == "linear" or spread <= SAME * float(np.abs(nll).max()):
            return cls()
        return cls(SHARE_OF_RANGE * spread - float(nll.min()))

    def forward(self, nll: FloatArray) -> FloatArray:
        """Outputs for NLLs, each `n`."""
        return nll if self.offset is None else np.log(nll + self.offset)

    def inverse(self, output: FloatArray) -> FloatArray:
        """The NLLs that have these outputs, each `n`."""
        return output if self.offset is None else np.exp(output) - self.offset

    def log_slopes(self, nll: FloatArray) -> FloatArray:
        """Log of the derivative of `forward`, `n`."""
        return np.zeros_like(nll) if self.offset is None else -np.log(nll + self.offset)

    def back(self, mean: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Centre and spread of the NLL, given those of the output, each `n`.

        Behind a logarithm, the centre is the median, which few evaluations far away cannot throw
        off, and the spread is to first order.
        """
        if self.offset is None:
            return mean, sd
        above = np.exp(mean)
        return above - self.offset, above * sd


class Compress(InputTransform):
    """A projection's own compression, as a step of BoTorch's chain of input transforms."""

    def __init__(self, projection: Projection) -> None:
        super().__init__()
        self.transform_on_train = True
        self.transform_on_eval = True
        self.transform_on_fantasize = True
        self.projection = projection

    def transform(self, X: Tensor) -> Tensor:
        """Compress latent points `... x K`."""
        return self.projection.compress(X)


class AppendTheta(InputTransform):
    """Latent points with theta, in the unit cube, as further coordinates."""

    def __init__(self, to_latent: InputTransform) -> None:
        super().__init__()
        self.transform_on_train = True
        self.transform_on_eval = True
        self.transform_on_fantasize = True
        self.to_latent = to_latent

    def transform(self, X: Tensor) -> Tensor:
        """From points of the unit cube, `... x d`, to `... x (K + d)`."""
        return torch.cat([self.to_latent(X), X], dim=-1)
