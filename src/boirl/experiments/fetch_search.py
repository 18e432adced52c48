"""How well does the arm reach, by the best reward found so far? (Paper: a curve of success rates.)

The best-NLL reward after so many evaluations is judged by its policy in `FetchReach-v4`: the share
of episodes that end within 5 cm of the goal. Actions are drawn from the policy, which is harder
than to take its typical ones; both are reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from boirl.domains.fetch.environment import success_rate
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
from boirl.metrics import incumbents
from boirl.problem import load_problem
from boirl.problem.simulated import GymProblem
from boirl.results import RewardSet

HARD_NLL = 2.0
EPISODES = 100
EARLY = 10
PROJECTED = 20
"""Demonstrations in the projection, as in the paper."""


def run_trial(
    problem: GymProblem,
    method: str,
    seed: int,
    evaluations: int,
    hard_nll: float = HARD_NLL,
    episodes: int = EPISODES,
) -> Row:
    """One search from a hard start, and its measures."""
    found, row = search_and_time(problem, method, seed, evaluations, hard_nll, PROJECTED)
    best = incumbents(found.nll)
    rates: dict[str, dict[int, float]] = {"sample": {}, "mode": {}}
    for number in map(int, np.unique(best)):
        for act, by_number in rates.items():
            by_number[number] = _success(found, number, act, episodes)
    return {
        **row,
        "success": [rates["sample"][int(number)] for number in best],
        "success_of_mode": [rates["mode"][int(number)] for number in best],
    }


def _success(found: RewardSet, number: int, act: Any, episodes: int) -> float:
    """Success rate of the policy of an evaluation; 0 where there is none."""
    if not found.evaluations[number].ok:
        return 0.0
    return success_rate(found.policy(number), episodes, seed=0, act=act).at_end


def run(
    out: Path,
    methods: Sequence[str] = tuple(METHODS),
    seeds: Sequence[int] = tuple(range(3)),
    evaluations: int = 30,
    on_trial: OnTrial = quiet,
    tiny: bool = False,
) -> list[Row]:
    """Compare methods, see `Experiment`; with next to no training if tiny."""
    check_methods(methods)  # before anything is learned
    problem = load_problem("fetch-reach", tiny=tiny)
    trial = partial(run_trial, hard_nll=-np.inf, episodes=2) if tiny else run_trial
    return run_searches(out, problem, trial, summarise, methods, seeds, evaluations, on_trial)


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
    tiny={"methods": ["rho-rbf"], "seeds": [1000], "evaluations": 3, "tiny": True},
)
