"""Does a search find the optimum?

For problems of the suite, how far the best reward is from the optimum that descents by exact
gradients find. There is no exact posterior, which takes minutes where there are many states.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from boirl.estimation.optimum import CountedNll, find_optimum
from boirl.experiments.suite.catalogue import TUNING_SEEDS_BELOW, check_problems, suite_problem
from boirl.experiments.trials import Experiment, OnTrial, Row, quiet, run_trials, write_summary
from boirl.search import explore
from boirl.tolerance import likelihood_ratio_tolerance

TABLES = ("taxi", "frozen-lake", "cliff-walking")
STARTS = 8
"""Descents of which the best one ends at the optimum, beside one from the truth."""


def run_trial(name: str, seed: int, evaluations: int) -> Row:
    """One search, and how many tolerances of a likelihood-ratio test it ends above the optimum."""
    problem = suite_problem(name, seed)
    truth = None if problem.truth is None else problem.box.to_unit(np.array([problem.truth]))
    optimum = find_optimum(CountedNll(problem), STARTS, seed, truth)
    found = explore(problem, evaluations, seed=seed)
    tolerance = likelihood_ratio_tolerance(len(problem.demonstrations), problem.box.dimension)
    return {
        "problem": name,
        "seed": seed,
        "evaluations": evaluations,
        "operator": getattr(getattr(problem, "solver", None), "bellman", "recursive logit"),
        "best_nll": found.best_nll,
        "optimum": optimum.nll,
        "tolerances": (found.best_nll - optimum.nll) / tolerance,
    }


def run(
    out: Path,
    seeds: Sequence[int] = tuple(range(TUNING_SEEDS_BELOW, TUNING_SEEDS_BELOW + 10)),
    evaluations: int = 30,
    on_trial: OnTrial = quiet,
    problems: Sequence[str] = TABLES,
) -> list[Row]:
    """Search on problems of the suite, see `Experiment`.

    Args:
        out: For all files.
        seeds: Each gives one problem per generator, and is that of the search.
        evaluations: Of each search.
        on_trial: See `OnTrial`.
        problems: Names of generators.
    """
    check_problems(problems)
    wanted: dict[Hashable, Callable[[], Row]] = {
        (name, seed, evaluations): partial(run_trial, name, seed, evaluations)
        for name in problems
        for seed in seeds
    }
    rows = run_trials(
        out, wanted, lambda row: (row["problem"], row["seed"], row["evaluations"]), on_trial
    )
    summary = [summarise([row for row in rows if row["problem"] == name]) for name in problems]
    write_summary(out, summary)
    return summary


def summarise(rows: Sequence[Row]) -> Row:
    """How many searches on the problems of one generator end within the tolerance."""
    distances = np.array([row["tolerances"] for row in rows])
    return {
        "problem": rows[0]["problem"],
        "evaluations": rows[0]["evaluations"],
        "trials": len(rows),
        "within": int((distances <= 1.0).sum()),
        "tolerances_mean": float(distances.mean()),
        "tolerances_worst": float(distances.max()),
    }


EXPERIMENT = Experiment(
    run,
    {
        "problem": lambda row: row["problem"],
        "within the tolerance": lambda row: f"{row['within']} of {row['trials']}",
        "tolerances above": lambda row: f"{row['tolerances_mean']:.4f}",
        "worst": lambda row: f"{row['tolerances_worst']:.4f}",
    },
    tiny={"seeds": [1002], "evaluations": 5, "problems": ["mdp-few"]},
)
