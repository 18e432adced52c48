"""How closely a surrogate has to explain evaluations that are far worse than the best.

A wall far away must not bend the landscape where it matters. Evaluations that are many nats worse
than the best need only be explained to a share of what they are worse by, and so do their slopes
(noise shaping, Acerbi 2020). Here the share is learned; what is predicted so far away is uncertain
by the same share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boirl.surrogate.kernels import Prior
from boirl.types import FloatArray

MATTERING_NATS = 10.0
"""Nats per parameter by which an evaluation may be worse than the best and still matter: the
posterior over rewards has next to no weight beyond. The figure is Acerbi's, as the prior's median
is."""

DOUBT = Prior("doubt", 1, 0.05**2, 3.0)
"""The square of the share."""


@dataclass(frozen=True)
class Doubt:
    """Which NLLs are to be doubted.

    Args:
        best: The lowest NLL.
        matters: How much worse an NLL may be and still matter.
    """

    best: float
    matters: float

    @classmethod
    def of(cls, nll: FloatArray, n_demonstrations: int, dimension: int) -> Doubt:
        """For evaluations with these NLLs, `n`."""
        return cls(float(nll.min()), MATTERING_NATS * dimension / n_demonstrations)

    def beyond(self, nll: FloatArray) -> FloatArray:
        """How far NLLs are beyond what matters, from 0, where they do, to 1; `n` each."""
        worse = np.maximum(nll - self.best, self.matters)
        return 1.0 - self.matters / worse

    def nll(self, nll: Any) -> Any:
        """What the share is of: how much worse NLLs are than what matters, `n` each, arrays or
        tensors."""
        return (nll - self.best - self.matters).clip(min=0.0)
