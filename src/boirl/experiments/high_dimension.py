"""Fifty parameters: by gradients, and without them by subspaces. (Paper, future work.)

A map of fifty terrains, each with a price of its own (`terrain`). With gradients, descents and the
search of boirl; with values alone, searches in a few random directions at a time (`subspaces`), the
search in all fifty, TPE and random thetas. The measure is how far the lowest NLL is above the
optimum, as a share of what a random theta is above it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from boirl import baselines
from boirl.experiments.many_parameters import optimum
from boirl.experiments.regrets import ValuesAlone
from boirl.experiments.trials import (
    Experiment,
    OnTrial,
    Row,
    check_methods,
    quiet,
    run_trials,
    write_summary,
)
from boirl.problem import TabularProblem, load_problem
from boirl.results import Result
from boirl.search import explore

PARAMETERS = 50
NOTED = (30, 60, 120)
"""Evaluations after which the gap is noted."""

RANDOM_THETAS = 64
Run = Callable[[TabularProblem, int, int], Result]


def _search(problem: TabularProblem, evaluations: int, seed: int) -> Result:
    return explore(problem, evaluations, seed=seed)


def _baseline(
    problem: TabularProblem, evaluations: int, seed: int, name: str, **settings: Any
) -> Result:
    return baselines.get(name, **settings).run(problem, evaluations, seed)


METHODS: dict[str, tuple[str, Run]] = {
    "descents": ("gradients", partial(_baseline, name="maxent")),
    "search": ("gradients", _search),
    "search, values alone": ("values", _search),
    "subspaces, coordinates": ("values", partial(_baseline, name="subspaces")),
    "subspaces, linear": ("values", partial(_baseline, name="subspaces", directions="linear")),
    "tpe": ("values", partial(_baseline, name="tpe")),
    "random": ("values", partial(_baseline, name="random")),
}
"""What each method sees, and how it is run."""

KEY = ("method", "parameters", "evaluations", "seed")


def run_trial(method: str, parameters: int, evaluations: int, seed: int, options: Row) -> Row:
    """One method on the map of this seed, and its gap as it goes on."""
    problem = load_problem("terrain", n_terrains=parameters, seed=seed, **options)
    evidence, run_method = METHODS[method]
    shown = ValuesAlone.of(problem) if evidence == "values" else problem
    began = time.process_time()
    found = run_method(shown, evaluations, seed)
    seconds = time.process_time() - began
    lowest = optimum(problem)
    rng = np.random.default_rng([seed, 1521])
    thetas = problem.box.from_unit(rng.random((RANDOM_THETAS, parameters)))
    chance = float(np.median(problem.nll_batch(thetas)))
    gap = (np.fmin.accumulate(found.nll) - lowest) / (chance - lowest)
    return {
        **dict(zip(KEY, (method, parameters, evaluations, seed), strict=True)),
        "evidence": evidence,
        "gap": gap.tolist(),
        "cpu_seconds": seconds,
    }


def run(
    out: Path,
    methods: Sequence[str] = tuple(METHODS),
    seeds: Sequence[int] = (100, 101, 102),
    evaluations: int = max(NOTED),
    parameters: int = PARAMETERS,
    problem_options: Row | None = None,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Compare methods, see `Experiment`; each seed is a map of its own."""
    check_methods(methods, METHODS)
    keys = [(method, parameters, evaluations, seed) for method in methods for seed in seeds]
    wanted: dict[Hashable, Callable[[], Row]] = {
        key: partial(run_trial, *key, problem_options or {}) for key in keys
    }
    rows = run_trials(out, wanted, lambda row: tuple(row[name] for name in KEY), on_trial)
    summary = [summarise([row for row in rows if row["method"] == one]) for one in methods]
    write_summary(out, summary)
    return summary


def summarise(rows: Sequence[Row]) -> Row:
    """Mean gaps over maps, and seconds."""
    gaps = np.array([row["gap"] for row in rows])
    return {
        **{name: rows[0][name] for name in (*KEY[:-1], "evidence")},
        "maps": len(rows),
        "gap": {
            str(number): float(gaps[:, number - 1].mean())
            for number in NOTED
            if number <= gaps.shape[1]
        },
        "worst_gap": float(gaps[:, -1].max()),
        "cpu_seconds": float(np.mean([row["cpu_seconds"] for row in rows])),
    }


def _gap(number: int, row: Row) -> str:
    found = row["gap"].get(str(number))
    return "-" if found is None else f"{found:.2%}"


EXPERIMENT = Experiment(
    run,
    {
        "evidence": lambda row: row["evidence"],
        "method": lambda row: row["method"],
        **{f"after {number}": partial(_gap, number) for number in NOTED},
        "worst": lambda row: f"{row['worst_gap']:.2%}",
        "CPU s": lambda row: f"{row['cpu_seconds']:.0f}",
    },
    tiny={
        "methods": ["descents", "subspaces, coordinates"],
        "seeds": [1000],
        "evaluations": 4,
        "parameters": 6,
        "problem_options": {"side": 4, "n_demonstrations": 10},
    },
)
