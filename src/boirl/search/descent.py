"""Plain quasi-Newton steps, for when the surrogate turns out to be wrong.

Every proposal is predicted before it is evaluated. A prediction that is off by more than it may be,
and by more than matters, shows that the surrogate does not know the landscape there. The exact
gradient always knows a way down: until a prediction is right again, the search goes by that.
"""

from __future__ import annotations

import numpy as np

from boirl.estimation.descent import AFTER_FAILURE, FIRST_STEP, LONGEST_STEP
from boirl.search.acquisitions import WORTH
from boirl.surrogate import Observations
from boirl.tolerance import likelihood_ratio_tolerance
from boirl.types import Box, FloatArray

OFF = 3.0
"""Standard deviations by which a prediction is wrong once in several hundred if it is right."""


def is_off(predicted: tuple[float, float], nll: float, n_demonstrations: int, d: int) -> bool:
    """Whether a prediction, mean and standard deviation, was off by more than it may be.

    A difference within the tolerance of a likelihood-ratio test does not matter.
    """
    mean, sd = predicted
    if not np.isfinite(nll):
        return True
    return abs(nll - mean) > max(OFF * sd, likelihood_ratio_tolerance(n_demonstrations, d))


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
    nearest = np.argsort(np.linalg.norm(steps, axis=1), kind="stable")[1:]
    curved = [i for i in nearest[::-1] if steps[i] @ changes[i] > 1e-12 * (changes[i] @ changes[i])]
    direction = -two_loops(gradient * free, steps[curved], changes[curved])
    length = float(np.linalg.norm(direction))
    worth = WORTH * likelihood_ratio_tolerance(n_demonstrations, box.dimension)
    if length == 0.0 or -float(gradient @ direction) < worth:
        return None
    longest = LONGEST_STEP if curved else FIRST_STEP
    direction = direction * free * min(1.0, longest / length) * AFTER_FAILURE**tried
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
