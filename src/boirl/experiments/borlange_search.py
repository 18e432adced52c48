"""Which kernel finds the rewards of virtual Borlange, and how well does it know the landscape?

Two designs on both boxes: `search` starts from one theta of high NLL and looks for the best one;
`space-filling` evaluates a Sobol sequence and asks how well the posterior matches the exact NLL
elsewhere. The latter has the projection in three ways: with roll-outs of policies already solved
(our default there), with roll-outs of the uniform policy, and those with the weight of u-turns
dropped, as in the authors' code.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Hashable, Sequence
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
    write_summary,
)
from boirl.files import make_folder, read_arrays, write_arrays
from boirl.metrics import landscape_error, set_f1
from boirl.problem import TabularProblem, load_problem
from boirl.search import explore
from boirl.types import FloatArray

HARD_NLL = {"wide": 600.0, "narrow": 165.0}
REFERENCE_THETAS = 2000
REFERENCE_SEED = 0
RMSE_THETAS = 200
TOLERANCE = 0.10
SPACE_FILLING: dict[str, dict[str, Any]] = {
    "rho-rbf": {"kernel": "rho-rbf"},
    "rho-rbf, uniform": {"kernel": "rho-rbf", "rollouts": "uniform"},
    "rho-rbf, dropped": {"kernel": "rho-rbf", "rollouts": "uniform", "drop": ("u-turn",)},
    "rbf": {"kernel": "rbf"},
    "matern": {"kernel": "matern"},
}
MEASURES = ("excess", "f1", "rmse", "seconds")


def reference(problem: TabularProblem, path: Path, n: int) -> tuple[FloatArray, FloatArray]:
    """Uniformly drawn thetas and their exact NLL, kept in a file."""
    thetas = problem.box.from_unit(
        np.random.default_rng(REFERENCE_SEED).random((n, problem.box.dimension))
    )
    fingerprint = problem.fingerprint()
    if path.exists():
        arrays = read_arrays(path, "exact NLLs")
        if str(arrays["problem"]) == fingerprint and len(arrays["nll"]) == n:
            return thetas, arrays["nll"]
    nll = problem.nll_batch(thetas)
    write_arrays(path, {"nll": nll, "problem": np.array(fingerprint)})
    return thetas, nll


def run(
    out: Path,
    methods: Sequence[str] = tuple(METHODS),
    seeds: Sequence[int] = tuple(range(5)),
    evaluations: int = 30,
    on_trial: OnTrial = quiet,
    data: str | None = None,
    boxes: Sequence[str] = ("wide", "narrow"),
    problem_options: dict[str, Any] | None = None,
    n_reference: int = REFERENCE_THETAS,
) -> list[Row]:
    """Run all trials that are not there yet, and summarise them.

    Args:
        out: Folder for `trials.json`, `summary.json` and the exact NLLs.
        methods: Of the `search` design, see `METHODS`.
        seeds: Of the searches; the demonstrations are those of seed 0.
        evaluations: Of each trial.
        on_trial: See `OnTrial`.
        data: Folder with the data, by default the cache.
        boxes: Which boxes of rewards.
        problem_options: A problem for `load_problem` instead, with its name; for a small version.
        n_reference: Thetas whose exact NLL is computed.
    """
    check_methods(methods)
    make_folder(out)
    wanted: dict[Hashable, Callable[[], Row]] = {}
    for box in boxes:
        options = problem_options or {"name": "borlange-virtual", "data": data, "seed": 0}
        problem = load_problem(**options, box=box)
        thetas, exact = reference(problem, out / f"reference_{box}.npz", n_reference)
        trial = partial(
            _trial, problem, thetas=thetas, exact=exact, box=box, evaluations=evaluations
        )
        for design, names in (("search", tuple(methods)), ("space-filling", tuple(SPACE_FILLING))):
            for name in names:
                for seed in seeds:
                    key = (problem.fingerprint(), design, name, seed, evaluations)
                    wanted[key] = partial(trial, design=design, method=name, seed=seed)
    summary = summarise(run_trials(out, wanted, _key, on_trial))
    write_summary(out, summary)
    return summary


def _trial(
    problem: TabularProblem,
    *,
    thetas: FloatArray,
    exact: FloatArray,
    box: str,
    design: str,
    method: str,
    seed: int,
    evaluations: int,
) -> Row:
    truth_nll = problem.evaluate(np.array(problem.truth)).nll
    if design == "search":
        quantile = float(np.nanquantile(exact, 0.9))
        start = hard_start(problem, seed, min(HARD_NLL[box], quantile))
        options: dict[str, Any] = {**METHODS[method], "initial": [start]}
    else:
        options = {**SPACE_FILLING[method], "initial": "sobol", "n_initial": evaluations}
    began = time.perf_counter()
    with warnings.catch_warnings():
        # That uniform roll-outs are saturated here is what is being compared.
        warnings.simplefilter("ignore", SaturationWarning)
        found = explore(problem, evaluations, seed=seed, **options)
    seconds = time.perf_counter() - began
    return {
        "problem": problem.fingerprint(),
        "box": box,
        "design": design,
        "method": method,
        "seed": seed,
        "evaluations": evaluations,
        "initial_nll": float(found.nll[0]),
        "best_nll": found.best_nll,
        "excess": found.best_nll / truth_nll - 1.0,
        "f1": set_f1(found, thetas, exact, TOLERANCE),
        "rmse": landscape_error(found, thetas[:RMSE_THETAS], exact[:RMSE_THETAS]).rmse,
        "seconds": seconds,
    }


def _key(row: Row) -> Hashable:
    return row["problem"], row["design"], row["method"], row["seed"], row["evaluations"]


def summarise(rows: Sequence[Row]) -> list[Row]:
    """Mean and worst of each measure, by box, design and method."""
    summary = []
    for group in dict.fromkeys((row["box"], row["design"], row["method"]) for row in rows):
        own = [row for row in rows if (row["box"], row["design"], row["method"]) == group]
        line: Row = dict(zip(("box", "design", "method"), group, strict=True))
        line["trials"] = len(own)
        for measure in MEASURES:
            values = [row[measure] for row in own]
            line[f"{measure}_mean"] = float(np.mean(values))
            line[f"{measure}_worst"] = min(values) if measure == "f1" else max(values)
        summary.append(line)
    return summary


EXPERIMENT = Experiment(
    run,
    {
        "box": lambda row: row["box"],
        "design": lambda row: row["design"],
        "method": lambda row: row["method"],
        "above truth": lambda row: f"{row['excess_mean']:.3%}",
        "worst": lambda row: f"{row['excess_worst']:.3%}",
        "F1": lambda row: f"{row['f1_mean']:.3f}",
        "lowest": lambda row: f"{row['f1_worst']:.3f}",
        "RMSE": lambda row: f"{row['rmse_mean']:.1f}",
        "highest": lambda row: f"{row['rmse_worst']:.1f}",
        "seconds": lambda row: f"{row['seconds_mean']:.0f}",
    },
    tiny={
        "methods": ["rho-rbf", "random"],
        "seeds": [1000],
        "evaluations": 4,
        "boxes": ["wide"],
        "problem_options": {"name": "road-network", "n_links": 60, "n_demonstrations": 20},
        "n_reference": 64,
    },
)
