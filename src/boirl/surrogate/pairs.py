"""Two sets of points and everything that a covariance of values and slopes needs to know of them.

A kernel is a function of coordinates `x(u)`: those of theta, or those of the projection. Where a
gradient was observed, covariances with the slopes by `u` follow from the chain rule and the
Jacobian `dx/du`. Rows are the values at all points first, then their slopes by the first coordinate
of the cube, by the second, and so on: arrays are long in their last dimension, which is fast.
"""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from boirl.surrogate.predictive import predictive_covariance
from boirl.surrogate.slopes import Layout, ProfileOf, with_slopes


class Points:
    """Coordinates of `n` points and, at `m` of them, their derivatives by the unit cube.

    Args:
        rows: Coordinates `x`, `n`, then derivatives `dx/du`, `d m`, by `k`.
        layout: Which rows there are.
    """

    def __init__(self, rows: Tensor, layout: Layout) -> None:
        self.rows = rows
        self.layout = layout
        self._divided: tuple[Tensor, Points] | None = None

    @classmethod
    def plain(cls, x: Tensor) -> Points:
        """Points without slopes, `n x k`."""
        return cls(x, Layout(len(x)))

    @classmethod
    def sloped(cls, x: Tensor, numbers: Tensor, jacobian: Tensor) -> Points:
        """Points `n x k`, with the Jacobians `m x k x d` of those with some numbers, `m`."""
        slopes = jacobian.permute(2, 0, 1).flatten(0, 1)
        return cls(torch.cat([x, slopes]), Layout(len(x), numbers, jacobian.shape[-1]))

    @property
    def x(self) -> Tensor:
        """Coordinates, `n x k`."""
        return self.rows[: self.layout.n]

    @cached_property
    def own(self) -> Tensor:
        """Inner products of rows with the points they are of, `n + d m`."""
        at = self.x[self.layout.point] if self.layout.m else self.x
        return (self.rows * at).sum(-1)

    def joined_by(self, others: Points) -> Points:
        """With other points, which have no slopes, after its own."""
        n, layout = self.layout.n, self.layout
        rows = torch.cat([self.rows[:n], others.rows, self.rows[n:]])
        return Points(rows, Layout(n + others.layout.n, layout.numbers, layout.d))

    def divided_by(self, lengthscales: Tensor) -> Points:
        """The points in units of lengthscales, `k` or a single one; the last ones are kept."""
        if self._divided is not None and self._divided[0] is lengthscales:
            return self._divided[1]
        divided = Points(self.rows / lengthscales, self.layout)
        if not divided.rows.requires_grad:
            self._divided = (lengthscales, divided)
        return divided


class Pair:
    """Geometry of `n` points against `n'` others; covariances are `n + d m` by `n' + d m'`."""

    def __init__(self, one: Points, other: Points) -> None:
        self.one = one
        self.other = other

    def divided_by(self, lengthscales: Tensor) -> Pair:
        """The pair in units of lengthscales, one per coordinate."""
        one = self.one.divided_by(lengthscales)
        return Pair(one, one if self.other is self.one else self.other.divided_by(lengthscales))

    @cached_property
    def products(self) -> Tensor:
        """Inner products of rows, `n + d m` by `n' + d m'`."""
        return self.one.rows @ self.other.rows.mT

    @cached_property
    def squared(self) -> Tensor:
        """Squared distances of points, `n x n'`."""
        n, n2 = self.one.layout.n, self.other.layout.n
        own = self.one.own[:n, None] + self.other.own[:n2]
        return (own - 2.0 * self.products[:n, :n2]).clamp_min(0.0)

    @cached_property
    def _dot(self) -> Tensor:
        return torch.addr(self.products, self.one.layout.is_value, self.other.layout.is_value)

    def dot(self) -> Tensor:
        """The linear covariance `x . x' + 1`, of values and slopes."""
        return self._dot

    def stationary(
        self, profile: ProfileOf, amplitude: Tensor, lengthscale: Tensor | None = None
    ) -> Tensor:
        """The covariance `a g(|x - x'|^2 / l^2)`, of values and slopes; `l` is 1 by default."""
        one, other = self.one, self.other
        known = not (amplitude.requires_grad or other.rows.requires_grad)
        if known and other.layout.m and not one.layout.m:
            return predictive_covariance(
                one.rows,
                other.rows,
                other.own,
                other.layout,
                profile,
                float(amplitude),
                1.0 if lengthscale is None else float(lengthscale) ** -2,
            )
        squared, sloped, bent = self.squared, amplitude, amplitude
        if lengthscale is not None:
            weight = lengthscale.square().reciprocal()
            squared, sloped = weight * squared, weight * amplitude
            bent = weight * sloped
        value, first, second = profile(squared)
        if not one.layout.m and not other.layout.m:
            return amplitude * value
        return with_slopes(
            amplitude * value,
            (2.0 * sloped) * first,
            (4.0 * bent) * second,
            self.products,
            one.own,
            other.own,
            one.layout,
            other.layout,
        )


class Diagonal:
    """The covariance of values at points with themselves alone, `n`: what `Pair` has on the
    diagonal."""

    def __init__(self, points: Points) -> None:
        self.points = points

    def divided_by(self, lengthscales: Tensor) -> Diagonal:
        return self

    def dot(self) -> Tensor:
        return self.points.own[: self.points.layout.n] + 1.0

    def stationary(
        self, profile: ProfileOf, amplitude: Tensor, lengthscale: Tensor | None = None
    ) -> Tensor:
        return amplitude.expand(self.points.layout.n)
