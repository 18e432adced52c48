"""How soon does each method find a reward as good as the expert's? (Paper, Table 1, all rows.)

One rule for all: the first evaluation at which the ESOR of the best-NLL reward so far reaches that
of the true reward, both exact; or, by roll-outs where policies are learned, comes within 2 % of it
in the maze and 5 % in Fetch-Reach. A trial ends there, so that seconds and policies are those it
took. The searches start from one theta of high NLL, as in the paper; the other methods where they
start by themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boirl import baselines
from boirl.errors import InvalidInputError
from boirl.experiments.published import WALKS, published
from boirl.experiments.race import Race, expert_rule
from boirl.experiments.trials import (
    DRAWN_AT_ONCE,
    METHODS,
    Experiment,
    OnTrial,
    Row,
    check_methods,
    hard_start,
    quiet,
    run_trials,
    show_after,
    times,
    write_summary,
)
from boirl.problem import Problem, load_problem
from boirl.search import Study


class Contest(NamedTuple):
    """A problem, and how methods are judged there.

    Attributes:
        problem: Its name.
        options: Of the problem.
        hard_nll: The NLL from which on a start is hard.
        tolerance: Share of the expert's ESOR that may be missing; none where it is exact.
    """

    problem: str
    options: dict[str, Any]
    hard_nll: float
    tolerance: float = 0.0


CONTESTS = {
    "gridworld": Contest("gridworld", {}, 90.0),
    "borlange narrow": Contest("borlange-virtual", {"box": "narrow"}, 160.0),
    "borlange wide": Contest("borlange-virtual", {"box": "wide"}, 300.0),
    "maze": Contest("point-mass-maze", {}, 500.0, 0.02),
    "fetch": Contest("fetch-reach", {}, 2.0, 0.05),
}

BUDGETS: dict[str, tuple[str, dict[str, Any], int]] = {
    "tpe": ("tpe", {}, 200),
    "birl": ("birl", {}, 200),
    WALKS: ("birl", {"sampler": "policy-walk", "chains": 4}, 1000),
    "maxent": ("maxent", {}, 200),
    "deep-maxent": ("deep-maxent", {}, 300),
    "gp-irl": ("gp-irl", {}, 300),
    "cr-irl": ("cr-irl", {}, 20),
    "gcl": ("gcl", {}, 500),
    "airl": ("airl", {}, 200),
    "gail": ("gail", {}, 100),
}
"""Baseline, settings and evaluations at most, by the name in tables."""

SEARCH_BUDGET = 40
"""Evaluations of a search at most."""

ALL = (*METHODS, *BUDGETS)


def run_trial(problem: Problem[Any], contest: str, method: str, seed: int) -> Row:
    """Run a method until it is as good as the expert, or at its end."""
    race = Race(problem, {"expert": expert_rule(problem, CONTESTS[contest].tolerance)})
    refused = None
    if method in METHODS:
        _search(problem, race, CONTESTS[contest].hard_nll, method, seed)
    else:
        name, settings, budget = BUDGETS[method]
        baseline = baselines.get(name, **settings)
        try:
            baseline.check(problem)
        except InvalidInputError as error:
            refused = str(error)
        else:
            baseline.run(problem, budget, seed, race.judge)
    return {
        "contest": contest,
        "problem": problem.fingerprint(),
        "method": method,
        "seed": seed,
        "best_nll": race.best,
        "esor": race.esor,
        "theta": race.theta,
        "reached": race.reached["expert"],
        "refused": refused,
    }


def _search(problem: Problem[Any], race: Race, hard_nll: float, method: str, seed: int) -> None:
    start = hard_start(
        problem, seed, hard_nll, at_once=1 if problem.is_model_free else DRAWN_AT_ONCE
    )
    study = Study(problem, seed=seed, initial=[start], **METHODS[method])
    for number in range(SEARCH_BUDGET):
        began = time.perf_counter()
        evaluation = study.run(number + 1).evaluations[-1]
        if race.judge(replace(evaluation, seconds=time.perf_counter() - began), number):
            return


def run(
    out: Path,
    methods: Sequence[str] = ALL,
    seeds: Sequence[int] = tuple(range(10)),
    problems: Sequence[str] = tuple(CONTESTS),
    data: str | None = None,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Run every method on every problem; see `Experiment`.

    Args:
        out: Folder for the results.
        methods: Some of `METHODS` and `BUDGETS`.
        seeds: Of the trials.
        problems: Some of `CONTESTS`.
        data: Folder with the data of Borlange, by default the cache.
        on_trial: See `OnTrial`.
    """
    check_methods(methods, ALL)
    unknown = sorted(set(problems) - set(CONTESTS))
    if unknown:
        raise InvalidInputError(
            f"there is no problem {', '.join(unknown)}; expected some of {'; '.join(CONTESTS)}"
        )
    wanted: dict[Hashable, Callable[[], Row]] = {}
    for contest in problems:
        name, options, *_ = CONTESTS[contest]
        given = options if data is None or "borlange" not in name else {**options, "data": data}
        problem = load_problem(name, **given)
        for method in methods:
            for seed in seeds:
                key = (contest, problem.fingerprint(), method, seed)
                wanted[key] = partial(run_trial, problem, contest, method, seed)
    rows = run_trials(
        out,
        wanted,
        lambda row: (row["contest"], row["problem"], row["method"], row["seed"]),
        on_trial,
    )
    summary = [
        summarise([row for row in rows if (row["contest"], row["method"]) == (contest, method)])
        for contest in problems
        for method in methods
    ]
    write_summary(out, summary)
    return summary


def summarise(rows: Sequence[Row]) -> Row:
    """Share of trials that reached the expert, and what it took them, on average."""
    contest, method = rows[0]["contest"], rows[0]["method"]
    reached = [row["reached"] for row in rows if row["reached"] is not None]
    costs = {
        cost: float(np.mean([one[cost] for one in reached])) if reached else None
        for cost in ("policies", "environment_steps", "seconds")
    }
    paper = published(contest, method)
    return {
        "contest": contest,
        "method": method,
        "trials": len(rows),
        **times([row["reached"] and row["reached"]["evaluations"] for row in rows]),
        **costs,
        "best_nll": float(np.mean([row["best_nll"] for row in rows])),
        "refused": rows[0]["refused"],
        "paper_reached": paper and paper.reached,
        "paper_after": paper and paper.mean,
    }


def _number(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _paper(row: Row) -> str:
    if row["paper_reached"] is None:
        return "-"
    after = "" if row["paper_after"] is None else f", {row['paper_after']:g}"
    return f"{row['paper_reached']:.0%}{after}"


EXPERIMENT = Experiment(
    run,
    {
        "problem": lambda row: row["contest"],
        "method": lambda row: row["method"],
        "reached": lambda row: "does not apply" if row["refused"] else f"{row['reached']:.0%}",
        "evaluations": show_after,
        "policies": lambda row: _number(row["policies"]),
        "steps": lambda row: _number(row["environment_steps"]),
        "seconds": lambda row: _number(row["seconds"], 1),
        "NLL": lambda row: "-" if row["refused"] else f"{row['best_nll']:.2f}",
        "paper": _paper,
    },
    tiny={"problems": ["gridworld"], "methods": ["rho-rbf", "tpe", "maxent"], "seeds": [1000]},
)
