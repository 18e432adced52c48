"""Profile intervals: the values of one parameter that a likelihood-ratio test does not reject.

The profile of a parameter is the lowest total NLL that the others can reach while it is held. Its
derivative is that of the NLL by the parameter (the others are optimal, so their part vanishes), so
that the end of the interval is found by Newton's method on the root of twice the rise, which is
almost linear, within a bracket.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from boirl.errors import InvalidInputError
from boirl.estimation.descent import Objective, descend
from boirl.types import Box, FloatArray

PRECISION = 1e-4
"""Share of its distance from the optimum to which the end of an interval is known."""

MAX_STEPS = 40
FIRST_STEP = 0.05
"""Of the box, where the curvature does not say how far the end is."""


@dataclass(frozen=True)
class ProfileInterval:
    """What a likelihood-ratio test leaves of a parameter.

    Attributes:
        name: Of the parameter.
        low: The lowest value that is not rejected.
        high: The highest.
        level: Of confidence.
        open_low: Whether the lower end is not a rejection but the bound of the box, or the last
            value that has a policy.
        open_high: The same of the upper end.
    """

    name: str
    low: float
    high: float
    level: float
    open_low: bool
    open_high: bool

    def __str__(self) -> str:
        left, right = "(" if self.open_low else "[", ")" if self.open_high else "]"
        return f"{self.name} in {left}{self.low:.6g}, {self.high:.6g}{right}"


def profile_interval(
    objective: Objective,
    unit: FloatArray,
    nll: float,
    n: int,
    box: Box,
    name: str,
    level: float,
    standard_error: float = math.nan,
) -> ProfileInterval:
    """The values of a parameter that a likelihood-ratio test does not reject.

    Args:
        objective: Mean NLL and gradient on the unit cube.
        unit: The optimum, `d`.
        nll: Its mean NLL.
        n: Demonstrations.
        box: Of the parameters.
        name: Of the parameter.
        level: Of confidence.
        standard_error: Of the parameter; not finite where nobody knows.
    """
    if name not in box.names:
        raise InvalidInputError(
            f"there is no parameter {name!r}; expected one of {', '.join(box.names)}"
        )
    if not 0.0 < level < 1.0:
        raise InvalidInputError(f"the level is {level}; expected one in (0, 1)")
    column = box.names.index(name)
    width = float(box.high[column] - box.low[column])
    ends = [
        profile_end(objective, unit, nll, n, column, side, level, standard_error / width)
        for side in (-1.0, 1.0)
    ]
    (low, open_low), (high, open_high) = ends
    at = [float(box.low[column]) + width * end for end in (low, high)]
    return ProfileInterval(name, at[0], at[1], level, open_low, open_high)


def profile_end(
    objective: Objective,
    unit: FloatArray,
    nll: float,
    n: int,
    column: int,
    side: float,
    level: float,
    standard_error: float,
) -> tuple[float, bool]:
    """The end of an interval in the unit cube, and whether it is open.

    Args:
        objective: Mean NLL and gradient on the unit cube.
        unit: The optimum, `d`.
        nll: Its mean NLL.
        n: Demonstrations.
        column: Number of the parameter.
        side: -1 for the lower end, 1 for the upper one.
        level: Of confidence.
        standard_error: Of the parameter, on the unit cube; not finite where nobody knows.
    """
    goal = float(np.sqrt(chi2.ppf(level, 1)))
    furthest = unit[column] if side < 0.0 else 1.0 - unit[column]
    if furthest <= 0.0:
        return float(unit[column]), True
    known = np.isfinite(standard_error) and standard_error > 0.0
    distance = min(furthest, goal * standard_error if known else FIRST_STEP)
    inside, others = 0.0, unit
    outside, is_open = np.inf, True
    for _ in range(MAX_STEPS):
        start = others.copy()
        start[column] = np.clip(unit[column] + side * distance, 0.0, 1.0)
        end = descend(objective, start, held=(column,))
        if end is None:
            outside, is_open = distance, True
            distance = 0.5 * (inside + distance)
        else:
            root = float(np.sqrt(max(0.0, 2.0 * n * (end.value - nll))))
            if abs(root - goal) <= PRECISION * goal:
                return float(end.point[column]), False
            if root < goal:
                inside, others = distance, end.point
                if distance >= furthest:
                    return float(end.point[column]), True
            else:
                outside, is_open = distance, False
            slope = side * n * float(end.gradient[column]) / max(root, 1e-300)
            ahead = distance + (goal - root) / slope if slope > 0.0 else np.inf
            # Where the profile has hardly risen, its slope says little.
            ahead = ahead if root >= 0.5 * goal else max(ahead, 2.0 * distance)
            distance = _within(ahead, inside, outside, furthest)
        if np.isfinite(outside) and outside - inside <= PRECISION * outside:
            break
    return float(others[column]), is_open


def _within(ahead: float, inside: float, outside: float, furthest: float) -> float:
    """The next distance to try: as Newton says where that is within the bracket."""
    if not np.isfinite(outside):
        return min(furthest, ahead, max(4.0 * inside, FIRST_STEP))
    return ahead if inside < ahead < outside else 0.5 * (inside + outside)
