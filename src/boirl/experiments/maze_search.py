"""How many policy optimisations until the maze's best target is as good as the true one?

Each trial starts from one target of high NLL, as in the paper, whose Table 1 has 51.4 evaluations
in 80 % of the trials. The best-NLL target reaches the expert where the policy that was learned for
it has, in the true reward, the expected discounted return of the true target's policy, within 2 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from boirl.experiments.trials import (
    METHODS,
    Experiment,
    OnTrial,
    Row,
    check_methods,
    expert_esor,
    quiet,
    run_searches,
    search_and_time,
    show_after,
    times,
)
from boirl.metrics import evaluations_to_expert, incumbents
from boirl.problem import load_problem
from boirl.problem.simulated import GymProblem

HARD_NLL = 500.0
TOLERANCE = 0.02
PROJECTED = 10
"""Demonstrations in the projection, as in the paper."""


def run_trial(
    problem: GymProblem, method: str, seed: int, evaluations: int, hard_nll: float = HARD_NLL
) -> Row:
    """One search from a hard start, and its measures."""
    found, row = search_and_time(problem, method, seed, evaluations, hard_nll, PROJECTED)
    best = found.thetas[incumbents(found.nll)]
    expert = expert_esor(problem)
    return {
        **row,
        "evaluations_to_expert": evaluations_to_expert(found, TOLERANCE, expert),
        "expert_esor": expert,
        "best_esor": problem.true_return(found.policy(found.best_index)),
        "distance": np.linalg.norm(best - np.array(problem.truth), axis=1).tolist(),
    }


def run(
    out: Path,
    methods: Sequence[str] = tuple(METHODS),
    seeds: Sequence[int] = tuple(range(5)),
    evaluations: int = 40,
    on_trial: OnTrial = quiet,
    steps: int | None = None,
    hard_nll: float = HARD_NLL,
) -> list[Row]:
    """Compare methods, see `Experiment`.

    `steps` is the training budget, and searches start from an NLL above `hard_nll`.
    """
    check_methods(methods)  # before anything is learned
    budget: Row = {} if steps is None else {"steps": steps}
    problem = load_problem("point-mass-maze", **budget)
    trial = partial(run_trial, hard_nll=hard_nll)
    return run_searches(out, problem, trial, summarise, methods, seeds, evaluations, on_trial)


def summarise(rows: Sequence[Row]) -> Row:
    """Success rate and mean evaluations (over successful trials) of a method."""
    return {
        "method": rows[0]["method"],
        "trials": len(rows),
        **times([row["evaluations_to_expert"] for row in rows]),
        "best_nll": float(np.mean([np.nanmin(row["nll"]) for row in rows])),
        "distance": float(np.mean([row["distance"][-1] for row in rows])),
        "esor_share": float(np.mean([row["best_esor"] / row["expert_esor"] for row in rows])),
        "seconds": float(np.mean([row["seconds"] for row in rows])),
    }


EXPERIMENT = Experiment(
    run,
    {
        "method": lambda row: row["method"],
        "reached": lambda row: f"{row['reached']:.0%}",
        "after": show_after,
        "best NLL": lambda row: f"{row['best_nll']:.1f}",
        "distance of target": lambda row: f"{row['distance']:.3f}",
        "seconds": lambda row: f"{row['seconds']:.0f}",
    },
    tiny={
        "methods": ["rho-rbf"],
        "seeds": [1000],
        "evaluations": 3,
        "steps": 2_000,
        "hard_nll": -np.inf,
    },
)
