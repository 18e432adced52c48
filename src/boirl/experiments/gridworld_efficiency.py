"""How many evaluations until the best reward is as good as the expert's? (Paper, Table 1.)

Each trial starts from one theta of high NLL, as in the paper, and is judged by two rules: exact
ESOR of the best-NLL theta against exact ESOR of the truth, and the authors' rule, which compares
sampled returns. Random search is always in the table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boirl.errors import InvalidInputError
from boirl.files import make_folder
from boirl.metrics import evaluations_to_demonstrations, evaluations_to_expert, landscape_fit
from boirl.problem import TabularProblem
from boirl.study import explore
from boirl.types import FloatArray

HARD_START_STREAM = 90
METHODS: dict[str, dict[str, Any]] = {
    "rho-rbf": {"kernel": "rho-rbf"},
    "rbf": {"kernel": "rbf"},
    "matern": {"kernel": "matern"},
    "random": {"kernel": "rbf", "acquisition": "random"},
}
HARD_NLL = 90.0
HARD_DRAWS = 64 * 64
LANDSCAPE_AT = 20
"""Number of evaluations after which the posterior is compared with the exact landscape."""


def hard_start(problem: TabularProblem, seed: int, at_least: float = HARD_NLL) -> FloatArray:
    """The first of a sequence of uniformly drawn thetas whose NLL is above `at_least`."""
    rng = np.random.default_rng([seed, 0, HARD_START_STREAM])
    thetas = problem.box.from_unit(rng.random((HARD_DRAWS, problem.box.dimension)))
    nll = problem.nll_batch(thetas)
    hard = np.flatnonzero(nll > at_least)
    if not hard.size:
        raise InvalidInputError(
            f"none of {HARD_DRAWS} rewards has an NLL above {at_least:g}, the highest has "
            f"{np.nanmax(nll):.4g}; expected demonstrations as long as the paper's, 15 steps"
        )
    return thetas[hard[0]]


def run_trial(problem: TabularProblem, method: str, seed: int, evaluations: int) -> dict[str, Any]:
    """One search from a hard start, and its measures."""
    start = hard_start(problem, seed)
    found = explore(problem, evaluations, seed=seed, initial=[start], **METHODS[method])
    fit = landscape_fit(found.first(LANDSCAPE_AT))
    return {
        "problem": problem.fingerprint(),
        "evaluations": evaluations,
        "method": method,
        "seed": seed,
        "initial_nll": float(found.nll[0]),
        "best_nll": found.best_nll,
        "evaluations_to_expert": evaluations_to_expert(problem, found.thetas, found.nll),
        "evaluations_to_demonstrations": evaluations_to_demonstrations(
            problem, found.thetas, found.nll, seed
        ),
        "landscape_at": min(evaluations, LANDSCAPE_AT),
        "rmse": fit.rmse,
        "coverage": fit.coverage,
    }


def run(
    problem: TabularProblem,
    out: Path,
    methods: Sequence[str] = tuple(METHODS),
    seeds: Sequence[int] = tuple(range(10)),
    evaluations: int = 40,
    on_trial: Callable[[dict[str, Any]], None] = lambda row: None,
) -> list[dict[str, Any]]:
    """Run all trials that `trials.json` does not hold yet, and write `summary.json` at the end."""
    make_folder(out)
    path = out / "trials.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
    wanted = []
    for method in methods:
        for seed in seeds:
            key = (problem.fingerprint(), evaluations, method, seed)
            row = next((row for row in rows if _key(row) == key), None)
            if row is None:
                row = run_trial(problem, method, seed, evaluations)
                rows.append(row)
                path.write_text(json.dumps(rows, indent=1) + "\n")
            wanted.append(row)
            on_trial(row)
    summary = summarise(wanted)
    (out / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    return summary


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["problem"], row["evaluations"], row["method"], row["seed"]


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
        for measure in ("rmse", "coverage"):
            line[measure] = float(np.mean([row[measure] for row in own]))
        summary.append(line)
    return summary
