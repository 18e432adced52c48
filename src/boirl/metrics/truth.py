"""The exact set of rewards that explain the demonstrations, where the model is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

from boirl.cache import cached_arrays
from boirl.policies import TabularPolicy
from boirl.problem import TabularProblem
from boirl.results import Result, RewardSet, limit_above
from boirl.results.grouping import group_alike
from boirl.types import FloatArray

COUNT = 2**14
POLISHING_STEPS = 60
"""Evaluations per parameter that go into the best NLL of a landscape."""

GROUPED_AT_MOST = 400


@dataclass(frozen=True, eq=False)
class ExactLandscape:
    """Exact NLLs, `n`, of thetas all over the box, `n x d`, and the lowest there is.

    Rewards without a policy have the NLL NaN.
    """

    thetas: FloatArray
    nll: FloatArray
    best_nll: float

    def within(self, tolerance: float, absolute: bool = False) -> np.ndarray:
        """Which thetas are in the set: with an NLL within a tolerance of the best, `n`."""
        return self.nll <= limit_above(self.best_nll, tolerance, absolute)


@dataclass(frozen=True)
class SetFit:
    """How well a predicted set of rewards matches the exact one."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2.0 * self.precision * self.recall / total if total else 0.0


def exact_landscape(problem: TabularProblem, n: int = COUNT) -> ExactLandscape:
    """The exact NLL at `n` points of a Sobol sequence; computed once, then in the cache."""

    def compute() -> dict[str, FloatArray]:
        unit = qmc.Sobol(problem.box.dimension, rng=np.random.default_rng(0)).random(n)
        thetas = problem.box.from_unit(unit)
        nll = problem.nll_batch(thetas)
        return {"thetas": thetas, "nll": nll, "best_nll": np.array(_lowest(problem, thetas, nll))}

    key = ("exact landscape", problem.fingerprint(), problem.truth, n, POLISHING_STEPS)
    arrays = cached_arrays(problem.name, key, compute)
    return ExactLandscape(arrays["thetas"], arrays["nll"], float(arrays["best_nll"]))


def _lowest(problem: TabularProblem, thetas: FloatArray, nll: FloatArray) -> float:
    """The lowest NLL, found from the best theta of a sample and from the truth."""
    box = problem.box
    starts = [thetas[np.nanargmin(nll)]]
    if problem.truth is not None:
        starts.append(np.array(problem.truth))
    polished = [
        minimize(
            lambda unit: float(np.nan_to_num(problem.nll_batch(box.from_unit(unit)), nan=1e300)[0]),
            box.to_unit(start),
            method="Nelder-Mead",
            bounds=[(0.0, 1.0)] * box.dimension,
            options={"maxfev": POLISHING_STEPS * box.dimension},
        ).fun
        for start in starts
    ]
    return float(min(polished))


def set_fit(
    found: RewardSet, landscape: ExactLandscape, tolerance: float, absolute: bool = False
) -> SetFit:
    """Precision and recall of the predicted set of rewards within a tolerance of the best.

    Predicted are the thetas whose posterior mean is within the tolerance of the best NLL found;
    right are those whose exact NLL is within it of the lowest there is.
    """
    mean, _ = found.predict_nll(landscape.thetas)
    predicted = mean <= limit_above(found.best_nll, tolerance, absolute)
    right = landscape.within(tolerance, absolute)
    both = int((predicted & right).sum())
    return SetFit(both / max(1, int(predicted.sum())), both / max(1, int(right.sum())))


def existing_behaviours(
    problem: TabularProblem,
    landscape: ExactLandscape,
    tolerance: float = 0.10,
    distance: float | None = None,
) -> list[TabularPolicy]:
    """The distinct behaviours in the exact set: the most central policy of each group.

    Groups are made as `RewardSet.groups` makes them, of at most 400 rewards of the set, or of the
    best one where the sample has none in it.
    """
    inside = landscape.within(tolerance)
    inside[np.nanargmin(landscape.nll)] = True
    members = landscape.thetas[inside]
    chosen = np.random.default_rng(0).permutation(len(members))[:GROUPED_AT_MOST]
    policies = [problem.policy(theta) for theta in members[np.sort(chosen)]]
    distances = problem.behaviour_distances(policies)
    alike = problem.same_behaviour if distance is None else distance
    return [
        policies[group[distances[np.ix_(group, group)].max(axis=1).argmin()]]
        for group in group_alike(distances, alike)
    ]


def behaviours_found(
    found: Result,
    existing: Sequence[TabularPolicy],
    tolerance: float = 0.10,
    distance: float | None = None,
) -> int:
    """How many of the existing behaviours an evaluated reward within the tolerance shows."""
    problem = found.problem
    alike = problem.same_behaviour if distance is None else distance
    shown = found.policies(found.indices_within(tolerance))
    distances = problem.behaviour_distances([*existing, *shown])
    return int((distances[: len(existing), len(existing) :].min(axis=1) <= alike).sum())
