"""Pictures of replacement policies: by mileage, beside what was observed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from boirl.domains.bus_engines.problem import THOUSAND_MILES_PER_BIN, BusEngineProblem
from boirl.domains.bus_engines.stories import Story, tell_apart
from boirl.files import save_figure
from boirl.results import Result
from boirl.types import FloatArray

BINS_PER_POINT = 5
"""Bins whose observed months are drawn as one point."""

MOST_GROUPS = 4
MOST_REWARDS = 40
MILEAGE = "thousand miles since the last replacement"


def has_replacements(problem: Any) -> bool:
    """Whether a problem is about bus engines."""
    return isinstance(problem, BusEngineProblem)


def save_replacements(found: Result, folder: str | Path) -> list[Path]:
    """Write `replacements.png`: policies of the rewards within 10 % of the best, by group."""
    return [save_figure(rewards_figure(found), Path(folder) / "replacements.png")]


def rewards_figure(found: Result) -> Figure:
    """Replacement probabilities of the best of each group of rewards, and what was observed."""
    problem: Any = found.problem
    figure, (axes,) = _figure(f"{problem.name}: when rewards near the best replace", 1)
    for number, group in enumerate(found.groups()[:MOST_GROUPS]):
        for index in group.indices[:MOST_REWARDS]:
            axes.plot(
                miles(problem),
                found.policy(int(index)).probabilities[:, 1],
                color=f"C{number}",
                alpha=1.0 if index == group.indices[0] else 0.25,
                linewidth=2.0 if index == group.indices[0] else 0.7,
                label=f"NLL {group.nll:.4f}" if index == group.indices[0] else None,
            )
    _draw_observed(axes, problem)
    _finish(axes)
    return figure


def stories_figure(stories: Mapping[str, Story]) -> Figure:
    """Two stories: their replacement probabilities, and what a month in each bin says of them."""
    (first, one), (second, other) = stories.items()
    figure, (above, below) = _figure("two stories about the same replacements", 2)
    at = miles(one.problem)
    for name, story in stories.items():
        above.plot(at, story.replacement_probabilities, label=name, linewidth=2.0)
    _draw_observed(above, one.problem)
    _finish(above)
    above.set_xlabel("")
    for truth, rival, name in ((one, other, first), (other, one, second)):
        below.semilogy(at, tell_apart(truth, rival).by_bin, label=f"if the {name} story holds")
    below.set_ylim(1e-6, 1.0)
    below.set_ylabel("nats per month observed there")
    below.set_xlabel(MILEAGE)
    spent = below.twinx()
    months, _ = one.problem.observed_months()
    spent.fill_between(at, months / months.sum(), color="0.85", zorder=0)
    spent.set_ylabel("share of recorded months (grey)")
    spent.set_ylim(0.0, 4.0 * float((months / months.sum()).max()))
    below.set_zorder(spent.get_zorder() + 1)
    below.patch.set_visible(False)
    below.legend(frameon=False, loc="upper left")
    return figure


def _figure(title: str, rows: int) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(8.0, 1.0 + 3.6 * rows), layout="constrained")
    axes = figure.subplots(rows, 1, squeeze=False, sharex=True)[:, 0]
    axes[0].set_title(title)
    return figure, list(axes)


def miles(problem: BusEngineProblem) -> FloatArray:
    """Thousand miles since the last replacement in each state."""
    return THOUSAND_MILES_PER_BIN * np.arange(problem.mdp.n_states, dtype=np.float64)


def observed_shares(
    problem: BusEngineProblem,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Mileage, share of months with a replacement, and two standard errors below and above it."""
    months, replaced = problem.observed_months()
    starts = np.arange(0, len(months), BINS_PER_POINT)
    seen, changed = np.add.reduceat(months, starts), np.add.reduceat(replaced, starts)
    middle = np.add.reduceat(miles(problem) * months, starts)[seen > 0] / seen[seen > 0]
    # Adding two of each keeps the error of a share of 0 above 0 (Agresti and Coull, 1998).
    smooth = (changed + 2.0) / (seen + 4.0)
    error = 2.0 * np.sqrt(smooth * (1.0 - smooth) / (seen + 4.0))
    share = changed[seen > 0] / seen[seen > 0]
    low, high = (smooth - error)[seen > 0], (smooth + error)[seen > 0]
    return middle, share, np.maximum(low, 0.0), high


def _draw_observed(axes: Axes, problem: BusEngineProblem) -> None:
    middle, share, low, high = observed_shares(problem)
    bars = np.stack([np.maximum(share - low, 0.0), np.maximum(high - share, 0.0)])
    axes.errorbar(
        middle, share, bars, fmt="o", color="k", markersize=4, linewidth=1, label="observed"
    )


def _finish(axes: Axes) -> None:
    axes.set_ylim(0.0, 0.4)
    axes.set_ylabel("replacements per month")
    axes.set_xlabel(MILEAGE)
    axes.legend(frameon=False, loc="upper left")
