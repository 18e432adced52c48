"""A far-sighted or a myopic manager? Two stories about the same replacements of bus engines.

For each story: maximum likelihood with standard errors and profile intervals; searches of 30
evaluations, whose likelihood-ratio intervals are compared with the classical ones; and how many
further bus-months would tell it from the other story, at prices of replacement as they are and
otherwise. Writes `stories.png`, too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from boirl.datasets import data_folder
from boirl.domains.bus_engines.made_up import make_up_buses
from boirl.domains.bus_engines.pictures import stories_figure
from boirl.domains.bus_engines.problem import (
    FAR_SIGHTED,
    GROUP,
    MYOPIC,
    BusEngineProblem,
    bus_engine_problem,
)
from boirl.domains.bus_engines.records import BusRecords, read_buses
from boirl.domains.bus_engines.stories import Story, largest_difference, refit, tell_apart
from boirl.estimation import Estimate, maximum_likelihood
from boirl.experiments.trials import Experiment, OnTrial, Row, quiet, run_trials, write_summary
from boirl.files import save_figure
from boirl.results import RewardSet
from boirl.search import explore
from boirl.types import FloatArray

STORIES = {"far-sighted": FAR_SIGHTED, "myopic": MYOPIC}
BOXES = {
    ("far-sighted", "usual"): (10.0, 20.0),
    ("far-sighted", "wide"): (20.0, 30.0),
    ("myopic", "usual"): (200.0, 20.0),
    ("myopic", "wide"): (400.0, 30.0),
}
"""Upper bounds of maintenance and replacement."""

PRICES = (1.0, 0.5, 0.75, 1.25, 1.5)
"""Factors of the price of a replacement at which buses might be observed."""

LEVEL = 0.95
TAILS = (0.025, 0.975)
CLOSE = 0.1
"""Share of its width within which an interval agrees with the classical one."""


def run(
    out: Path,
    evaluations: int = 30,
    seeds: Sequence[int] = tuple(range(1000, 1005)),
    data: str | None = None,
    searches: Sequence[tuple[str, str]] = tuple(BOXES),
    made_up_buses: int | None = None,
    on_trial: OnTrial = quiet,
) -> list[Row]:
    """Fit both stories and search in both of their boxes; see `Experiment`.

    Args:
        out: Folder for the results.
        evaluations: Of each search.
        seeds: Of the searches.
        data: Folder with `buses.csv`, by default the cache.
        searches: Stories and boxes to search in, some of `BOXES`.
        made_up_buses: That many made-up buses in place of the recorded ones.
        on_trial: See `OnTrial`.
    """
    if made_up_buses is None:
        records = read_buses(data_folder("bus-engines", data)).of_group(GROUP)
    else:
        records = make_up_buses(made_up_buses)
    estimates = {name: maximum_likelihood(_problem(records, name)) for name in STORIES}
    stories = {name: Story(_problem(records, name), one.theta) for name, one in estimates.items()}
    wanted: dict[Hashable, Callable[[], Row]] = {}
    for name, box in searches:
        problem = _problem(records, name, box)
        classical = profile_intervals(estimates[name])
        for seed in seeds:
            key = (problem.fingerprint(), name, box, evaluations, seed)
            wanted[key] = partial(_search, problem, name, box, evaluations, seed, classical)
    trials = run_trials(
        out,
        wanted,
        lambda row: tuple(row[k] for k in ("problem", "story", "box", "evaluations", "seed")),
        on_trial,
    )
    summary = [
        {
            **_classical(name, estimate),
            **_telling_apart(name, stories),
            "searches": [row for row in trials if row["story"] == name],
        }
        for name, estimate in estimates.items()
    ]
    write_summary(out, summary)
    save_figure(stories_figure(stories), out / "stories.png")
    return summary


def profile_intervals(known: Estimate | RewardSet) -> FloatArray:
    """Profile intervals of all parameters, `d x 2`."""
    found = [known.profile_interval(name, LEVEL) for name in known.problem.box.names]
    return np.array([(one.low, one.high) for one in found])


def _problem(records: BusRecords, story: str, box: str = "usual") -> BusEngineProblem:
    return bus_engine_problem(records, STORIES[story], *BOXES[story, box])


def _search(
    problem: BusEngineProblem,
    story: str,
    box: str,
    evaluations: int,
    seed: int,
    classical: FloatArray,
) -> Row:
    found = explore(problem, evaluations, seed=seed)
    intervals = profile_intervals(found)
    widths, wanted = (one[:, 1] - one[:, 0] for one in (intervals, classical))
    middles = (intervals.mean(axis=1) - classical.mean(axis=1)) / wanted
    return {
        "problem": problem.fingerprint(),
        "story": story,
        "box": box,
        "evaluations": evaluations,
        "seed": seed,
        "intervals": intervals.tolist(),
        "width_ratios": (widths / wanted).tolist(),
        "centre_offsets": middles.tolist(),
        "posterior_intervals": np.quantile(found.sample(), TAILS, axis=0).T.tolist(),
        "close": bool(
            (np.abs(widths / wanted - 1.0) <= CLOSE).all() and (np.abs(middles) <= CLOSE).all()
        ),
        "health": [one.name for one in found.health().attention],
    }


def _classical(name: str, estimate: Estimate) -> Row:
    half = 1.959964 * estimate.standard_errors
    return {
        "story": name,
        "gamma": estimate.problem.gamma,
        "names": list(estimate.names),
        "theta": estimate.theta.tolist(),
        "standard_errors": estimate.standard_errors.tolist(),
        "log_likelihood": estimate.log_likelihood,
        "profile_intervals": profile_intervals(estimate).tolist(),
        "wald_intervals": np.stack([estimate.theta - half, estimate.theta + half], axis=1).tolist(),
    }


def _telling_apart(name: str, stories: Mapping[str, Story]) -> Row:
    """If this story is true: how soon the other one is refuted."""
    truth = stories[name]
    (rival,) = (story for other, story in stories.items() if other != name)
    best = refit(truth, rival)
    as_fitted = tell_apart(truth, rival)
    prices = []
    for factor in PRICES:
        one, other = truth.with_price(factor), best.with_price(factor)
        apart = tell_apart(one, other)
        prices.append(
            {
                "price": factor,
                "nats_per_month": apart.per_month,
                "months_needed": apart.months_needed,
                "best_bin": apart.best_bin,
                "months_needed_in_best_bin": apart.months_needed_in_best_bin,
                "replacements_per_year": one.replacements_per_year,
                "rival_replacements_per_year": other.replacements_per_year,
            }
        )
    return {
        "largest_difference_bin": largest_difference(truth, rival),
        "replacement_probabilities": truth.replacement_probabilities.tolist(),
        "nats_by_bin": as_fitted.by_bin.tolist(),
        "months_needed_without_refit": as_fitted.months_needed,
        "rival_refitted": best.theta.tolist(),
        "prices": prices,
    }


def _estimates(row: Row) -> str:
    parts = zip(row["names"], row["theta"], row["standard_errors"], strict=True)
    return ", ".join(f"{name} {value:.4g} ± {error:.3g}" for name, value, error in parts)


EXPERIMENT = Experiment(
    run,
    {
        "story": lambda row: row["story"],
        "gamma": lambda row: f"{row['gamma']:g}",
        "log-likelihood": lambda row: f"{row['log_likelihood']:.4f}",
        "estimates": _estimates,
        "bus-months to tell": lambda row: f"{row['prices'][0]['months_needed']:.0f}",
        "at half the price": lambda row: f"{row['prices'][1]['months_needed']:.0f}",
        "searches that agree": lambda row: (
            f"{sum(one['close'] for one in row['searches'])} of {len(row['searches'])}"
        ),
    },
    tiny={
        "evaluations": 3,
        "seeds": [1000],
        "searches": [("far-sighted", "usual")],
        "made_up_buses": 12,
    },
)
