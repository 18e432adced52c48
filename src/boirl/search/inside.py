"""The way down where there are constraints: to their border, and no farther.

The surrogate of the NLL says what is good, those of the margins what is allowed. Sequential
quadratic programming leads to the lowest expected NLL that is safely inside of all limits. From
there, the density to expect is climbed: that of the posterior over rewards where all constraints
are met, and none where one is broken. How near to a border it pays to go follows from that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from boirl.estimation.descent import LONGEST_STEP
from boirl.maximise import GRADIENT_STEPS
from boirl.surrogate import FittedSurrogate
from boirl.types import FloatArray


def has_limits(surrogate: FittedSurrogate) -> bool:
    """Whether there are constraints."""
    with torch.no_grad():
        unit = torch.tensor(surrogate.best_unit[None])
        return surrogate.feasibility.safe_margins(unit).shape[1] > 0


def has_solution(surrogate: FittedSurrogate) -> bool:
    """Whether some evaluation meets all constraints."""
    return surrogate.admissible is None or bool(surrogate.admissible.any())


def best_inside(surrogate: FittedSurrogate, enough: float) -> FloatArray:
    """The theta within reach that has the highest density to expect, in the unit cube, `d`.

    Two ways lead there: from the best solution, and from the best of all evaluations, which may
    break constraints. What is best with them is seldom far from what is best without.

    Args:
        surrogate: Of the NLL, with constraints.
        enough: Nats that are not worth another step.
    """
    starts = {int(surrogate.denoised_nll.argmin()), surrogate.best_index}
    units = surrogate.box.to_unit(surrogate.thetas[sorted(starts)])
    ends = np.array([_inside_from(surrogate, start, enough) for start in units])
    with torch.no_grad():
        density = _log_density(surrogate, torch.tensor(ends))
    found: FloatArray = ends[int(density.argmax())]
    return found


def _inside_from(surrogate: FittedSurrogate, start: FloatArray, enough: float) -> FloatArray:
    """The end of the way down from a start, `d`, no farther than one step of a descent."""
    low = np.clip(start - LONGEST_STEP, 0.0, 1.0)
    high = np.clip(start + LONGEST_STEP, 0.0, 1.0)
    bounds = np.stack([low, high], axis=1)
    nats = _with_slopes(lambda unit: surrogate.n_demonstrations * surrogate.mean(unit))
    below = minimize(
        nats,
        start,
        jac=True,
        method="SLSQP",
        bounds=bounds,
        constraints=_limits(surrogate),
        options={"ftol": enough},
    )
    safe = np.clip(below.x, low, high)
    loss = _with_slopes(lambda unit: -_log_density(surrogate, unit))
    expected = loss(safe)[0]
    climbed = minimize(
        loss,
        safe,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        # At the wall of a constraint, steps grow ever smaller.
        options={"ftol": enough / max(abs(expected), 1.0), "maxiter": GRADIENT_STEPS},
    )
    return np.clip(climbed.x, low, high) if climbed.fun < expected else safe


def _log_density(surrogate: FittedSurrogate, unit: Tensor) -> Tensor:
    """Log of the posterior density to expect at points `n x d`, up to a constant, `n`."""
    nats = -surrogate.n_demonstrations * surrogate.mean(unit)
    return surrogate.feasibility.worth(unit, nats)


def _limits(surrogate: FittedSurrogate) -> list[dict[str, Any]]:
    """The limits of constraints, for `scipy.optimize.minimize`."""

    def margins(unit: FloatArray) -> FloatArray:
        with torch.no_grad():
            return surrogate.feasibility.safe_margins(torch.tensor(unit[None]))[0].numpy()

    def slopes(unit: FloatArray) -> FloatArray:
        leaf = torch.tensor(unit[None], requires_grad=True)
        rows = surrogate.feasibility.safe_margins(leaf)[0]
        return np.stack(
            [torch.autograd.grad(row, leaf, retain_graph=True)[0][0].numpy() for row in rows]
        )

    return [{"type": "ineq", "fun": margins, "jac": slopes}]


def _with_slopes(
    function: Callable[[Tensor], Tensor],
) -> Callable[[FloatArray], tuple[float, FloatArray]]:
    """A function of points `n x d` as one of a single point, `d`, with its slopes, `d`."""

    def at(unit: FloatArray) -> tuple[float, FloatArray]:
        leaf = torch.tensor(unit[None], requires_grad=True)
        value = function(leaf).sum()
        (slopes,) = torch.autograd.grad(value, leaf)
        return float(value.detach()), slopes[0].numpy()

    return at
