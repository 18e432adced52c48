"""How sharply demonstrations determine an optimum: observed information, flat directions.

The observed information is the Hessian of the total NLL (that of all demonstrations), by central
differences of exact gradients. Its inverse is the covariance of the estimate. A direction in which
it (almost) vanishes is one that the demonstrations say nothing of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boirl.estimation.descent import Objective
from boirl.types import Box, FloatArray

STEP = 1e-4
"""Of the differences, as a share of the box: errors of gradients (1e-11) and of the third
derivative (its square) both stay below 1e-6."""

SHORTENINGS = 6
FLAT = 1.0
"""Information, per squared width of the box, up to which a direction counts as not determined: its
standard error is then as wide as the box."""

PART = 0.05
"""Share of a flat direction from which on it involves a parameter."""

SHOWN = 4
"""Parameters of a direction that are listed by name when it is printed."""

EDGE = 1e-9
"""Share of the box within which a parameter counts as on its bound."""

PRESSING = 1e-2
"""Slope of the total NLL, per width of the box, from which on a bound holds a parameter."""


@dataclass(frozen=True, eq=False)
class FlatDirection:
    """A change of theta that (almost) does not change how well the demonstrations are explained.

    Attributes:
        change: Of each parameter, `d`, scaled so that the largest one crosses its range once.
        names: Of the parameters that are involved.
        rise: How much it raises the total NLL, by the curvature at the optimum.
    """

    change: FloatArray
    names: tuple[str, ...]
    rise: float

    def __str__(self) -> str:
        if len(self.names) == 1:
            return self.names[0]
        shown = list(self.names[:SHOWN])
        left = len(self.names) - len(shown)
        parts = [*shown, f"{left} others"] if left else shown
        return f"{', '.join(parts[:-1])} and {parts[-1]} together"


@dataclass(frozen=True, eq=False)
class Information:
    """What the curvature at an optimum says.

    Attributes:
        hessian: Of the total NLL by theta, `d x d`; NaN where it could not be computed.
        covariance: Inverse of the part that is determined, `d x d`. Rows and columns of parameters
            on a bound are NaN; those of parameters in a flat direction are NaN and their variance
            is infinite.
        on_bound: Names of the parameters on a bound; the others are estimated given these.
        flat: Directions that are not determined.
    """

    hessian: FloatArray
    covariance: FloatArray
    on_bound: tuple[str, ...]
    flat: tuple[FlatDirection, ...]


def observed_information(
    objective: Objective, unit: FloatArray, gradient: FloatArray, n: int, box: Box
) -> Information:
    """The information at an optimum.

    Args:
        objective: Mean NLL and gradient on the unit cube.
        unit: The optimum there, `d`.
        gradient: There, `d`.
        n: Demonstrations.
        box: Names and bounds of the parameters.
    """
    hessian = n * unit_hessian(objective, unit, gradient)
    widths = box.high - box.low
    # On a bound by chance, as along a flat direction, is not held there.
    bound = ((unit <= EDGE) | (unit >= 1.0 - EDGE)) & (n * np.abs(gradient) > PRESSING)
    free = np.flatnonzero(~bound)
    covariance = np.full((len(unit), len(unit)), np.nan)
    flat: list[FlatDirection] = []
    inner = hessian[np.ix_(free, free)]
    if len(free) and np.isfinite(inner).all():
        values, vectors = np.linalg.eigh(inner)
        vague = values <= FLAT
        for value, vector in zip(values[vague], vectors[:, vague].T, strict=True):
            flat.append(_direction(value, vector, free, box))
        # Along flat directions nothing is known; elsewhere the inverse is what it would be.
        sharp = vectors[:, ~vague]
        inverse = (sharp / values[~vague]) @ sharp.T
        covariance[np.ix_(free, free)] = inverse * np.outer(widths[free], widths[free])
        for name in {name for direction in flat for name in direction.names}:
            column = box.names.index(name)
            covariance[column] = covariance[:, column] = np.nan
            covariance[column, column] = np.inf
    by_theta = hessian / np.outer(widths, widths)
    names = tuple(name for name, is_on in zip(box.names, bound, strict=True) if is_on)
    return Information(by_theta, covariance, names, tuple(flat))


def _direction(value: float, vector: FloatArray, free: np.ndarray, box: Box) -> FlatDirection:
    largest = vector[np.abs(vector).argmax()]
    scaled = np.zeros(box.dimension)
    scaled[free] = vector / largest
    names = tuple(name for name, part in zip(box.names, scaled, strict=True) if abs(part) >= PART)
    return FlatDirection(scaled * (box.high - box.low), names, 0.5 * value / float(largest**2))


def unit_hessian(objective: Objective, unit: FloatArray, gradient: FloatArray) -> FloatArray:
    """Hessian on the unit cube, `d x d`; rows are NaN where no neighbour has a gradient.

    Differences are central; one-sided at a bound and beside thetas without a policy, where steps
    are shortened first.
    """
    rows = [_row(objective, unit, gradient, column) for column in range(len(unit))]
    matrix = np.stack(rows)
    symmetric: FloatArray = 0.5 * (matrix + matrix.T)
    return symmetric


def _row(objective: Objective, unit: FloatArray, gradient: FloatArray, column: int) -> FloatArray:
    step = STEP
    for _ in range(SHORTENINGS):
        sides = [_neighbour(objective, unit, column, sign * step) for sign in (1.0, -1.0)]
        there, back = sides
        if there is not None and back is not None:
            return (there - back) / (2.0 * step)
        if there is not None:
            return (there - gradient) / step
        if back is not None:
            return (gradient - back) / step
        step *= 0.25
    return np.full(len(unit), np.nan)


def _neighbour(
    objective: Objective, unit: FloatArray, column: int, step: float
) -> FloatArray | None:
    moved = unit.copy()
    moved[column] += step
    if not 0.0 <= moved[column] <= 1.0:
        return None
    known = objective(moved)
    return None if known is None else known[1]
