"""The highest point of a function on the unit cube."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from botorch.optim.batched_lbfgs_b import fmin_l_bfgs_b_batched
from scipy.stats import qmc
from torch import Tensor

from boirl.types import FloatArray

SAMPLES = 128
"""Points that are ranked, all over the cube, and as many around the centre."""

LOCAL_RADII = (1e-3, 0.3)
"""Radii of the cloud around the centre, at random in between on a log scale: with thousands of
demonstrations, what is worth having may be a thousandth of the cube across."""

STARTS, GRADIENT_STEPS, LINE_SEARCH_STEPS = 16, 30, 3
"""Climbs, and how long each may take: valleys of several parameters are narrow and bent."""

SMALLEST_GAIN = 2e-4
"""Share of the value below which a step is the last one of its climb."""


def maximise(
    function: Callable[[Tensor], Tensor],
    centre: FloatArray,
    rng: np.random.Generator,
    smallest_gain: float = SMALLEST_GAIN,
) -> tuple[FloatArray, float]:
    """The best point of the unit cube, `d`, and its value, by gradients from many starts.

    A Sobol sample and a cloud around the centre are ranked without gradients. L-BFGS then climbs
    from the best of them, and from some of the others in case all lie on one hill. Where the
    function has no gradient, the best of the sample is returned.

    Args:
        function: From points `n x 1 x d` to values `n`, differentiable, as BoTorch's acquisition
            functions are.
        centre: Where to look more closely, in the unit cube, `d`.
        rng: All randomness comes from here.
        smallest_gain: Share of the value below which a step is the last one of its climb.
    """
    dimension = len(centre)
    spread = qmc.Sobol(dimension, rng=rng).random(SAMPLES)
    low, high = np.log(LOCAL_RADII)
    radii = np.exp(rng.uniform(float(low), float(high), (SAMPLES, 1)))
    cloud = centre + radii * rng.standard_normal((SAMPLES, dimension))
    raw = torch.tensor(np.concatenate([spread, np.clip(cloud, 0.0, 1.0)])).unsqueeze(-2)
    with torch.no_grad():
        raw_values = torch.cat([function(part) for part in raw.split(SAMPLES)])
    ranking = raw_values.argsort(descending=True, stable=True)
    best_raw = raw[ranking[0], 0].numpy(), float(raw_values[ranking[0]])
    others = STARTS // 2 + rng.permutation(len(raw) - STARTS // 2)[: STARTS // 2]
    starts = torch.cat([ranking[: STARTS // 2], ranking[torch.tensor(others)]])
    units, losses, _ = fmin_l_bfgs_b_batched(
        partial(_loss, function),
        raw[starts, 0].numpy(),
        bounds=[(0.0, 1.0)] * dimension,
        maxiter=GRADIENT_STEPS,
        maxls=LINE_SEARCH_STEPS,
        factr=smallest_gain / np.finfo(float).eps,
    )
    best = int(losses.argmin())
    if -losses[best] < best_raw[1]:
        return best_raw
    return units[best], -float(losses[best])


def _loss(function: Callable[[Tensor], Tensor], unit: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The negative of a function at points `n x d`, `n`, and its slopes, `n x d`."""
    leaf = torch.tensor(unit, requires_grad=True)
    values = function(leaf.unsqueeze(-2)).reshape(len(unit))
    if not values.requires_grad:
        # A reward that is not written in torch has no slopes to climb by.
        return -values.numpy(), np.zeros_like(unit)
    (slopes,) = torch.autograd.grad(values.sum(), leaf)
    return -values.detach().numpy(), -slopes.numpy()
