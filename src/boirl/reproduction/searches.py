"""The searches whose evaluations, posteriors and best rewards are drawn.

One search serves all figures that show it: what each of its evaluations found, what the posterior
says on a grid of the first two parameters, how far that is from the exact NLL, and what the best
reward so far is worth to the true one.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from boirl.drawing.paths import roll_out
from boirl.experiments.trials import Row
from boirl.metrics import incumbents, landscape_fit
from boirl.problem import TabularProblem
from boirl.reproduction.environments import ENVIRONMENTS, build_problem
from boirl.reproduction.landscapes import grid_of, grid_size
from boirl.reproduction.methods import run_search, search_settings
from boirl.reproduction.plan import Plan
from boirl.reproduction.store import Cell, Store, Tables, rounded
from boirl.results import RewardSet
from boirl.tolerance import likelihood_ratio_tolerance
from boirl.types import FloatArray

EVALUATIONS, POSTERIORS, FITS, PATHS = "evaluations", "posteriors", "fits", "paths"
FIT_THETAS, QUICK_FIT_THETAS, ROAD_FIT_THETAS = 2000, 50, 200
EPISODES = 8
"""Drawn of each policy in films."""

SUCCESS_EPISODES, QUICK_EPISODES = 100, 2


def search_cell(
    plan: Plan, environment: str, method: str, seed: int, evaluations: int | None = None
) -> Cell:
    """One search, with the demonstrations that come with the problem."""
    own = ENVIRONMENTS[environment]
    count = plan.evaluations(evaluations or own.shown)
    key: Row = {
        "environment": environment,
        "method": method,
        "demonstrations": own.chosen_seed,
        "seed": seed,
        "of": count,
    }
    settings = {
        "quick": plan.quick,
        "grid": grid_size(plan.quick) if plan.is_drawn(seed) else 0,
        "hard_nll": own.hard_nll,
        **search_settings(environment, method),
    }
    return Cell(
        "search",
        key,
        settings,
        partial(_search, **key, points=settings["grid"], quick=plan.quick, data=plan.data),
    )


def _search(
    environment: str,
    method: str,
    demonstrations: int | None,
    seed: int,
    of: int,
    points: int,
    quick: bool,
    data: str | None,
) -> Tables:
    problem = build_problem(environment, demonstrations, quick, data)
    found = run_search(problem, environment, method, seed, of, quick)
    tables = {EVALUATIONS: _evaluations(found, quick), FITS: [_fit(found, quick)]}
    if points:
        tables[POSTERIORS] = _posterior(found, points)
    if environment == "fetch":
        tables[PATHS] = _paths(found)
    return tables


def _posterior(found: RewardSet, points: int) -> list[Row]:
    """On a grid of so many points a side, further parameters as in the truth, or the best."""
    grid = grid_of(found.problem.box, np.array(found.problem.truth or found.best), points)
    mean, sd = found.predict_nll(grid.thetas)
    return [
        {
            "x": rounded(theta[0], 4),
            "y": rounded(theta[1], 4),
            "mean": rounded(one),
            "sd": rounded(spread, 4),
        }
        for theta, one, spread in zip(grid.thetas, mean, sd, strict=True)
    ]


def _evaluations(found: RewardSet, quick: bool) -> list[Row]:
    """One row per evaluation; what takes policies is measured of the best so far alone."""
    best = set(incumbents(found.nll).tolist())
    rows = []
    for number, one in enumerate(found.evaluations):
        row: Row = {"number": number}
        row |= {f"theta{i}": rounded(value, 8) for i, value in enumerate(one.theta)}
        row |= {"nll": one.nll, "nll_se": one.nll_se, "best": number in best and one.ok}
        row |= {"esor": None, "distance": None, "success": None, "seconds": rounded(one.seconds, 3)}
        if row["best"] and found.problem.truth is not None:
            policy = found.policy(number)
            row["esor"] = found.problem.true_return(policy)
            row["distance"] = float(
                np.linalg.norm(np.array(one.theta) - np.array(found.problem.truth))
            )
            if found.problem.name == "fetch-reach":
                row["success"] = _success(policy, quick)
        rows.append(row)
    return rows


def _success(policy: Any, quick: bool) -> float:
    from boirl.domains.fetch.environment import success_rate

    return success_rate(policy, QUICK_EPISODES if quick else SUCCESS_EPISODES, seed=0).at_end


def _fit(found: RewardSet, quick: bool) -> Row:
    """How well the posterior knows the landscape, and what NLLs are compared with."""
    problem = found.problem
    count = len(problem.demonstrations)
    row: Row = {
        "names": "; ".join(problem.box.names),
        "truth": "; ".join(f"{value:g}" for value in problem.truth or ()),
        "low": "; ".join(f"{value:g}" for value in problem.box.low),
        "high": "; ".join(f"{value:g}" for value in problem.box.high),
        "best_nll": found.best_nll,
        "truth_nll": None if found.truth is None else found.truth.nll,
        "tolerance": likelihood_ratio_tolerance(count, problem.box.dimension),
        "rmse": None,
        "coverage": None,
    }
    if isinstance(problem, TabularProblem):
        small = FIT_THETAS if problem.mdp.n_states < FIT_THETAS else ROAD_FIT_THETAS
        fit = landscape_fit(found, QUICK_FIT_THETAS if quick else small)
        row |= {"rmse": fit.rmse, "coverage": fit.coverage}
    return row


def _paths(found: RewardSet) -> list[Row]:
    """Where the gripper goes by the policy of each best reward so far, from the goal, in cm."""
    from boirl.drawing.planes import plane_of

    problem: Any = found.problem
    plane = plane_of(problem.simulator.name)
    rows = []
    for number in np.unique(incumbents(found.nll)).tolist():
        if not found.evaluations[number].ok:
            continue
        for episode, one in enumerate(roll_out(problem, found.policy(number), 0, EPISODES)):
            path: FloatArray = plane.project(one.states)
            rows += [
                {
                    "number": number,
                    "episode": episode,
                    "step": step,
                    "x": rounded(point[0], 4),
                    "y": rounded(point[1], 4),
                }
                for step, point in enumerate(path)
            ]
    return rows


def numbers_in(text: Any) -> list[float]:
    """The numbers of a field that lists several."""
    return [float(part) for part in str(text).split(";") if part.strip()]


def seeds_of(store: Store, environment: str, method: str) -> list[int]:
    """Seeds of the searches that a store holds."""
    rows = store.select(FITS, environment=environment, method=method)
    return sorted({int(row["seed"]) for row in rows})
