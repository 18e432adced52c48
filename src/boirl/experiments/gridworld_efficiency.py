"""How many evaluations until the best reward is as good as the expert's? (Paper, Table 1.)

Each trial starts from one theta of high NLL, as in the paper, and is judged by two rules: exact
ESOR of the best-NLL theta against exact ESOR of the truth, and the authors' rule, which compares
sampled returns. Random search is always in the table.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boirl.metrics import evaluations_to_demonstrations, evaluations_to_expert, landscape_fit
from boirl.problem import TabularProblem
from boirl.study import explore
from boirl.types import FloatArray

METHODS: dict[str, dict[str, Any]] = {
    "rho-rbf": {"kernel": "rho-rbf"},
    "rbf": {"kernel": "rbf"},
    "matern": {"kernel": "matern"},
    "random": {"kernel": "rbf", "acquisition": "random"},
}
HARD_NLL = 90.0
LANDSCAPE_AT = 20
"""Number of evaluations after which the posterior is compared with the exact landscape."""


def hard_start(problem: TabularProblem, seed: int, at_least: float = HARD_NLL) -> FloatArray:
    """The first of a sequence of uniformly drawn thetas whose NLL is above `at_least`."""
    rng = np.random.default_rng([seed, 90])
    while True:
        thetas = problem.box.from_unit(rng.random((64, problem.box.dimension)))
        hard = np.flatnonzero(problem.nll_batch(thetas) > at_least)
        if hard.size:
            return thetas[hard[0]]


def run_trial(problem: TabularProblem, method: str, seed: int, evaluations: int) -> dict[str, Any]:
    """One search from a hard start, and its measures."""
    start = hard_start(problem, seed)
    found = explore(problem, evaluations, seed=seed, initial=[start], **METHODS[method])
    fit = landscape_fit(found.first(LANDSCAPE_AT))
    return {
        "method": method,
        "seed": seed,
        "initial_nll": float(found.nll[0]),
        "best_nll": found.best_nll,
        "evaluations_to_expert": evaluations_to_expert(problem, found.thetas, found.nll),
        "evaluations_to_demonstrations": evaluations_to_demonstrations(
            problem, found.thetas, found.nll, seed
        ),
        f"rmse_at_{LANDSCAPE_AT}": fit.rmse,
        f"coverage_at_{LANDSCAPE_AT}": fit.coverage,
    }


def run(
    problem: TabularProblem,
    out: Path,
    methods: Sequence[str] = tuple(METHODS),
    seeds: Sequence[int] = tuple(range(10)),
    evaluations: int = 40,
    on_trial: Callable[[dict[str, Any]], None] = lambda row: None,
) -> list[dict[str, Any]]:
    """Run all trials; write `trials.csv` as they finish and `summary.json` at the end."""
    out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    with (out / "trials.csv").open("w", newline="") as file:
        for method in methods:
            for seed in seeds:
                row = run_trial(problem, method, seed, evaluations)
                rows.append(row)
                writer = csv.DictWriter(file, fieldnames=list(row))
                if len(rows) == 1:
                    writer.writeheader()
                writer.writerow(row)
                file.flush()
                on_trial(row)
    summary = summarise(rows)
    (out / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    return summary


def summarise(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Success rate and mean evaluations (over successful trials) of each method, by each rule."""
    summary = []
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method]
        line: dict[str, Any] = {"method": method, "trials": len(own)}
        for rule in ("evaluations_to_expert", "evaluations_to_demonstrations"):
            hits = [row[rule] for row in own if row[rule] is not None]
            line[f"{rule}_success"] = len(hits) / len(own)
            line[f"{rule}_mean"] = float(np.mean(hits)) if hits else None
            line[f"{rule}_sd"] = float(np.std(hits)) if hits else None
        for measure in (f"rmse_at_{LANDSCAPE_AT}", f"coverage_at_{LANDSCAPE_AT}"):
            line[f"{measure}_mean"] = float(np.mean([row[measure] for row in own]))
        summary.append(line)
    return summary
