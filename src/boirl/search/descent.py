"""Plain quasi-Newton steps, for when the surrogate turns out to be wrong or does not see far.

Every proposal is predicted before it is evaluated. A prediction that is off by more than it may be,
and by more than matters, shows that the surrogate does not know the landscape there. The exact
gradient always knows a way down: until a prediction is right again, the search goes by that.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from boirl.estimation.descent import (
    AFTER_FAILURE,
    newton_direction,
    pressed,
    updated_curvature,
)
from boirl.tolerance import likelihood_ratio_tolerance
from boirl.types import Box, FloatArray

WORTH = 0.01
"""Improvement that is worth an evaluation, in tolerances of a likelihood-ratio test."""

OFF = 3.0
"""Standard deviations by which a prediction is wrong once in several hundred if it is right."""


class Seen(Protocol):
    """Evaluations: thetas `n x d`, NLLs `n`, and gradients `n x d`, NaN where there is none."""

    @property
    def thetas(self) -> FloatArray: ...
    @property
    def nll(self) -> FloatArray: ...
    @property
    def gradients(self) -> FloatArray: ...


def is_off(predicted: tuple[float, float], nll: float, n_demonstrations: int, d: int) -> bool:
    """Whether a prediction, mean and standard deviation, was off by more than it may be.

    A difference within the tolerance of a likelihood-ratio test does not matter.
    """
    mean, sd = predicted
    if not np.isfinite(nll):
        return True
    return abs(nll - mean) > max(OFF * sd, likelihood_ratio_tolerance(n_demonstrations, d))


def quasi_newton_step(
    seen: Seen, box: Box, n_demonstrations: int, tried: int = 0
) -> FloatArray | None:
    """The next theta of a descent from the best evaluation, in the unit cube, `d`.

    None where the best has no gradient or is at the bottom already.

    Args:
        seen: Evaluations.
        box: The rewards under consideration.
        n_demonstrations: How many demonstrations an NLL is the mean of.
        tried: Steps from this best that did not improve it.
    """
    known = np.flatnonzero(np.isfinite(seen.gradients).all(axis=1))
    if not known.size:
        return None
    unit = box.to_unit(seen.thetas[known])
    slopes = seen.gradients[known] * (box.high - box.low)
    best = int(seen.nll[known].argmin())
    if seen.nll[known[best]] > seen.nll.min():
        return None
    steps, changes = unit - unit[best], slopes - slopes[best]
    distances = np.linalg.norm(steps, axis=1)
    curvature: FloatArray | None = None
    for other in np.argsort(-distances, kind="stable"):
        # The nearest come last: what they say of the curvature counts most.
        if distances[other] > 0.0:
            curvature = updated_curvature(curvature, steps[other], changes[other])
    gradient = slopes[best]
    direction = newton_direction(gradient, curvature, ~pressed(unit[best], gradient))
    worth = WORTH * likelihood_ratio_tolerance(n_demonstrations, box.dimension)
    if -float(gradient @ direction) < worth:
        return None
    return np.clip(unit[best] + AFTER_FAILURE**tried * direction, 0.0, 1.0)
