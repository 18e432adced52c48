"""How much of the set of rewards that explain the demonstrations does a search know?

Each search starts from one theta of high NLL. As it goes on, and at its end, its posterior is
compared with the exact NLL all over the box: the predicted set of rewards within 1 %, within 10 %
and within what a likelihood-ratio test does not reject; the error and the 95 % intervals of the
posterior; and the behaviours in the exact 10 % set that an evaluated reward shows. Beside the
kernels, `rho-matern` is run with other acquisitions.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from boirl.errors import SaturationWarning
from boirl.experiments.trials import (
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
from boirl.metrics import evaluations_to_expert, landscape_error
from boirl.metrics.truth import (
    ExactLandscape,
    behaviours_found,
    exact_landscape,
    existing_behaviours,
    set_fit,
)
from boirl.policies import TabularPolicy
from boirl.problem import TabularProblem, load_problem
from boirl.results import RewardSet
from boirl.search import explore

SEARCHES: dict[str, dict[str, Any]] = {
    **METHODS,
    "rho-matern, log-ei": {"kernel": "rho-matern", "acquisition": "log-ei"},
}
EXPERT_TOLERANCE = 1e-3
"""How much of the expert's ESOR the best reward may lack; nothing would make it a matter of luck
how far below the truth's NLL the best one of the demonstrations lies."""

MEASURES = ("f1_10", "f1_1", "f1_ratio", "rmse", "coverage", "behaviours")
LOWER_IS_BETTER = ("rmse",)


@dataclass(frozen=True, eq=False)
class Truth:
    """A problem with its exact set."""

    problem: TabularProblem
    landscape: ExactLandscape
    behaviours: Sequence[TabularPolicy]
    hard_nll: float


def measure(found: RewardSet, truth: Truth) -> Row:
    """What a search knows of the set."""
    landscape = truth.landscape
    fit = landscape_error(found, landscape.thetas, landscape.nll)
    row: Row = {"evaluations": len(found), "rmse": fit.rmse, "coverage": fit.coverage}
    tolerances = {
        "10": (0.10, False),
        "1": (0.01, False),
        "ratio": (found.likelihood_ratio_tolerance(), True),
    }
    for name, (tolerance, absolute) in tolerances.items():
        own = set_fit(found, landscape, tolerance, absolute)
        # Many demonstrations leave a set so small that no theta of the landscape is in it.
        exists = landscape.within(tolerance, absolute).any()
        for part in ("f1", "precision", "recall"):
            row[f"{part}_{name}"] = getattr(own, part) if exists else None
    row["behaviours"] = behaviours_found(found, truth.behaviours) / len(truth.behaviours)
    return row


def run_trial(truth: Truth, search: str, seed: int, evaluations: int) -> Row:
    """One search from a hard start, and its measures as it goes on."""
    problem = truth.problem
    start = hard_start(problem, seed, truth.hard_nll)
    with warnings.catch_warnings():
        # Uniform roll-outs may be saturated; the search cures that.
        warnings.simplefilter("ignore", SaturationWarning)
        found = explore(problem, evaluations, seed=seed, initial=[start], **SEARCHES[search])
    steps = [*range(5, evaluations, 5), evaluations]
    curve = [measure(found.truncate(count), truth) for count in steps]
    return {
        "problem": problem.fingerprint(),
        "search": search,
        "seed": seed,
        "evaluations": evaluations,
        "n_reference": len(truth.landscape.nll),
        "evaluations_to_expert": evaluations_to_expert(found, EXPERT_TOLERANCE),
        "excess": found.best_nll / truth.landscape.best_nll - 1.0,
        "behaviours_there_are": len(truth.behaviours),
        "curve": curve,
        **{f"final_{name}": value for name, value in curve[-1].items()},
    }


def _run(
    options: Mapping[str, Any],
    hard_nll: float,
    out: Path,
    searches: Sequence[str] | None,
    seeds: Sequence[int],
    evaluations: int,
    on_trial: OnTrial,
    n_reference: int,
) -> list[Row]:
    chosen = tuple(SEARCHES) if searches is None else tuple(searches)
    check_methods(chosen, SEARCHES)
    problem = load_problem(**options)
    landscape = exact_landscape(problem, n_reference)
    hard = min(hard_nll, float(np.nanquantile(landscape.nll, 0.9)))
    truth = Truth(problem, landscape, existing_behaviours(problem, landscape), hard)
    fingerprint = problem.fingerprint()
    wanted: dict[Hashable, Any] = {
        (fingerprint, n_reference, search, seed, evaluations): partial(
            run_trial, truth, search, seed, evaluations
        )
        for search in chosen
        for seed in seeds
    }
    rows = run_trials(out, wanted, _key, on_trial)
    summary = [summarise([row for row in rows if row["search"] == name]) for name in chosen]
    write_summary(out, summary)
    return summary


def run_gridworld(
    out: Path,
    methods: Sequence[str] | None = None,
    seeds: Sequence[int] = tuple(range(10)),
    evaluations: int = 30,
    on_trial: OnTrial = quiet,
    n_reference: int = 2**14,
) -> list[Row]:
    """Gridworld: compare `SEARCHES`, see `Experiment`, by the exact NLL at `n_reference` thetas."""
    options = {"name": "gridworld"}
    return _run(options, 90.0, out, methods, seeds, evaluations, on_trial, n_reference)


def run_borlange(
    out: Path,
    methods: Sequence[str] | None = None,
    seeds: Sequence[int] = tuple(range(10)),
    evaluations: int = 40,
    on_trial: OnTrial = quiet,
    data: str | None = None,
    n_reference: int = 2**14,
    problem_options: Mapping[str, Any] | None = None,
) -> list[Row]:
    """The wide box of the virtual Borlange problem, as `run_gridworld`.

    `data` is the folder with the data, by default the cache; `problem_options` are those of another
    problem for `load_problem`, with its name, for a small version.
    """
    options = problem_options or {
        "name": "borlange-virtual",
        "data": data,
        "seed": 0,
        "box": "wide",
    }
    return _run(options, 600.0, out, methods, seeds, evaluations, on_trial, n_reference)


def _key(row: Row) -> Hashable:
    names = ("problem", "n_reference", "search", "seed", "evaluations")
    return tuple(row[name] for name in names)


def summarise(rows: Sequence[Row]) -> Row:
    """Mean and worst of each measure at the end, and the time to the expert."""
    line: Row = {
        "method": rows[0]["search"],
        "trials": len(rows),
        **times([row["evaluations_to_expert"] for row in rows]),
        "excess_mean": float(np.mean([row["excess"] for row in rows])),
    }
    for name in MEASURES:
        values = [row[f"final_{name}"] for row in rows if row[f"final_{name}"] is not None]
        worst = max if name in LOWER_IS_BETTER else min
        line[f"{name}_mean"] = float(np.mean(values)) if values else None
        line[f"{name}_worst"] = float(worst(values)) if values else None
    return line


COLUMNS = {
    "method": lambda row: row["method"],
    "F1 at 10 %": lambda row: f"{row['f1_10_mean']:.3f}",
    "at 1 %": lambda row: f"{row['f1_1_mean']:.3f}",
    "not rejected": lambda row: (
        "-" if row["f1_ratio_mean"] is None else f"{row['f1_ratio_mean']:.3f}"
    ),
    "RMSE": lambda row: f"{row['rmse_mean']:.2f}",
    "in 95 % intervals": lambda row: f"{row['coverage_mean']:.1%}",
    "behaviours": lambda row: f"{row['behaviours_mean']:.0%}",
    "expert after": show_after,
    "reached": lambda row: f"{row['reached']:.0%}",
}

TINY = {"methods": ["rho-rbf", "random"], "seeds": [1000], "evaluations": 5, "n_reference": 64}
TOWN = {"name": "road-network", "n_links": 60, "n_demonstrations": 20}

GRIDWORLD = Experiment(run_gridworld, COLUMNS, TINY)
BORLANGE = Experiment(run_borlange, COLUMNS, {**TINY, "problem_options": TOWN})
