"""Quasi-Newton descent within the unit cube that survives points without a value.

The model of the curvature is a dense BFGS matrix. Each step minimises it over the coordinates that
are not held at a bound, is projected onto the cube, and is shortened until the value falls enough.
A point where there is no value (a reward whose solver fails) shortens the step like one that is too
high; it never ends the descent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from boirl.types import FloatArray

Objective = Callable[[FloatArray], tuple[float, FloatArray] | None]
"""Value and gradient, `d`, at a point of the unit cube; None where there is none."""

FIRST_STEP = 0.1
"""Length of the first step: short enough to stay near a start that was chosen for its value."""

LONGEST_STEP = 0.5
SUFFICIENT = 1e-4
"""Share of the decrease promised by the slope that a step must deliver (Armijo)."""

SHORTENING = (0.1, 0.5)
"""Least and most that a step is multiplied by when it is shortened."""

AFTER_FAILURE = 0.25
MAX_SHORTENINGS = 25
DAMPING = 0.2
"""Share of the modelled curvature that an update keeps at least (Powell)."""


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended.

    Attributes:
        point: In the unit cube, `d`.
        value: There.
        gradient: There, `d`.
        evaluations: Calls of the objective.
        converged: Whether it ended because nothing was left to gain.
    """

    point: FloatArray
    value: float
    gradient: FloatArray
    evaluations: int
    converged: bool


def descend(
    objective: Objective,
    start: FloatArray,
    steps: int = 100,
    tolerance: float = 1e-12,
    held: Sequence[int] = (),
) -> Descent | None:
    """Descend from a start, `d`, in the unit cube; None where there is no value at the start.

    Args:
        objective: See `Objective`.
        start: Where to begin.
        steps: Iterations at most.
        tolerance: It ends where an iteration gains, or can gain, less than this share of the value
            (of 1, where values are smaller).
        held: Coordinates that do not move.
    """
    point = np.clip(np.asarray(start, dtype=np.float64), 0.0, 1.0)
    first = objective(point)
    if first is None:
        return None
    value, gradient = first
    evaluations = 1
    movable = np.ones(len(point), dtype=bool)
    movable[list(held)] = False
    curvature: FloatArray | None = None
    converged = False
    for _ in range(steps):
        free = movable & ~pressed(point, gradient)
        enough = tolerance * max(abs(value), 1.0)
        direction = newton_direction(gradient, curvature, free)
        if -0.5 * gradient @ direction <= enough:
            converged = True
            break
        move = _search(objective, point, value, gradient, direction)
        evaluations += move.evaluations
        if move.found is None:
            if curvature is None:
                converged = True
                break
            curvature = None
            continue
        new, new_value, new_gradient = move.found
        curvature = updated_curvature(curvature, new - point, new_gradient - gradient)
        gain = value - new_value
        point, value, gradient = new, new_value, new_gradient
        if gain <= enough:
            converged = True
            break
    return Descent(point, value, gradient, evaluations, converged)


def projected_gradient(point: FloatArray, gradient: FloatArray) -> FloatArray:
    """The gradient, `d`, without what presses against a bound of the unit cube."""
    return np.where(pressed(point, gradient), 0.0, gradient)


@dataclass(frozen=True, eq=False)
class _Move:
    found: tuple[FloatArray, float, FloatArray] | None
    evaluations: int


def pressed(point: FloatArray, gradient: FloatArray) -> np.ndarray:
    """Which coordinates are at a bound that the descent would cross, `d`."""
    return ((point <= 0.0) & (gradient > 0.0)) | ((point >= 1.0) & (gradient < 0.0))


def newton_direction(
    gradient: FloatArray, curvature: FloatArray | None, free: np.ndarray
) -> FloatArray:
    """The step to the minimum of the model over the free coordinates, `d`."""
    direction = np.zeros_like(gradient)
    length = float(np.linalg.norm(gradient[free]))
    if length == 0.0:
        return direction
    if curvature is None:
        direction[free] = -gradient[free] * FIRST_STEP / length
    else:
        direction[free] = -np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
    longest = float(np.abs(direction).max())
    return direction * min(1.0, LONGEST_STEP / max(longest, 1e-300))


def _search(
    objective: Objective,
    point: FloatArray,
    value: float,
    gradient: FloatArray,
    direction: FloatArray,
) -> _Move:
    """The first of ever shorter steps along the projected direction that falls enough."""
    share = 1.0
    for number in range(1, MAX_SHORTENINGS + 1):
        new = np.clip(point + share * direction, 0.0, 1.0)
        promised = float(gradient @ (new - point))
        if promised >= 0.0 or np.array_equal(new, point):
            return _Move(None, number - 1)
        tried = objective(new)
        if tried is None:
            share *= AFTER_FAILURE
            continue
        if tried[0] <= value + SUFFICIENT * promised:
            return _Move((new, *tried), number)
        # The minimum of the parabola through the value, its slope and the new value.
        best = -0.5 * promised / (tried[0] - value - promised)
        share *= float(np.clip(best, *SHORTENING))
    return _Move(None, MAX_SHORTENINGS)


def updated_curvature(
    curvature: FloatArray | None, step: FloatArray, change: FloatArray
) -> FloatArray:
    """Damped BFGS update by a step and the change of the gradient over it, `d` each."""
    if curvature is None:
        product = float(step @ change)
        scale = product / float(step @ step) if product > 0.0 else 1.0
        curvature = max(scale, 1e-12) * np.eye(len(step))
    bent = curvature @ step
    modelled = float(step @ bent)
    product = float(step @ change)
    if product < DAMPING * modelled:
        share = (1.0 - DAMPING) * modelled / (modelled - product)
        change = share * change + (1.0 - share) * bent
        product = float(step @ change)
    updated: FloatArray = (
        curvature - np.outer(bent, bent) / modelled + np.outer(change, change) / product
    )
    return updated
