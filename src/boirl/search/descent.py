"""Plain quasi-Newton steps, for when the surrogate turns out to be wrong.

Every proposal is predicted before it is evaluated. A prediction that is off by more than it may be,
and by more than matters, shows that the surrogate does not know the landscape there. The exact
gradient always knows a way down: until a prediction is right again, the search goes by that.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from boirl.surrogate import Observations
from boirl.types import Box, FloatArray

OFF = 3.0
"""Standard deviations by which a prediction is wrong once in several hundred if it is right."""

MEMORY = 10
"""Pairs of evaluations that the curvature is taken from, as is usual for L-BFGS."""

FIRST_STEP = 0.1
"""Length of a step without any curvature, as a share of the box."""

SHORTER = 0.3
"""What each step that did not improve the best makes the next one shorter by."""

WORTH = 0.01
"""Nats of the likelihood of all demonstrations that a step must promise to be worth taking."""


def is_off(predicted: tuple[float, float], nll: float, n_demonstrations: int, d: int) -> bool:
    """Whether a prediction, mean and standard deviation, was off by more than it may be.

    A difference within the tolerance of a likelihood-ratio test does not matter.
    """
    mean, sd = predicted
    if not np.isfinite(nll):
        return True
    matters = float(chi2.ppf(0.95, d)) / (2.0 * n_demonstrations)
    return abs(nll - mean) > max(OFF * sd, matters)


def quasi_newton_step(
    seen: Observations, box: Box, tried: int, n_demonstrations: int
) -> FloatArray | None:
    """The next theta of a descent from the best evaluation, in the unit cube, `d`.

    None where the best has no gradient or is at the bottom already.

    Args:
        seen: Evaluations, with gradients.
        box: The rewards under consideration.
        tried: Steps from this best that did not improve it.
        n_demonstrations: How many demonstrations an NLL is the mean of.
    """
    known = np.flatnonzero(np.isfinite(seen.gradients).all(axis=1))
    if not known.size:
        return None
    unit = box.to_unit(seen.thetas[known])
    slopes = seen.gradients[known] * (box.high - box.low)
    best = int(seen.nll[known].argmin())
    if seen.nll[known[best]] > seen.nll.min():
        return None
    gradient = slopes[best]
    blocked = ((unit[best] <= 0.0) & (gradient > 0.0)) | ((unit[best] >= 1.0) & (gradient < 0.0))
    free = np.where(blocked, 0.0, 1.0)
    steps, changes = (unit - unit[best]) * free, (slopes - slopes[best]) * free
    nearest = np.argsort(np.linalg.norm(steps, axis=1), kind="stable")[1 : MEMORY + 1]
    curved = [i for i in nearest[::-1] if steps[i] @ changes[i] > 1e-12 * (changes[i] @ changes[i])]
    direction = -two_loops(gradient * free, steps[curved], changes[curved])
    length = float(np.linalg.norm(direction))
    promised = -n_demonstrations * float(gradient @ direction)
    if length == 0.0 or promised < WORTH:
        return None
    longest = 0.5 if curved else FIRST_STEP
    direction = direction * free * min(1.0, longest / length) * SHORTER**tried
    return np.clip(unit[best] + direction, 0.0, 1.0)


def two_loops(gradient: FloatArray, steps: FloatArray, changes: FloatArray) -> FloatArray:
    """The inverse curvature times the gradient, by the two loops of L-BFGS.

    Args:
        gradient: Where the step starts, `d`.
        steps: Differences of points, `m x d`, the most relevant ones last.
        changes: Differences of gradients, `m x d`.
    """
    found, weights = gradient.copy(), np.zeros(len(steps))
    curvature = (steps * changes).sum(axis=1)
    for i in reversed(range(len(steps))):
        weights[i] = steps[i] @ found / curvature[i]
        found = found - weights[i] * changes[i]
    if len(steps):
        found = found * curvature[-1] / (changes[-1] @ changes[-1])
    for i in range(len(steps)):
        found = found + (weights[i] - changes[i] @ found / curvature[i]) * steps[i]
    return found
