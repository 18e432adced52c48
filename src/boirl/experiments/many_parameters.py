"""Does a search still find a reward among twenty parameters?

The best NLL after so many evaluations, against the optimum that exact gradients find.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
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
from boirl.results import Result
from boirl.search import explore
from boirl.types import FloatArray

GRADIENTS = 300
LEVELS = (0.1, 0.01, 1e-3, 1e-4)
"""Shares above the optimum that it is noted when a method comes within."""

DESCENTS = "maxent"
"""Descents by exact gradients, beside the searches."""


def optimum(problem: TabularProblem) -> float:
    """The lowest NLL that exact gradients find, from several starts."""

    def compute() -> dict[str, FloatArray]:
        return {"nll": np.array(get("maxent").run(problem, GRADIENTS).best_nll)}

    key = ("optimum by gradients", GRADIENTS, problem.fingerprint())
    return float(cached_arrays(problem.name, key, compute)["nll"])


def run_trial(problem: TabularProblem, method: str, seed: int, evaluations: int) -> Row:
    """One search, and how far above the optimum it is as it goes on."""
    found: Result = (
        get(DESCENTS).run(problem, evaluations, seed)
        if method == DESCENTS
        else explore(problem, evaluations, seed=seed, **METHODS[method])
    )
    above = np.fmin.accumulate(found.nll) / optimum(problem) - 1.0
    return {
        "problem": problem.fingerprint(),
        "method": method,
        "seed": seed,
        "evaluations": evaluations,
        "above": above.tolist(),
    }


def run(
    out: Path,
    methods: Sequence[str] = (*METHODS, DESCENTS),
    seeds: Sequence[int] = tuple(range(10)),
    evaluations: int = 60,
    on_trial: OnTrial = quiet,
    problem_options: dict[str, Any] | None = None,
) -> list[Row]:
    """Compare methods, see `Experiment`; with options of the problem, for a small version."""
    problem = load_problem("terrain", **(problem_options or {}))
    known = (*METHODS, DESCENTS)
    return run_searches(
        out, problem, run_trial, summarise, methods, seeds, evaluations, on_trial, known
    )


def summarise(rows: Sequence[Row]) -> Row:
    """How far above the optimum, mean and worst, and when within some levels of it."""
    curves = [np.array(row["above"]) for row in rows]
    last = [curve[-1] for curve in curves]
    return {
        "method": rows[0]["method"],
        "trials": len(rows),
        "above_mean": float(np.mean(last)),
        "above_worst": float(np.max(last)),
        "within": {
            f"{level:.2%}": times([_first_within(curve, level) for curve in curves])
            for level in LEVELS
        },
    }


def _first_within(above: FloatArray, level: float) -> int | None:
    """Evaluations until a curve is below a level; None if it never is."""
    below = np.flatnonzero(above <= level)
    return int(below[0]) + 1 if below.size else None


def _show_within(level: str, row: Row) -> str:
    return show_after(row["within"][level])


EXPERIMENT = Experiment(
    run,
    {
        "method": lambda row: row["method"],
        "above optimum": lambda row: f"{row['above_mean']:.4%}",
        "worst": lambda row: f"{row['above_worst']:.4%}",
        **{f"within {level:.2%} after": partial(_show_within, f"{level:.2%}") for level in LEVELS},
    },
    tiny={
        "methods": ["rho-rbf"],
        "seeds": [1000],
        "evaluations": 5,
        "problem_options": {"n_terrains": 4, "side": 4, "n_demonstrations": 10},
    },
)
