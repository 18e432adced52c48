"""How well does the arm reach, by the best reward found so far? (Paper: a curve of success rates.)

The best-NLL reward after so many evaluations is judged by its policy in `FetchReach-v4`: the share
of episodes that end within 5 cm of the goal. Actions are drawn from the policy, which is harder
than to take its typical ones; both are reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from boirl.environments.fetch_reach import success_rate
from boirl.experiments.trials import (
    METHODS,
    Experiment,
    OnTrial,
    Row,
    check_methods,
    quiet,
    run_searches,
    search_and_time,
)
from boirl.gym_problem import GymProblem
from boirl.metrics import incumbents
from boirl.problems import load_problem

HARD_NLL = 2.0
EPISODES = 100
EARLY = 10
PROJECTED = 20
"""Demonstrations in the projection, as in the paper."""


def run_trial(problem: GymProblem, method: str, seed: int, evaluations: int) -> Row:
    """One search from a hard start, and its measures."""
    found, row = search_and_time(problem, method, seed, evaluations, HARD_NLL, PROJECTED)
    best = incumbents(found.nll)
    rates: dict[str, dict[int, float]] = {"sample": {}, "mode": {}}
    for number in np.unique(best):
        policy = problem.policy(found.thetas[number])
        for act, by_number in rates.items():
            rate = success_rate(policy, EPISODES, seed=0, act=act)  # type: ignore[arg-type]
            by_number[int(number)] = rate.at_end
    return {
        **row,
        "success": [rates["sample"][int(number)] for number in best],
        "success_of_mode": [rates["mode"][int(number)] for number in best],
    }


def run(
    out: Path,
    methods: Sequence[str] = tuple(METHODS),
    seeds: Sequence[int] = tuple(range(3)),
    evaluations: int = 30,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Compare methods, see `Experiment`."""
    check_methods(methods)  # before anything is learned
    problem = load_problem("fetch-reach")
    return run_searches(out, problem, run_trial, summarise, methods, seeds, evaluations, on_trial)


def summarise(rows: Sequence[Row]) -> Row:
    """Success of the best reward early and at the end, worst trial and mean."""
    early = [row["success"][: EARLY + 1][-1] for row in rows]
    end = [row["success"][-1] for row in rows]
    return {
        "method": rows[0]["method"],
        "trials": len(rows),
        "success_by_10_worst": min(early),
        "success_by_10_mean": float(np.mean(early)),
        "success_worst": min(end),
        "success_mean": float(np.mean(end)),
        "success_of_mode_mean": float(np.mean([row["success_of_mode"][-1] for row in rows])),
        "best_nll": float(np.mean([np.nanmin(row["nll"]) for row in rows])),
        "seconds": float(np.mean([row["seconds"] for row in rows])),
    }


EXPERIMENT = Experiment(
    run,
    {
        "method": lambda row: row["method"],
        "success by 10": lambda row: f"{row['success_by_10_mean']:.0%}",
        "worst": lambda row: f"{row['success_by_10_worst']:.0%}",
        "at the end": lambda row: f"{row['success_mean']:.0%}",
        "worst at the end": lambda row: f"{row['success_worst']:.0%}",
        "best NLL": lambda row: f"{row['best_nll']:.2f}",
        "seconds": lambda row: f"{row['seconds']:.0f}",
    },
)
