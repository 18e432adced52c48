"""Solutions and what constraints rule out, told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boirl.results.grouping import group_alike
from boirl.results.groups import GROUPED_AT_MOST, RewardGroup, limit_above
from boirl.types import FloatArray

if TYPE_CHECKING:
    from boirl.results.reward_set import RewardSet


def infeasible_groups(
    found: RewardSet, tolerance: float, distance: float | None, absolute: bool
) -> list[RewardGroup]:
    """See `RewardSet.infeasible_groups`; without any solution, all that succeeded are compared."""
    best = found.best_nll if found.feasible.any() else float(np.nanmin(found.nll))
    nll = np.where(~found.feasible & np.isfinite(found.nll), found.nll, np.inf)
    order = np.argsort(nll, kind="stable")
    chosen = order[nll[order] <= limit_above(best, tolerance, absolute)][:GROUPED_AT_MOST]
    kept = [int(n) for n in chosen if found.evaluations[n].policies or not _learned(found)]
    if not kept:
        return []
    indices = np.array(kept)
    distances = found.distances(indices)
    alike = found.problem.same_behaviour if distance is None else distance
    return [
        RewardGroup(
            representative=found.thetas[indices[own[0]]],
            nll=float(found.nll[indices[own[0]]]),
            indices=indices[own],
            thetas=found.thetas[indices[own]],
            width=float(distances[np.ix_(own, own)].max()),
            volume=float("nan"),
        )
        for own in group_alike(distances, alike)
    ]


def _learned(found: RewardSet) -> bool:
    return found.problem.is_model_free


def no_solution(found: RewardSet) -> str:
    """Which constraints are in the way, where no evaluation meets all of them."""
    box = found.problem.box
    succeeded = [one for one in found.evaluations if one.ok]
    best = min(succeeded, key=lambda one: one.nll)
    broken = "; ".join(found.constraints.violations(best, box))
    return (
        f"none of {len(found)} evaluations meets the constraints; the best without them breaks "
        f"{broken}; run more evaluations, or loosen a constraint"
    )


def allowed_nll(found: RewardSet, thetas: FloatArray) -> FloatArray:
    """Exact NLLs of thetas `n x d`, by demonstrations alone.

    NaN where there is no policy or a constraint is broken.
    """
    problem, constraints = found.problem, found.constraints
    if not constraints:
        return problem.nll_batch(thetas)
    allowed = (constraints.theta_margins(thetas, problem.box) >= 0.0).all(axis=1)
    nll = np.full(len(thetas), np.nan)
    if not constraints.behaviour:
        nll[allowed] = problem.nll_batch(thetas[allowed])
        return nll
    for number in np.flatnonzero(allowed):
        evaluation = constraints.measured(problem, problem.evaluate(thetas[number]))
        if not constraints.violations(evaluation, problem.box):
            nll[number] = evaluation.nll
    return nll


def exact_nll(found: RewardSet, thetas: FloatArray) -> FloatArray:
    """`allowed_nll` with what comparisons add to it, `n`."""
    nll = allowed_nll(found, thetas)
    if found.preferences is None:
        return nll
    compared = found.preferences.log_likelihoods(found.problem, thetas).sum(axis=1)
    return nll - compared / len(found.problem.demonstrations)
