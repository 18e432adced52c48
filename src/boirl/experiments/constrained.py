"""Is the best reward that meets a constraint found as soon as the best one without?

Gridworld with other trajectories of the demonstrator for each seed. The constraint is on behaviour:
the square with most coins may be reached at most so often, a tenth less than the reward of maximum
likelihood leads to, which it therefore rules out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from boirl.constraints import Constraints, Reach, reaches
from boirl.estimation import maximum_likelihood
from boirl.experiments.trials import (
    Experiment,
    OnTrial,
    Row,
    quiet,
    run_seeds,
    show_after,
    times,
)
from boirl.problem import Problem, TabularProblem, load_problem
from boirl.results import RewardSet
from boirl.search import explore
from boirl.tolerance import likelihood_ratio_tolerance
from boirl.types import FloatArray

GOAL = 7
KEPT = 0.9
"""The constraint, as a share of what the unconstrained optimum does."""

GRID = 48
STARTS, APART = 5, 0.05
"""Descents from the grid, and how far apart in the unit cube they start."""

ROUNDING = 1e-8
"""Descents along the border of the constraint keep so far inside."""

CLOSE = 0.25
"""How near a search has to come to the optimum, in likelihood-ratio tolerances."""


def constrained_optimum(problem: TabularProblem, limit: float) -> float:
    """The lowest NLL of rewards that meet the constraint: a grid, then descents along its border.

    Both the NLL and the constraint have exact derivatives.
    """
    box = problem.box
    middles = (np.arange(GRID) + 0.5) / GRID
    unit = np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 2)
    order = np.argsort(problem.nll_batch(box.from_unit(unit)), kind="stable")
    held = Constraints.of([reaches([GOAL], at_most=limit)], problem)
    (constraint,) = held.behaviour
    lowest = np.inf

    @lru_cache(maxsize=2)
    def known(at: tuple[float, ...]) -> tuple[float, FloatArray, float, FloatArray]:
        """NLL and margin, each with its slopes in the unit cube."""
        nonlocal lowest
        evaluation = held.measured(problem, problem.evaluate(box.from_unit(np.array(at))))
        evaluation.raise_if_failed()
        (measured,) = held.values(evaluation)
        slopes = constraint.margin_gradient(measured)
        assert evaluation.gradient is not None
        assert slopes is not None
        margin, width = constraint.margin(measured.value), box.high - box.low
        if margin >= 0.0:
            lowest = min(lowest, evaluation.nll)
        return evaluation.nll, width * evaluation.gradient, margin, width * slopes

    def inside(at: FloatArray) -> tuple[float, ...]:
        return tuple(np.clip(at, 0.0, 1.0).tolist())

    border = {
        "type": "ineq",
        "fun": lambda at: known(inside(at))[2] - ROUNDING,
        "jac": lambda at: known(inside(at))[3],
    }
    for start in _spread_starts(unit[order], lambda at: known(inside(at))[2] >= 0.0):
        minimize(
            lambda at: known(inside(at))[:2],
            start,
            jac=True,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * 2,
            constraints=[border],
            options={"ftol": 1e-9},
        )
    return lowest


def _spread_starts(
    candidates: FloatArray, allowed: Callable[[FloatArray], bool]
) -> list[FloatArray]:
    """The first few of some candidates that are allowed and apart from each other."""
    starts: list[FloatArray] = []
    for one in candidates:
        if all(np.linalg.norm(one - other) >= APART for other in starts) and allowed(one):
            starts.append(one)
        if len(starts) == STARTS:
            break
    return starts


def _reach(problem: Problem[Any], evaluation: Any) -> float:
    return Reach([GOAL]).measure(problem, problem.policy_of(evaluation)).value


def run_trial(seed: int, evaluations: int) -> Row:
    """One set of demonstrations, searched with and without the constraint."""
    problem = load_problem("gridworld2d", seed=seed)
    fit = maximum_likelihood(problem)
    best = problem.evaluate(fit.theta)
    limit = KEPT * _reach(problem, best)
    lowest = constrained_optimum(problem, limit)
    n, d = len(problem.demonstrations), problem.box.dimension
    close = CLOSE * likelihood_ratio_tolerance(n, d)
    free = explore(problem, evaluations, seed=seed)
    held = explore(problem, evaluations, seed=seed, constraints=[reaches([GOAL], at_most=limit)])
    return {
        "seed": seed,
        "evaluations": evaluations,
        "limit": limit,
        "free_optimum": best.nll,
        "optimum": lowest,
        "free_after": _first_within(free.nll, best.nll + close),
        "after": _first_within(np.where(held.feasible, held.nll, np.inf), lowest + close),
        "infeasible_reported": _infeasible_reported(held, limit),
        "feasible_share": float(held.feasible.mean()),
    }


def _first_within(nll: np.ndarray, limit: float) -> int | None:
    """Evaluations until one is below a limit; None if none is."""
    below = np.flatnonzero(np.nan_to_num(nll, nan=np.inf) <= limit)
    return int(below[0]) + 1 if below.size else None


def _infeasible_reported(found: RewardSet, limit: float) -> int:
    """Solutions that break the constraint, by solving for them again."""
    problem = found.problem
    reported = [*found.within(0.10), *(group.representative for group in found.groups())]
    values = [_reach(problem, problem.evaluate(theta)) for theta in reported]
    return int(sum(value > limit + 1e-9 for value in values))


def run(
    out: Path,
    seeds: Sequence[int] = tuple(range(20)),
    evaluations: int = 40,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Search with and without a constraint for each seed, see `Experiment`."""
    return run_seeds(out, run_trial, summarise, seeds, evaluations, on_trial)


def summarise(rows: Sequence[Row]) -> Row:
    """Evaluations with and without, and how many reported solutions are none."""
    both = [row for row in rows if row["after"] and row["free_after"]]
    ratios = [row["after"] / row["free_after"] for row in both]
    return {
        "seeds": len(rows),
        "free": times([row["free_after"] for row in rows]),
        "constrained": times([row["after"] for row in rows]),
        "ratio_of_means": (
            sum(row["after"] for row in both) / sum(row["free_after"] for row in both)
            if both
            else None
        ),
        "within_twice": float(np.mean([ratio <= 2.0 for ratio in ratios])) if ratios else None,
        "infeasible_reported": sum(row["infeasible_reported"] for row in rows),
    }


EXPERIMENT = Experiment(
    run,
    {
        "seeds": lambda row: str(row["seeds"]),
        "optimum after": lambda row: show_after(row["free"]),
        "best that meets it after": lambda row: show_after(row["constrained"]),
        "reached": lambda row: f"{row['constrained']['reached']:.0%}",
        "ratio": lambda row: (
            "-" if row["ratio_of_means"] is None else f"{row['ratio_of_means']:.2f}"
        ),
        "at most twice in": lambda row: (
            "-" if row["within_twice"] is None else f"{row['within_twice']:.0%}"
        ),
        "infeasible reported": lambda row: str(row["infeasible_reported"]),
    },
    tiny={"seeds": [1000], "evaluations": 5},
)
