"""From a covariance of values to one of values and slopes, by the chain rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

NONE = torch.empty(0, dtype=torch.long)


class Profile(NamedTuple):
    """A stationary covariance as a function of the squared distance, and its two derivatives."""

    value: Tensor
    first: Tensor
    second: Tensor


ProfileOf = Callable[[Tensor], Profile]


class Layout:
    """The rows of a covariance: the values at `n` points, then slopes at `m` of them, by each of
    `d` coordinates in turn.

    Args:
        n: Number of points.
        numbers: Of those with slopes, `m`, all different.
        d: Number of slopes of each.
    """

    def __init__(self, n: int, numbers: Tensor = NONE, d: int = 1) -> None:
        self.n = n
        self.numbers = numbers
        self.m = len(numbers)
        self.d = d

    @cached_property
    def chosen(self) -> Tensor | slice:
        """What picks the points with slopes out of all points."""
        first = torch.arange(self.m)
        return slice(self.m) if torch.equal(self.numbers, first) else self.numbers

    @cached_property
    def point(self) -> Tensor:
        """The number of the point of each row, `n + d m`."""
        return torch.cat([torch.arange(self.n), self.numbers.repeat(self.d)])

    @cached_property
    def is_value(self) -> Tensor:
        """1 for values, 0 for slopes, `n + d m`."""
        kinds = torch.zeros(self.n + self.d * self.m, dtype=torch.float64)
        kinds[: self.n] = 1.0
        return kinds


def with_slopes(
    g: Tensor,
    f: Tensor,
    h: Tensor,
    products: Tensor,
    own: Tensor,
    other_own: Tensor,
    one: Layout,
    other: Layout,
) -> Tensor:
    """The covariance of values and slopes, `n + d m` by `n' + d m'`.

    Args:
        g: A covariance of values that is a function of their squared distance, `n x n'`.
        f: Twice its derivative by the squared distance, `n x n'`.
        h: Four times its second derivative, `n x n'`.
        products: Inner products of rows, see `Points`, `n + d m` by `n' + d m'`.
        own: Inner products of rows with their own points, `n + d m`.
        other_own: The same for the columns, `n' + d m'`.
        one: Which rows there are.
        other: Which columns there are.
    """
    found: Tensor = _WithSlopes.apply(g, f, h, products, own, other_own, one, other)
    return found


class _WithSlopes(torch.autograd.Function):
    """The blocks of a covariance of values and slopes,

        [ g     -f R           ]
        [ f L   -h L R - f H   ]

    with the differences
    `L = J^T (x - x')`, `d x m x n'`, and `R = J'^T (x - x')`, `n x d x m'`, along the slopes of
    either side; and their products `H = J^T J'`, `d x m x d x m'`.

    All of it is linear in each part. With derivatives written down, the large blocks are gone
    through a few times, and not dozens of times as by autograd.
    """

    @staticmethod
    def forward(
        ctx: Any,
        g: Tensor,
        f: Tensor,
        h: Tensor,
        products: Tensor,
        own: Tensor,
        other_own: Tensor,
        one: Layout,
        other: Layout,
    ) -> Tensor:
        _, right, left, both = _blocks(products, one, other)
        left = own[one.n :].view(one.d, one.m, 1) - left
        right = right - other_own[other.n :].view(other.d, other.m)
        ctx.save_for_backward(f, h, left, right, both)
        ctx.layouts = one, other
        found = torch.empty_like(products)
        values, values_slopes, slopes_values, slopes = _blocks(found, one, other)
        values.copy_(g)
        torch.mul(-f[:, other.chosen].unsqueeze(1), right, out=values_slopes)
        if one.m:
            torch.mul(f[one.chosen], left, out=slopes_values)
            f, h = f[one.chosen][:, other.chosen], h[one.chosen][:, other.chosen]
            bent = -h * left[..., other.chosen]
            torch.mul(bent.unsqueeze(2), right[one.chosen], out=slopes)
            slopes.addcmul_(f.unsqueeze(1), both, value=-1.0)
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        f, h, left, right, both = ctx.saved_tensors
        one, other = ctx.layouts
        mine, theirs = one.chosen, other.chosen
        values, values_slopes, slopes_values, slopes = _blocks(given[0], one, other)
        moved = any(ctx.needs_input_grad[3:6])
        by_f, by_h, by_products, by_own, by_other_own = torch.zeros_like(f), None, None, None, None
        by_f[:, theirs] -= (values_slopes * right).sum(1)
        if one.m:
            far, near = right[mine], left[..., theirs]
            along = (slopes * far).sum(2)
            by_f[mine] += (slopes_values * left).sum(0)
            by_f[_both(mine, theirs)] -= (slopes * both).sum(2).sum(0)
            by_h = torch.zeros_like(h)
            by_h[_both(mine, theirs)] -= (near * along).sum(0)
        if moved:
            by_products = torch.empty_like(given[0])
            by_values, by_right, by_left, by_both = _blocks(by_products, one, other)
            by_values.zero_()
            torch.mul(-f[:, theirs].unsqueeze(1), values_slopes, out=by_right)
            if one.m:
                bent = h[mine][:, theirs]
                torch.mul(-f[mine], slopes_values, out=by_left)
                torch.mul(-f[mine][:, theirs].unsqueeze(1), slopes, out=by_both)
                by_left[..., theirs] += bent * along
                by_right[mine] -= bent.unsqueeze(1) * (slopes * near.unsqueeze(2)).sum(0)
            by_own = torch.cat([f.new_zeros(one.n), -by_left.sum(-1).flatten()])
            by_other_own = torch.cat([f.new_zeros(other.n), -by_right.sum(0).flatten()])
        return values, by_f, by_h, by_products, by_own, by_other_own, None, None


def _both(rows: Tensor | slice, columns: Tensor | slice) -> tuple[Tensor | slice, ...]:
    """What picks some rows and, of these, some columns."""
    if isinstance(rows, Tensor) and isinstance(columns, Tensor):
        return rows[:, None], columns
    return rows, columns


def _blocks(matrix: Tensor, one: Layout, other: Layout) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Views of the blocks of a matrix `n + d m` by `n' + d m'`: of values with values, `n x n'`,
    values with slopes, `n x d x m'`, slopes with values, `d x m x n'`, and slopes with slopes."""
    n, n2 = one.n, other.n
    return (
        matrix[:n, :n2],
        matrix[:n, n2:].view(n, other.d, other.m),
        matrix[n:, :n2].view(one.d, one.m, n2),
        matrix[n:, n2:].view(one.d, one.m, other.d, other.m),
    )
