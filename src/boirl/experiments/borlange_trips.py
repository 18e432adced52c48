"""What were the people of Borlange after? The rewards that explain their recorded trips.

Two searches: the 54 trips to one destination in the decision problem of the paper, and all 1,832
trips in recursive-logit form. For each, `rewards.npz`, pictures, maps and `report.json` with the
groups of rewards that behave alike; for the latter, the posterior over rewards beside the classical
intervals.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from boirl.drawing.views import save_pictures
from boirl.estimation import maximum_likelihood
from boirl.experiments.trials import Experiment, OnTrial, Row, quiet, write_summary
from boirl.files import make_folder, write_bytes
from boirl.problem import Problem, load_problem
from boirl.results import RewardSet
from boirl.search import Study

PROBLEMS: dict[str, dict[str, Any]] = {"borlange-real": {}, "borlange-recursive-logit": {}}
"""Options of each problem, by name."""

PUBLISHED = {"borlange-recursive-logit": (-2.494, -0.933, -0.411, -4.459)}
"""Maximum-likelihood estimates in the literature (Fosgerau et al., 2013)."""

TOLERANCE = 0.01
DISTANCE = 0.02
CONFIDENCE = 0.95
SAMPLES = 4000
"""Of the posterior over rewards; quantiles of them are a twentieth of a standard error off."""


def run(
    out: Path,
    evaluations: int = 80,
    seeds: Sequence[int] = (0,),
    on_trial: OnTrial = quiet,
    data: str | None = None,
    problems: Mapping[str, Mapping[str, Any]] = PROBLEMS,
) -> list[Row]:
    """Search on both problems; an interrupted search goes on where it was.

    Args:
        out: Folder with one for each problem and seed, and `summary.json`.
        evaluations: Of each search.
        seeds: Of the searches.
        on_trial: See `OnTrial`.
        data: Folder with the data, by default the cache.
        problems: Other problems on roads, with their options.
    """
    rows = []
    wanted = [(name, seed) for name in problems for seed in seeds]
    for name, seed in wanted:
        folder = out / name / f"seed-{seed}"
        make_folder(folder)
        options = dict(problems[name])
        if data is not None and "borlange" in name:
            options["data"] = data
        study = Study(
            load_problem(name, **options), seed=seed, storage=f"sqlite:///{folder / 'search.db'}"
        )
        found = study.run(evaluations)
        found.save(folder / "rewards.npz")
        save_pictures(found, folder)
        row = {"seed": seed, **report(found, name)}
        write_bytes(folder / "report.json", (json.dumps(row, indent=2) + "\n").encode())
        rows.append(row)
        on_trial(len(rows), len(wanted))
    write_summary(out, rows)
    return rows


def report(found: RewardSet, name: str) -> Row:
    """The best reward, those that the trips do not reject, and groups of those near the best."""
    trips = len(found.problem.demonstrations)
    tolerance = found.likelihood_ratio_tolerance(CONFIDENCE)
    groups = found.groups(TOLERANCE, DISTANCE)
    row: Row = {
        "problem": name,
        "trips": trips,
        "evaluations": len(found),
        "failed": int(np.isnan(found.nll).sum()),
        "names": list(found.names),
        "best": found.best.tolist(),
        "best_nll": found.best_nll,
        "likelihood_ratio_tolerance": tolerance,
        "within_likelihood_ratio": found.within(tolerance, absolute=True).tolist(),
        "tolerance": TOLERANCE,
        "rewards_within": len(found.within(TOLERANCE)),
        "groups": [
            {"theta": g.representative.tolist(), "nll": g.nll, "rewards": len(g.indices)}
            for g in groups
        ],
    }
    if name in PUBLISHED:
        row["published"] = _published(found.problem, PUBLISHED[name])
        row["classical"] = compare_with_classical(found)
    return row


def compare_with_classical(found: RewardSet) -> Row:
    """How far the best reward and the 95 % intervals are from those of maximum likelihood.

    Widths are in those of the classical intervals, medians in standard errors from the maximum.
    """
    estimate = maximum_likelihood(found.problem, starts=1, initial=found.best)
    low, median, high = np.quantile(found.sample(SAMPLES), [0.025, 0.5, 0.975], axis=0)
    errors = estimate.standard_errors
    width = 2.0 * float(norm.ppf(0.975)) * errors
    return {
        "log_likelihood": estimate.log_likelihood,
        "best_below_maximum": len(found.problem.demonstrations) * (found.best_nll - estimate.nll),
        "widths": ((high - low) / width).tolist(),
        "centres": ((median - estimate.theta) / errors).tolist(),
    }


def _published(problem: Problem[Any], theta: tuple[float, ...]) -> dict[str, Any]:
    return {"theta": list(theta), "nll": problem.evaluate(theta).nll}


def _best(row: Row) -> str:
    pairs = zip(row["names"], row["best"], strict=True)
    return ", ".join(f"{name} {value:.3f}" for name, value in pairs)


def _classical(row: Row, name: str) -> str:
    """A number, or the range of several, for a table."""
    if "classical" not in row:
        return "-"
    values = np.atleast_1d(row["classical"][name])
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{values.min():.2f} to {values.max():.2f}"


EXPERIMENT = Experiment(
    run,
    {
        "problem": lambda row: row["problem"],
        "trips": lambda row: str(row["trips"]),
        "best reward": _best,
        "NLL": lambda row: f"{row['best_nll']:.5f}",
        "published": lambda row: f"{row['published']['nll']:.5f}" if "published" in row else "-",
        "below maximum": lambda row: _classical(row, "best_below_maximum"),
        "widths": lambda row: _classical(row, "widths"),
        "centres": lambda row: _classical(row, "centres"),
        "not rejected": lambda row: str(len(row["within_likelihood_ratio"])),
        "within 1 %": lambda row: str(row["rewards_within"]),
        "behaviours": lambda row: str(len(row["groups"])),
    },
    tiny={
        "evaluations": 4,
        "seeds": [1000],
        "problems": {"road-network": {"n_links": 60, "n_demonstrations": 20}},
    },
)
