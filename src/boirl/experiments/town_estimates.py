"""Are standard errors on roads right? Estimates in generated towns, whose truth is known.

Each seed is a town with trips that its truth draws. `maximum_likelihood` estimates five weights,
and counts how often the truth is within two standard errors and within the 95 % interval.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import norm

from boirl.domains.roads.recursive_logit import RecursiveLogitProblem, recursive_logit_problem
from boirl.domains.roads.town import generate_town, quickest_trips
from boirl.estimation import maximum_likelihood
from boirl.experiments.trials import Experiment, OnTrial, Row, quiet, run_trials, write_summary

STREAM = 1601
N_LINKS = 600
"""Asked of `generate_town`, which makes about 700 of it."""

N_TRIPS = 1000
N_DESTINATIONS = 20
LONGEST_TRIP = 1000
U_TURN = -4.0
TRUTH = {"time": -2.0, "main": 0.4, "left": -0.8, "right": -0.4, "length": -1.5}
"""The weights of the demonstrators; u-turns are held at `U_TURN`."""

BOUNDS = {
    "time": (-8.0, 0.0),
    "main": (-1.0, 2.0),
    "left": (-3.0, 1.0),
    "right": (-3.0, 1.0),
    "length": (-6.0, 0.0),
}
LEVEL = 0.95


def build(seed: int, n_links: int, n_trips: int) -> RecursiveLogitProblem:
    """A town of this seed, with trips of the truth between random links and destinations."""
    rng = np.random.default_rng([STREAM, seed])
    network = generate_town(n_links, int(rng.integers(2**31)))
    ends = rng.choice(network.n_links, N_DESTINATIONS, replace=False)
    network = replace(network, destinations={i: ends[i : i + 1] for i in range(N_DESTINATIONS)})
    origins = rng.integers(network.n_links, size=n_trips)
    wanted = quickest_trips(network, rng.integers(N_DESTINATIONS, size=n_trips), origins)
    problem = recursive_logit_problem(network, wanted, utilities={**BOUNDS, "u-turn": U_TURN})
    truth = tuple(TRUTH.values())
    drawn = problem.demonstrate(truth, n_trips, seed, horizon=LONGEST_TRIP)
    return replace(problem, demonstrations=drawn, truth=truth, name=f"town-estimates-{seed}")


def run_trial(seed: int, n_links: int, n_trips: int) -> Row:
    """One town: how far its estimates are from the truth, in standard errors."""
    problem = build(seed, n_links, n_trips)
    began, began_cpu = time.perf_counter(), time.process_time()
    estimate = maximum_likelihood(problem)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
    return {
        "seed": seed,
        "asked": [n_links, n_trips],
        "links": problem.network.n_links,
        "trips": len(problem.demonstrations),
        "theta": estimate.theta.tolist(),
        "standard_errors": estimate.standard_errors.tolist(),
        "off": ((estimate.theta - np.array(problem.truth)) / estimate.standard_errors).tolist(),
        "agreeing": estimate.agreeing,
        "converged": estimate.converged,
        "evaluations": estimate.evaluations,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
    }


def run(
    out: Path,
    seeds: Sequence[int] = tuple(range(100)),
    on_trial: OnTrial = quiet,
    n_links: int = N_LINKS,
    n_trips: int = N_TRIPS,
) -> list[Row]:
    """Estimate in a town for each seed, see `Experiment`.

    Args:
        out: Folder for `trials.json` and `summary.json`.
        seeds: Of the towns.
        on_trial: See `OnTrial`.
        n_links: Of a town, about.
        n_trips: Of each town.
    """
    wanted: dict[Hashable, Callable[[], Row]] = {
        (seed, n_links, n_trips): partial(run_trial, seed, n_links, n_trips) for seed in seeds
    }
    rows = run_trials(out, wanted, lambda row: (row["seed"], *row["asked"]), on_trial)
    summary = summarise(rows)
    write_summary(out, summary)
    return summary


def summarise(rows: Sequence[Row]) -> list[Row]:
    """A line for each parameter, and one for all of them.

    A standard error that there is none of covers nothing.
    """
    off = np.abs(np.nan_to_num(np.array([row["off"] for row in rows]), nan=np.inf))
    seconds = {
        f"{name}_{kind}": float(measure([row[name] for row in rows]))
        for name in ("seconds", "cpu_seconds")
        for kind, measure in (("median", np.median), ("worst", np.max))
    }
    shared: Row = {
        "towns": len(rows),
        "trips": rows[0]["trips"],
        "links": [min(row["links"] for row in rows), max(row["links"] for row in rows)],
        "converged": sum(row["converged"] for row in rows),
        **seconds,
    }
    spread = np.array([row["off"] for row in rows])
    lines: list[Row] = []
    for number, (name, truth) in enumerate(TRUTH.items()):
        thetas = np.array([row["theta"][number] for row in rows])
        lines.append(
            {
                "parameter": name,
                "truth": truth,
                "mean_estimate": float(thetas.mean()),
                "sd_of_estimates": float(thetas.std(ddof=1)) if len(rows) > 1 else None,
                "mean_standard_error": float(
                    np.mean([row["standard_errors"][number] for row in rows])
                ),
                **_covered(off[:, number]),
                "mean_off": float(spread[:, number].mean()),
                **shared,
            }
        )
    return [*lines, {"parameter": "all", "truth": None, **_covered(off.ravel()), **shared}]


def _covered(off: np.ndarray) -> Row:
    return {
        "within_two_standard_errors": float((off <= 2.0).mean()),
        "coverage_of_95_percent": float((off <= norm.ppf(0.5 + LEVEL / 2.0)).mean()),
    }


EXPERIMENT = Experiment(
    run,
    {
        "parameter": lambda row: row["parameter"],
        "truth": lambda row: "" if row["truth"] is None else f"{row['truth']:g}",
        "mean estimate": lambda row: (
            f"{row['mean_estimate']:.3f}" if "mean_estimate" in row else ""
        ),
        "within 2 s.e.": lambda row: f"{row['within_two_standard_errors']:.1%}",
        "95 % intervals cover": lambda row: f"{row['coverage_of_95_percent']:.1%}",
        "seconds of a fit": lambda row: f"{row['seconds_median']:.2f}",
        "CPU seconds": lambda row: f"{row['cpu_seconds_median']:.2f}",
    },
    tiny={"seeds": [1000, 1001], "n_links": 80, "n_trips": 100},
)
