"""Is the best evaluation an optimum? What the gradients of the evaluations say, nothing solved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2

from boirl.estimation.descent import updated_curvature
from boirl.results.findings import Finding
from boirl.types import FloatArray, IntArray

if TYPE_CHECKING:
    from boirl.results.reward_set import RewardSet

NEAR_BOUND = 1e-3
"""Share of its range within which a parameter is on its bound: intervals are printed no finer."""

PAIRS_PER_PARAMETER = 3
"""Nearest evaluations per parameter that the curvature is taken from: enough to see each direction,
few enough to be near."""


@dataclass(frozen=True, eq=False)
class Slopes:
    """Gradients in the unit cube.

    Attributes:
        numbers: Of the evaluations that have one, `n`.
        units: Their thetas in the unit cube, `n x d`.
        gradients: Of the mean NLL there, `n x d`.
        jumping: Names of the parameters along which the reward jumps, of which slopes say nothing.
    """

    numbers: IntArray
    units: FloatArray
    gradients: FloatArray
    jumping: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: RewardSet) -> Slopes:
        box = found.problem.box
        known = [
            n for n, one in enumerate(found.evaluations) if one.ok and one.gradient is not None
        ]
        rows = [np.asarray(found.evaluations[n].gradient) for n in known]
        gradients = np.array(rows).reshape(-1, box.dimension) * (box.high - box.low)
        units = box.to_unit(found.thetas[known]).reshape(-1, box.dimension)
        jumping = found.problem.jumping_parameters if known else ()
        return cls(np.array(known, dtype=np.int64), units, gradients, jumping)

    def at(self, number: int) -> FloatArray | None:
        """The gradient of an evaluation, `d`."""
        rows = np.flatnonzero(self.numbers == number)
        return self.gradients[rows[0]] if len(rows) else None


def promised_gain(found: RewardSet, slopes: Slopes) -> float | None:
    """By how much a quasi-Newton step from the best evaluation lowers the NLL, as it promises.

    `g' H^-1 g / 2` with the curvature `H` that the gradients of the nearest evaluations imply
    (damped BFGS), for the step as far as it stays in the box. None without a gradient.
    """
    gradient = slopes.at(found.best_index)
    if gradient is None or len(slopes.numbers) < 2:
        return None
    unit = found.problem.box.to_unit(found.best)
    steps = unit - slopes.units
    lengths = np.linalg.norm(steps, axis=1)
    order = np.argsort(lengths, kind="stable")
    near = order[lengths[order] > 1e-9][: PAIRS_PER_PARAMETER * len(unit)]
    curvature: FloatArray | None = None
    # The nearest come last, as they count most.
    for row in near[::-1]:
        curvature = updated_curvature(curvature, steps[row], gradient - slopes.gradients[row])
    if curvature is None:
        return None
    pressed = ((unit <= 0.0) & (gradient > 0.0)) | ((unit >= 1.0) & (gradient < 0.0))
    free = np.flatnonzero(~pressed)
    step = np.zeros(len(unit))
    step[free] = -np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
    # Shortened as a whole: cut off at one bound, it would lead elsewhere.
    room = np.where(step > 0.0, 1.0 - unit, unit)[step != 0.0] / np.abs(step[step != 0.0])
    step *= min(1.0, float(room.min())) if room.size else 1.0
    return max(0.0, -float(gradient @ step + 0.5 * step @ curvature @ step))


def check_edge(found: RewardSet, slopes: Slopes) -> Finding:
    """Which parameters of the best are held by a bound of the box.

    A bound holds a parameter where the slope there, over the width of the box, is worth more than
    a likelihood-ratio test of one parameter at 95 % tolerates. A parameter on which little depends
    may rest on its bound; that is said and needs no attention.
    """
    box, n = found.problem.box, len(found.problem.demonstrations)
    limit = 0.5 * float(chi2.ppf(0.95, 1))
    unit = box.to_unit(found.best)
    gradient = slopes.at(found.best_index)
    held: dict[str, str] = {}
    resting: dict[str, str] = {}
    for column, name in enumerate(box.names):
        side = "lower" if unit[column] <= NEAR_BOUND else "upper"
        if side == "upper" and unit[column] < 1.0 - NEAR_BOUND:
            continue
        if gradient is not None and name not in slopes.jumping:
            rise = gradient[column] if side == "lower" else -gradient[column]
        else:
            middle = found.best.copy()
            middle[column] = 0.5 * (box.low[column] + box.high[column])
            rise = 2.0 * (found.predict_nll(middle)[0] - found.predict_nll(found.best)[0])
        (held if n * rise > limit else resting)[name] = side
    data = {"held": held, "resting": resting}
    if not held:
        text = "no bound holds the best reward"
        if resting:
            text += f", though it is on that of {_sides(resting)}: the others are about as good"
        return Finding("edge of the box", False, text, data)
    also = f" (and on that of {_sides(resting)}, where it matters little)" if resting else ""
    text = (
        f"the best reward is on a bound of {_sides(held)}{also}; widen it, or rewards beyond are "
        "left out"
    )
    return Finding("edge of the box", True, text, data)


def _sides(sides: Mapping[str, str]) -> str:
    return ", ".join(f"{name} ({side} bound)" for name, side in sides.items())


def check_stalled(found: RewardSet, slopes: Slopes, samples: FloatArray) -> Finding:
    """Whether something better than the best is to be expected.

    By the exact gradient at the best, or by the surrogate at samples of the posterior. It matters
    if the best would be rejected against it by a likelihood-ratio test at 95 %.
    """
    tolerance = found.likelihood_ratio_tolerance()
    # Evaluations with gradients are exact, whatever noise the surrogate takes them for.
    level = found.best_nll if len(slopes.numbers) else float(found.fitted.denoised_nll.min())
    expected = max(0.0, level - float(found.predict_nll(samples)[0].min()))
    promised = promised_gain(found, slopes)
    since = len(found) - 1 - found.best_index
    gain = max(expected, promised or 0.0)
    data = {
        "expected_gain": expected,
        "promised_gain": promised,
        "tolerance": tolerance,
        "evaluations_since_best": since,
    }
    source = "the exact gradient" if gain == promised else "the surrogate"
    if gain <= tolerance:
        text = (
            f"no gain beyond the likelihood-ratio tolerance is to be expected ({gain:.3g} of "
            f"{tolerance:.3g})"
        )
        return Finding("search ended too early", False, text, data)
    text = (
        f"{source} promises an NLL {gain:.3g} below the best, {gain / tolerance:.1f} times the "
        f"likelihood-ratio tolerance, and the last {since} evaluations did not improve it; run "
        "more evaluations"
    )
    if promised is not None:
        text += ", or start boirl.maximum_likelihood(problem, initial=found.best)"
    return Finding("search ended too early", True, text, data)


def check_ties(found: RewardSet, slopes: Slopes) -> Finding | None:
    """Directions in theta that change nothing, wherever the search looked.

    Slopes of all evaluations are tested together. A direction is tied where crossing the box
    along it changes the log-likelihood of all demonstrations by less than a likelihood-ratio test
    of one parameter at 95 % can see. That needs more gradients than parameters. Parameters along
    which the reward jumps are left out.
    """
    box, n = found.problem.box, len(found.problem.demonstrations)
    if len(slopes.numbers) <= box.dimension:
        return None
    limit = 0.5 * float(chi2.ppf(0.95, 1))
    smooth = [column for column, name in enumerate(box.names) if name not in slopes.jumping]
    gradients = slopes.gradients[:, smooth]
    _, vectors = np.linalg.eigh(gradients.T @ gradients / len(gradients))
    tied: list[dict[str, Any]] = []
    for vector in vectors.T:
        crossing = np.zeros(box.dimension)
        crossing[smooth] = vector / np.abs(vector).max()
        change = n * float(np.sqrt(np.square(slopes.gradients @ crossing).mean()))
        if change < limit:
            tied.append({"direction": (crossing * (box.high - box.low)), "change": change})
    if not tied:
        return Finding(
            "rewards tied", False, "every change of theta changes something", {"ties": []}
        )
    listed = "; ".join(_listed(one["direction"], box.names) for one in tied)
    most = max(one["change"] for one in tied)
    text = (
        f"changing {listed} changes the log-likelihood by {most:.2g} at most on average: fix a "
        "parameter, or compare rewards along other directions only"
    )
    return Finding("rewards tied", False, text, {"ties": tied})


def check_jumps(slopes: Slopes) -> Finding | None:
    """Along which parameters the reward jumps, so that exact gradients do not say what it does.

    None where there are no gradients to be misled by.
    """
    if not len(slopes.numbers):
        return None
    data = {"parameters": list(slopes.jumping)}
    if not slopes.jumping:
        return Finding(
            "reward jumps", False, "the derivative of the reward says what it does", data
        )
    text = (
        f"the reward changes along {', '.join(slopes.jumping)} in a way that its derivative does "
        "not tell of (a threshold, or a part cut off from the graph): what is known of it rests on "
        "evaluated NLLs alone"
    )
    return Finding("reward jumps", False, text, data)


def _listed(direction: FloatArray, names: tuple[str, ...]) -> str:
    """The parameters that a direction changes by at least a hundredth of the most changed one."""
    parts = [
        f"{name} by {change:.3g}"
        for name, change in zip(names, direction, strict=True)
        if abs(change) >= 0.01 * np.abs(direction).max()
    ]
    return " and ".join(parts)
