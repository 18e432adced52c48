"""How many evaluations until the best reward is as good as the expert's? (Paper, Table 1.)

Each trial starts from one theta of high NLL, as in the paper, and is judged by two rules: exact
ESOR of the best-NLL theta against exact ESOR of the truth, and the authors' rule, which compares
sampled returns. Random search is always in the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.experiments.trials import (
    METHODS,
    Experiment,
    OnTrial,
    Row,
    hard_start,
    quiet,
    run_searches,
    times,
)
from boirl.metrics import evaluations_to_demonstrations, evaluations_to_expert, landscape_fit
from boirl.problem import TabularProblem, load_problem
from boirl.search import explore

HARD_NLL = 90.0
LANDSCAPE_AT = 20
"""Number of evaluations after which the posterior is compared with the exact landscape."""


def run_trial(problem: TabularProblem, method: str, seed: int, evaluations: int) -> Row:
    """One search from a hard start, and its measures."""
    start = hard_start(problem, seed, HARD_NLL)
    found = explore(problem, evaluations, seed=seed, initial=[start], **METHODS[method])
    fit = landscape_fit(found.truncate(LANDSCAPE_AT))
    return {
        "problem": problem.fingerprint(),
        "evaluations": evaluations,
        "method": method,
        "seed": seed,
        "initial_nll": float(found.nll[0]),
        "best_nll": found.best_nll,
        "evaluations_to_expert": evaluations_to_expert(found),
        "evaluations_to_demonstrations": evaluations_to_demonstrations(found, seed),
        "landscape_at": min(evaluations, LANDSCAPE_AT),
        "rmse": fit.rmse,
        "coverage": fit.coverage,
    }


def run(
    out: Path,
    methods: Sequence[str] = tuple(METHODS),
    seeds: Sequence[int] = tuple(range(10)),
    evaluations: int = 40,
    on_trial: OnTrial = quiet,
    demonstrations: str | Path | None = None,
) -> list[Row]:
    """Compare methods, see `Experiment`; with a file of other demonstrations, if given."""
    problem = load_problem("gridworld")
    if demonstrations is not None:
        problem = problem.with_demonstrations(Demonstrations.load(demonstrations))
    return run_searches(out, problem, run_trial, summarise, methods, seeds, evaluations, on_trial)


def summarise(rows: Sequence[Row]) -> Row:
    """Success rate and mean evaluations (over successful trials) of a method, by each rule."""
    line: Row = {"method": rows[0]["method"], "trials": len(rows)}
    for rule in ("evaluations_to_expert", "evaluations_to_demonstrations"):
        found = times([row[rule] for row in rows])
        line[f"{rule}_success"] = found["reached"]
        line[f"{rule}_mean"], line[f"{rule}_sd"] = found["after_mean"], found["after_sd"]
    for measure in ("rmse", "coverage"):
        line[measure] = float(np.mean([row[measure] for row in rows]))
    return line


def _mean_and_sd(line: Row, rule: str) -> str:
    if line[f"{rule}_mean"] is None:
        return "-"
    return f"{line[f'{rule}_mean']:.1f} ± {line[f'{rule}_sd']:.1f}"


EXPERIMENT = Experiment(
    run,
    {
        "method": lambda row: row["method"],
        "reached": lambda row: f"{row['evaluations_to_expert_success']:.0%}",
        "after": lambda row: _mean_and_sd(row, "evaluations_to_expert"),
        "paper's rule": lambda row: f"{row['evaluations_to_demonstrations_success']:.0%}",
        "after, by it": lambda row: _mean_and_sd(row, "evaluations_to_demonstrations"),
        "RMSE": lambda row: f"{row['rmse']:.2f}",
    },
    tiny={"methods": ["rho-rbf", "random"], "seeds": [1000], "evaluations": 5},
)
