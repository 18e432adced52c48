"""Does an answer cost anything twice? New demonstrations under rewards that were evaluated before.

Rewards are evaluated, further demonstrations are added, and all are scored again from the policies
that were kept: how long does it take, and are the NLLs those of evaluating again?
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from boirl.errors import InvalidInputError
from boirl.experiments.trials import Experiment, OnTrial, Row, quiet, run_trials, write_summary
from boirl.problem import Problem, load_problem
from boirl.search import Study

ADDED = 20
"""Demonstrations that are added."""

PROBLEMS: dict[str, tuple[str, dict[str, Any], int, int]] = {
    "gridworld": ("gridworld", {}, 100, 10),
    "roads": ("road-network", {}, 100, 10),
    "roads, logsumexp": ("road-network", {"bellman": "logsumexp"}, 100, 10),
    "maze": ("point-mass-maze", {}, 10, 2),
}
"""Problem, its options, the rewards that are evaluated, and how many of these are evaluated again,
to compare: few where each is learned."""


def run_trial(name: str, seed: int, rewards: int) -> Row:
    """One problem: the time of evaluating, of scoring again, and the largest difference."""
    title, options, _, checked = PROBLEMS[name]
    problem: Problem[Any] = load_problem(title, **options)
    more = problem.demonstrate(problem._require_truth(), ADDED, seed)
    drawn = np.random.default_rng(seed).random((rewards, problem.box.dimension))
    thetas = problem.box.from_unit(drawn)
    study = Study(problem, seed=seed, acquisition="random", kernel="rbf", initial=thetas)
    study.run(rewards)
    evaluating = float(sum(one.seconds for one in study.evaluations))
    began = time.perf_counter()
    study.evidence.add_demonstrations(more, study.trials)
    scoring = time.perf_counter() - began
    scored = study.evaluations[:checked]
    again = [study.problem.evaluate(one.theta, one.seed) for one in scored]
    gaps = [abs(a.nll - b.nll) for a, b in zip(scored, again, strict=True) if a.ok and b.ok]
    return {
        "problem": name,
        "seed": seed,
        "rewards": rewards,
        "added": ADDED,
        "evaluating_seconds": evaluating,
        "scoring_seconds": scoring,
        "share": scoring / evaluating,
        "largest_difference": max(gaps, default=0.0),
    }


def run(
    out: Path,
    problems: Sequence[str] = tuple(PROBLEMS),
    seeds: Sequence[int] = tuple(range(5)),
    on_trial: OnTrial = quiet,
    rewards: int | None = None,
) -> list[Row]:
    """Score again in each problem, see `Experiment`; with fewer rewards, for a small version."""
    unknown = set(problems) - set(PROBLEMS)
    if unknown:
        raise InvalidInputError(
            f"there is no problem {', '.join(sorted(unknown))}; expected some of "
            f"{'; '.join(PROBLEMS)}"
        )
    sizes = {name: rewards or PROBLEMS[name][2] for name in problems}
    wanted: dict[Hashable, Callable[[], Row]] = {
        (name, seed, sizes[name]): partial(run_trial, name, seed, sizes[name])
        for name in problems
        for seed in seeds
    }
    rows = run_trials(
        out, wanted, lambda row: (row["problem"], row["seed"], row["rewards"]), on_trial
    )
    summary = [
        summarise(name, [row for row in rows if row["problem"] == name]) for name in problems
    ]
    write_summary(out, summary)
    return summary


def summarise(name: str, rows: Sequence[Row]) -> Row:
    """Median and worst share of the time of evaluating."""
    shares = [row["share"] for row in rows]
    return {
        "problem": name,
        "seeds": len(rows),
        "rewards": rows[0]["rewards"],
        "share_median": float(np.median(shares)),
        "share_worst": max(shares),
        "evaluating_seconds": float(np.median([row["evaluating_seconds"] for row in rows])),
        "largest_difference": max(row["largest_difference"] for row in rows),
    }


EXPERIMENT = Experiment(
    run,
    {
        "problem": lambda row: row["problem"],
        "rewards": lambda row: str(row["rewards"]),
        "evaluating": lambda row: f"{row['evaluating_seconds']:.2f} s",
        "scoring again": lambda row: f"{row['share_median']:.2%} of it",
        "worst": lambda row: f"{row['share_worst']:.2%}",
        "largest difference of NLLs": lambda row: f"{row['largest_difference']:.1e}",
    },
    tiny={"problems": ["gridworld"], "seeds": [1000], "rewards": 5},
)
