"""Two sets of points and everything that a covariance of values and slopes needs to know of them.

A kernel is a function of coordinates `x(u)`: those of theta, or those of the projection. Where a
gradient was observed, covariances with the slopes by `u` follow from the chain rule and the
Jacobian `dx/du`. Rows are the values at all points first, then the slopes, `d` per sloped point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor


class Profile(NamedTuple):
    """A stationary covariance as a function of the squared distance, and its two derivatives."""

    value: Tensor
    first: Tensor
    second: Tensor


ProfileOf = Callable[[Tensor], Profile]


@dataclass(frozen=True, eq=False)
class Points:
    """Coordinates of `n` points and, at `m` of them, their derivatives by the unit cube.

    Args:
        x: Coordinates, `n x k`.
        sloped: Numbers of the points where slopes are observed, `m`.
        jacobian: `dx/du` there, `m x k x d`.
    """

    x: Tensor
    sloped: Tensor
    jacobian: Tensor

    @classmethod
    def plain(cls, x: Tensor) -> Points:
        """Points without slopes."""
        return cls(x, torch.empty(0, dtype=torch.long), x.new_empty((0, x.shape[-1], 1)))

    def divided_by(self, lengthscales: Tensor) -> Points:
        """The points in units of lengthscales, `k` or a single one."""
        return Points(
            self.x / lengthscales, self.sloped, self.jacobian / lengthscales.reshape(-1, 1)
        )


class Pair:
    """Geometry of `n` points against `n'` others; covariances are `n + m d` by `n' + m' d`."""

    def __init__(self, one: Points, other: Points) -> None:
        self.one = one
        self.other = other

    def divided_by(self, lengthscales: Tensor) -> Pair:
        """The pair in units of lengthscales, one per coordinate."""
        return Pair(self.one.divided_by(lengthscales), self.other.divided_by(lengthscales))

    @cached_property
    def product(self) -> Tensor:
        """Inner products, `n x n'`."""
        return self.one.x @ self.other.x.mT

    @cached_property
    def squared(self) -> Tensor:
        """Squared distances, `n x n'`."""
        own = self.one.x.square().sum(-1, keepdim=True)
        return (own + self.other.x.square().sum(-1) - 2.0 * self.product).clamp_min(0.0)

    @cached_property
    def left(self) -> Tensor:
        """Slopes of the one by inner products with the other, `m x d x n'`."""
        return self.one.jacobian.mT @ self.other.x.mT

    @cached_property
    def right(self) -> Tensor:
        """Slopes of the other by inner products with the one, `n x m' x d`."""
        m, k, d = self.other.jacobian.shape
        flat = self.one.x @ self.other.jacobian.transpose(0, 1).reshape(k, m * d)
        return flat.reshape(len(self.one.x), m, d)

    @cached_property
    def both(self) -> Tensor:
        """Inner products of Jacobians, `m x d x m' x d`."""
        m, k, d = self.one.jacobian.shape
        m2, _, d2 = self.other.jacobian.shape
        mine = self.one.jacobian.mT.reshape(m * d, k)
        theirs = self.other.jacobian.transpose(0, 1).reshape(k, m2 * d2)
        return (mine @ theirs).reshape(m, d, m2, d2)

    @cached_property
    def left_apart(self) -> Tensor:
        """`J^T (x - x')` with the Jacobians of the one, `m x d x n'`."""
        own = (self.one.jacobian.mT @ self.one.x[self.one.sloped].unsqueeze(-1))[..., 0]
        return own.unsqueeze(-1) - self.left

    @cached_property
    def right_apart(self) -> Tensor:
        """`J'^T (x - x')` with the Jacobians of the other, `n x m' x d`."""
        own = (self.other.jacobian.mT @ self.other.x[self.other.sloped].unsqueeze(-1))[..., 0]
        return self.right - own

    def dot(self) -> Tensor:
        """The linear covariance `x . x' + 1`, of values and slopes."""
        return self._join(self.product + 1.0, self.left, self.right, self.both)

    def stationary(self, profile: ProfileOf, lengthscale: Tensor) -> Tensor:
        """The covariance `g(|x - x'|^2 / l^2)`, of values and slopes, for one lengthscale."""
        scale = lengthscale.square()
        g, first, second = profile(self.squared / scale)
        mine, theirs = self.one.sloped, self.other.sloped
        left = right = both = self.squared.new_empty(0)
        if len(mine):
            left = (2.0 / scale) * first[mine].unsqueeze(1) * self.left_apart
        if len(theirs):
            right = (-2.0 / scale) * first[:, theirs].unsqueeze(-1) * self.right_apart
        if len(mine) and len(theirs):
            across = self.left_apart[:, :, theirs].unsqueeze(-1)
            across = across * self.right_apart[mine].unsqueeze(1)
            bent = second[mine][:, theirs][:, None, :, None]
            straight = first[mine][:, theirs][:, None, :, None]
            both = (-4.0 / scale.square()) * bent * across - (2.0 / scale) * straight * self.both
        return self._join(g, left, right, both)

    def _join(self, values: Tensor, left: Tensor, right: Tensor, both: Tensor) -> Tensor:
        n, n2 = values.shape
        mine, theirs = len(self.one.sloped), len(self.other.sloped)
        rows = [values]
        if theirs:
            rows = [torch.cat([values, right.reshape(n, -1)], dim=1)]
        if mine:
            slopes = left.reshape(-1, n2)
            if theirs:
                slopes = torch.cat([slopes, both.reshape(len(slopes), -1)], dim=1)
            rows.append(slopes)
        return torch.cat(rows) if mine else rows[0]


class Diagonal:
    """The covariance of values at points with themselves alone, `n`: what `Pair` has on the
    diagonal."""

    def __init__(self, points: Points) -> None:
        self.points = points

    def divided_by(self, lengthscales: Tensor) -> Diagonal:
        return self

    def dot(self) -> Tensor:
        return self.points.x.square().sum(-1) + 1.0

    def stationary(self, profile: ProfileOf, lengthscale: Tensor) -> Tensor:
        x = self.points.x
        return torch.ones(len(x), dtype=x.dtype)
