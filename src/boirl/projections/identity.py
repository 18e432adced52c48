"""No projection: the surrogate works on theta itself, as plain Bayesian optimisation does."""

from __future__ import annotations

from torch import Tensor

from boirl.projections.base import Projection
from boirl.types import Box


class Identity(Projection):
    """`z = theta`."""

    def __init__(self, box: Box) -> None:
        super().__init__()
        self.dimension = box.dimension

    def project(self, theta: Tensor) -> Tensor:
        return theta
