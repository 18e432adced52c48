"""The covariance of values, where they are to be predicted, with what was observed.

It is all that predictions, and their slopes, need, and an acquisition asks for it thousands of
times.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from boirl.surrogate.slopes import Layout, ProfileOf


def predictive_covariance(
    x: Tensor,
    rows: Tensor,
    own: Tensor,
    layout: Layout,
    profile: ProfileOf,
    amplitude: float,
    weight: float,
) -> Tensor:
    """The covariance `a g(w |x - x'|^2)` of values with values and slopes, `n` by `n' + d m'`.

    Differentiable by the points `x` alone.

    Args:
        x: Points, `n x k`.
        rows: Of the other points, `n' + d m'` by `k`, see `Points`.
        own: Inner products of rows with their own points, `n' + d m'`.
        layout: Which rows there are.
        profile: `g`.
        amplitude: `a`.
        weight: `w`.
    """
    found: Tensor = _Predictive.apply(x, rows, own, layout, profile, amplitude, weight)
    return found


class _Predictive(torch.autograd.Function):
    """Once differentiable, by what the profile says of its derivatives."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        rows: Tensor,
        own: Tensor,
        layout: Layout,
        profile: ProfileOf,
        amplitude: float,
        weight: float,
    ) -> Tensor:
        n, chosen = layout.n, layout.chosen
        products = x @ rows.mT
        values, along = products[:, :n], products[:, n:].view(-1, layout.d, layout.m)
        squared = (x.square().sum(-1, keepdim=True) + own[:n]).sub_(values, alpha=2.0)
        value, first, second = profile(squared.clamp_min_(0.0).mul_(weight))
        along.sub_(own[n:].view(layout.d, layout.m))
        slope = (-2.0 * amplitude * weight) * first
        ctx.save_for_backward(x, rows, first, second, slope, along)
        ctx.given = layout, amplitude, weight
        found = torch.empty_like(products)
        torch.mul(value, amplitude, out=found[:, :n])
        torch.mul(slope[:, chosen].unsqueeze(1), along, out=found[:, n:].view(along.shape))
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        x, rows, first, second, slope, along = ctx.saved_tensors
        layout, amplitude, weight = ctx.given
        n, chosen = layout.n, layout.chosen
        by_slopes = given[0][:, n:].view(along.shape)
        # By half the squared distances, with the sign of the inner products.
        by = (-2.0 * weight * amplitude) * (first * given[0][:, :n])
        bent = (4.0 * weight**2 * amplitude) * (by_slopes * along).sum(1)
        by[:, chosen] += second[:, chosen] * bent
        by_products = torch.empty_like(given[0])
        by_products[:, :n] = by
        torch.mul(
            slope[:, chosen].unsqueeze(1), by_slopes, out=by_products[:, n:].view(along.shape)
        )
        by_x = torch.addmm(x * -by.sum(1, keepdim=True), by_products, rows)
        return by_x, None, None, None, None, None, None
