"""The highest point of a function on the unit cube."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import torch
from botorch.generation import gen_candidates_scipy
from scipy.stats import qmc
from torch import Tensor

from boirl.types import FloatArray

RAW_SAMPLES = 1024
LOCAL_SAMPLES = 512
LOCAL_RADII = (1e-3, 0.3)
STARTS = 16
GRADIENT_STEPS = 30
LINE_SEARCH_STEPS = 3

CLIMB_MARGIN = 1.0
"""How far below what is worth having the best of a sample is not climbed from."""


def maximise(
    function: Callable[[Tensor], Tensor],
    centre: FloatArray,
    rng: np.random.Generator,
    worth: float = -math.inf,
) -> tuple[FloatArray, float]:
    """The best point of the unit cube, `d`, and its value, by gradients from many starts.

    A Sobol sample and a cloud around the centre are ranked without gradients. L-BFGS then climbs
    from the best of them, and from some of the others in case all lie on one hill. Where even the
    best of the sample is far below `worth`, or the function has no gradient, the best of the
    sample is returned.

    Args:
        function: From points `n x 1 x d` to values `n`, differentiable, as BoTorch's acquisition
            functions are.
        centre: Where to look more closely, in the unit cube, `d`.
        rng: All randomness comes from here.
        worth: What the value must come near to be worth climbing for.
    """
    dimension = len(centre)
    spread = qmc.Sobol(dimension, rng=rng).random(RAW_SAMPLES)
    radii = np.exp(rng.uniform(*np.log(LOCAL_RADII), (LOCAL_SAMPLES, 1)))
    cloud = centre + radii * rng.standard_normal((LOCAL_SAMPLES, dimension))
    raw = torch.tensor(np.concatenate([spread, np.clip(cloud, 0.0, 1.0)])).unsqueeze(-2)
    with torch.no_grad():
        raw_values = function(raw)
    ranking = raw_values.argsort(descending=True, stable=True)
    best_raw = raw[ranking[0], 0].numpy(), float(raw_values[ranking[0]])
    if best_raw[1] < worth - CLIMB_MARGIN:
        return best_raw
    others = STARTS // 2 + rng.permutation(len(raw) - STARTS // 2)[: STARTS // 2]
    starts = torch.cat([ranking[: STARTS // 2], ranking[torch.tensor(others)]])
    if not function(raw[:1].clone().requires_grad_()).requires_grad:
        # A reward that is not written in torch has no slopes to climb by.
        return best_raw
    with warnings.catch_warnings(record=True):
        # Climbs that end at the step limit, or where rounding hides the slope, end well enough.
        # BoTorch warns of them under a filter of its own, so they are recorded and dropped.
        candidates, values = gen_candidates_scipy(
            raw[starts],
            cast(Any, function),
            lower_bounds=0.0,
            upper_bounds=1.0,
            options={"maxiter": GRADIENT_STEPS, "maxls": LINE_SEARCH_STEPS},
        )
    best = int(values.argmax())
    if float(values[best]) < best_raw[1]:
        return best_raw
    return candidates[best, 0].detach().numpy(), float(values[best])
