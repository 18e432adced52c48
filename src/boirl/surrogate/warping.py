"""Scales on which a Gaussian process sees the NLL.

Where the worst rewards of a box are many times worse than the best, one lengthscale cannot serve
both: next to differences of a thousand, the valley of good rewards is flat. Logarithms on both
sides open it. The output becomes `log(NLL - min + share of the range)`, and the projection, whose
coordinates are log-probabilities and reach just as far, is compressed by its own rule. Which scale
is right, the evidence says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from boirl.types import FloatArray

Scale = Literal["linear", "log"]
SCALES: tuple[Scale, ...] = get_args(Scale)

SHARE_OF_RANGE = 0.03
"""How far above the lowest NLL, as a share of the range, the logarithm begins to bend."""

LEAST_DIFFERENCE = 1e-300
"""A positive number that has a logarithm."""

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
        """Outputs for NLLs, each `n`; minus infinity where no output stands for so low an NLL."""
        if self.offset is None:
            return nll
        above = np.asarray(nll + self.offset)
        return np.where(above > 0.0, np.log(np.maximum(above, LEAST_DIFFERENCE)), -np.inf)

    def inverse(self, output: FloatArray) -> FloatArray:
        """The NLLs that have these outputs, each `n`."""
        return output if self.offset is None else np.exp(output) - self.offset

    def moments(self, mean: Tensor, sd: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of the NLL, given those of a normal output, `n` each."""
        if self.offset is None:
            return mean, sd
        above = torch.exp(mean + 0.5 * sd.square())
        return above - self.offset, above * torch.expm1(sd.square()).sqrt()

    def log_slopes(self, nll: FloatArray) -> FloatArray:
        """Log of the derivative of `forward`, `n`."""
        if self.offset is None:
            return np.zeros_like(nll)
        # Next to the lowest NLL that the scale knows, rounding may leave nothing of the difference.
        return -np.log(np.maximum(nll + self.offset, LEAST_DIFFERENCE))

    def slopes(self, nll: Tensor) -> Tensor:
        """Derivative of `forward`, `n`; differentiable."""
        if self.offset is None:
            return torch.ones_like(nll)
        return (nll + self.offset).clamp_min(LEAST_DIFFERENCE).reciprocal()

    def back(self, mean: Any, sd: Any) -> tuple[Any, Any]:
        """Centre and spread of the NLL, given those of the output, each `n`, arrays or tensors.

        Behind a logarithm, the centre is the median, which few evaluations far away cannot throw
        off, and the spread is to first order.
        """
        if self.offset is None:
            return mean, sd
        above = torch.exp(mean) if isinstance(mean, Tensor) else np.exp(mean)
        return above - self.offset, above * sd
