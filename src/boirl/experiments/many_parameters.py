"""Does a search still find a reward among twenty parameters?

The best NLL after so many evaluations, against the optimum that exact gradients find.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boirl.baselines import get
from boirl.cache import cached_arrays
from boirl.experiments.trials import (
    METHODS,
    Experiment,
    OnTrial,
    Row,
    quiet,
    run_searches,
    show_after,
    times,
)
from boirl.problem import TabularProblem, load_problem
from boirl.search import explore
from boirl.types import FloatArray

GRADIENTS = 300
MARKS = (20, 30, 40, 60)


def optimum(problem: TabularProblem) -> float:
    """The lowest NLL that exact gradients find, from several starts."""

    def compute() -> dict[str, FloatArray]:
        return {"nll": np.array(get("maxent").run(problem, GRADIENTS).best_nll)}

    key = ("optimum by gradients", GRADIENTS, problem.fingerprint())
    return float(cached_arrays(problem.name, key, compute)["nll"])


def run_trial(problem: TabularProblem, method: str, seed: int, evaluations: int) -> Row:
    """One search, and how far above the optimum it is as it goes on."""
    found = explore(problem, evaluations, seed=seed, **METHODS[method])
    above = np.fmin.accumulate(found.nll) / optimum(problem) - 1.0
    within = np.flatnonzero(above <= 0.01)
    return {
        "problem": problem.fingerprint(),
        "method": method,
        "seed": seed,
        "evaluations": evaluations,
        "above": above.tolist(),
        "evaluations_to_1_percent": int(within[0]) + 1 if within.size else None,
    }


def run(
    out: Path,
    methods: Sequence[str] = tuple(METHODS),
    seeds: Sequence[int] = tuple(range(10)),
    evaluations: int = 60,
    on_trial: OnTrial = quiet,
    problem_options: dict[str, Any] | None = None,
) -> list[Row]:
    """Compare methods, see `Experiment`; with options of the problem, for a small version."""
    problem = load_problem("terrain", **(problem_options or {}))
    return run_searches(out, problem, run_trial, summarise, methods, seeds, evaluations, on_trial)


def summarise(rows: Sequence[Row]) -> Row:
    """How far above the optimum, mean and worst, and when within 1 %."""
    last = [row["above"][-1] for row in rows]
    return {
        "method": rows[0]["method"],
        "trials": len(rows),
        "above_mean": float(np.mean(last)),
        "above_worst": float(np.max(last)),
        **times([row["evaluations_to_1_percent"] for row in rows]),
        "above_after": {
            str(mark): float(np.mean([row["above"][mark - 1] for row in rows]))
            for mark in MARKS
            if mark <= len(rows[0]["above"])
        },
    }


EXPERIMENT = Experiment(
    run,
    {
        "method": lambda row: row["method"],
        "above optimum": lambda row: f"{row['above_mean']:.2%}",
        "worst": lambda row: f"{row['above_worst']:.2%}",
        "within 1 %": lambda row: f"{row['reached']:.0%}",
        "after": show_after,
    },
    tiny={
        "methods": ["rho-rbf"],
        "seeds": [1000],
        "evaluations": 5,
        "problem_options": {"n_terrains": 4, "side": 4, "n_demonstrations": 10},
    },
)
