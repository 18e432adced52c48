"""Does a search still find a reward among twenty parameters?

The best NLL after so many evaluations, against the optimum that gradients find (by differences,
from two starts, with thousands of policies solved).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from boirl.data import remembered
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
from boirl.problem import TabularProblem
from boirl.problems import load_problem
from boirl.study import explore
from boirl.types import FloatArray

DIFFERENCE = 1e-4
MARKS = (20, 30, 40, 60)


def optimum(problem: TabularProblem) -> float:
    """The lowest NLL that gradients find from the middle of the box and from the truth."""
    box = problem.box
    steps = DIFFERENCE * np.eye(box.dimension)

    def nll_and_slope(unit: FloatArray) -> tuple[float, FloatArray]:
        around = np.vstack([unit, unit + steps])
        nll = problem.nll_batch(box.from_unit(around))
        return float(nll[0]), (nll[1:] - nll[0]) / DIFFERENCE

    def compute() -> dict[str, FloatArray]:
        starts = [np.full(box.dimension, 0.5), box.to_unit(np.array(problem.truth))]
        inside = [(0.0, 1.0 - DIFFERENCE)] * box.dimension
        ends = [
            minimize(nll_and_slope, start, jac=True, method="L-BFGS-B", bounds=inside).fun
            for start in starts
        ]
        return {"nll": np.array(min(ends))}

    key = ("optimum", problem.fingerprint())
    return float(remembered(problem.name, key, compute)["nll"])


def run_trial(problem: TabularProblem, method: str, seed: int, evaluations: int) -> Row:
    """One search, and how far above the optimum it is as it goes on."""
    found = explore(problem, evaluations, seed=seed, **METHODS[method])
    above = np.minimum.accumulate(found.nll) / optimum(problem) - 1.0
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
)
