"""From points of the unit cube to what a kernel is a function of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from boirl.projections.base import Projection
from boirl.surrogate.pairs import Points
from boirl.surrogate.process import Inputs
from boirl.surrogate.warping import Scale
from boirl.types import Box

FLAT = 1e-6
"""A coordinate of the projection that ranges over less may differ by rounding alone."""


@dataclass(frozen=True, eq=False)
class LatentSpace:
    """The projection on one scale: each coordinate spans the unit interval over the box, divided
    by the root of their number, so that the whole box is about one across."""

    projection: Projection
    box: Box
    scale: Scale
    low: Tensor
    width: Tensor

    @classmethod
    def of(
        cls, projection: Projection, box: Box, scale: Scale, latent_range: Tensor
    ) -> LatentSpace:
        """With the range of the projection over the box, `2 x K`."""
        compressed = projection.compress(latent_range) if scale == "log" else latent_range
        low, high = compressed
        # The rounding of flat coordinates must not be blown up.
        width = torch.where(high - low <= FLAT, 1.0, high - low)
        return cls(projection, box, scale, low, width * projection.dimension**0.5)

    def __call__(self, unit: Tensor) -> Tensor:
        """Latent points `n x K` of points `n x d` of the unit cube; differentiable."""
        low, high = torch.as_tensor(self.box.low), torch.as_tensor(self.box.high)
        return self.of_projected(self.projection.project(low + (high - low) * unit))

    def of_projected(self, projected: Tensor) -> Tensor:
        """Latent points of what the projection gives."""
        if self.scale == "log":
            projected = self.projection.compress(projected)
        return (projected - self.low) / self.width

    def inputs(
        self, unit: Tensor, sloped: Tensor | None = None, projected: Tensor | None = None
    ) -> Inputs:
        """The inputs of a kernel at points `n x d`, with Jacobians at the numbered ones.

        What the projection gives may be passed where it is known already.
        """
        latent = self(unit) if projected is None else self.of_projected(projected)
        if sloped is None or not len(sloped):
            return Inputs(Points.plain(unit), Points.plain(latent))
        d = unit.shape[-1]
        eye = torch.eye(d, dtype=unit.dtype).expand(len(sloped), d, d)
        return Inputs(
            Points.sloped(unit, sloped, eye),
            Points.sloped(latent, sloped, jacobians(self, unit[sloped])),
        )


def jacobians(function: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    """Derivatives `n x K x d` of a function from `n x d` to `n x K` that acts on each row alone.

    What autograd gives for weights on the coordinates is linear in the weights. Its own derivative
    by them is a column of the Jacobian: one pass per parameter, for all rows at once.
    """
    with torch.enable_grad():
        leaf = at.detach().clone().requires_grad_()
        values = function(leaf)
        weights = torch.ones_like(values, requires_grad=True)
        # Torch imports SymPy, for a second, where weights are passed to it as such.
        (rise,) = torch.autograd.grad((values * weights).sum(), leaf, create_graph=True)
        columns = [
            torch.autograd.grad(rise[:, i].sum(), weights, retain_graph=True)[0]
            for i in range(at.shape[-1])
        ]
    return torch.stack(columns, dim=-1)
