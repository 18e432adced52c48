"""What the figures share: one scale of NLLs, panels of landscapes, and curves.

The scale is that of all pictures, see `boirl.drawing.scales`, but starts lower: kernels also differ
in where they put the best of all good rewards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from boirl.drawing.marks import TRUTH, mark_nlls
from boirl.drawing.scales import NllScale, border_handles, draw_excess
from boirl.errors import InvalidInputError
from boirl.experiments.trials import Row
from boirl.reproduction.environments import ENVIRONMENTS
from boirl.reproduction.facts import fact_of
from boirl.reproduction.landscapes import TABLE as LANDSCAPES
from boirl.reproduction.searches import EVALUATIONS, FITS, POSTERIORS, numbers_in, seeds_of
from boirl.reproduction.store import Store, column
from boirl.types import FloatArray

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
"""Okabe and Ito's, which colour-blind readers can tell apart."""

DASHES = ("-", "--", "-.", ":")
STARTS = 0.01
"""Of the likelihood-ratio tolerance."""

EXCESS = "NLL above the lowest (nats per trajectory)"


def scale_of(store: Store, environment: str) -> NllScale:
    """From everything that a store holds of an environment: facts, landscapes, searches."""
    fits = store.select(FITS, environment=environment)
    fact = fact_of(store, environment, ENVIRONMENTS[environment].chosen_seed) or {}
    nlls = column(store.select(LANDSCAPES, environment=environment), "nll")
    nlls = nlls or column(store.select(EVALUATIONS, environment=environment), "nll")
    values = np.array([value for value in nlls if value is not None], dtype=np.float64)
    if not np.isfinite(values).any():
        raise missing(environment)
    known = [float(np.nanmin(values)), *column(fits, "best_nll"), fact.get("lowest_nll")]
    lowest = min(one for one in known if one is not None)
    tolerance = fact.get("tolerance") or fits[0]["tolerance"]
    truth = next((one["truth_nll"] for one in [fact, *fits] if one.get("truth_nll")), lowest)
    highest = float(np.nanmax(values))
    return NllScale.up_to(highest, lowest, tolerance, float(truth), STARTS)


def missing(what: str) -> InvalidInputError:
    """The error for a figure whose results are not there."""
    return InvalidInputError(
        f"there are no results of {what} to draw; run the same command without --draw first"
    )


def draw_nll(axes: Axes, rows: Sequence[Row], value: str, scale: NllScale) -> Any:
    """An NLL on a grid, by how far it is above the lowest, with its borders."""
    x, y, table = as_grid(rows, value)
    return draw_excess(axes, x, y, scale.excess(table), scale)


def as_grid(rows: Sequence[Row], value: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Columns `x` and `y` of a full grid, and a table of values, one row per y."""
    x, y = (np.unique(np.array(column(rows, name), dtype=np.float64)) for name in ("x", "y"))
    table = np.full((len(y), len(x)), np.nan)
    for row in rows:
        place = np.searchsorted(y, row["y"]), np.searchsorted(x, row["x"])
        table[place] = np.nan if row[value] is None else row[value]
    return x, y, table


def posterior_panel(
    axes: Axes,
    store: Store,
    environment: str,
    method: str,
    scale: NllScale,
    value: str = "mean",
    of: int | None = None,
) -> Any | None:
    """The posterior of the first search of a method, with its evaluations; None if there is none.

    Standard deviations (`value="sd"`) have the same scale, as differences of NLLs.
    """
    where: Row = {"environment": environment, "method": method}
    where |= {} if of is None else {"of": of}
    drawn = {(row["seed"], row["of"]) for row in store.select(POSTERIORS, **where)}
    fits = [row for row in store.select(FITS, **where) if (row["seed"], row["of"]) in drawn]
    if not fits:
        axes.text(0.5, 0.5, "not run", ha="center", va="center", transform=axes.transAxes)
        axes.set_axis_off()
        return None
    fit = max(fits, key=lambda row: (row["of"], -row["seed"]))
    where |= {"seed": fit["seed"], "of": fit["of"]}
    grid = store.select(POSTERIORS, **where)
    if value == "mean":
        image = draw_nll(axes, grid, value, scale)
    else:
        x, y, table = as_grid(grid, value)
        image = draw_excess(axes, x, y, np.maximum(table, scale.floor), scale, borders=False)
    evaluations = store.select(EVALUATIONS, **where)
    at = np.array([[row["theta0"], row["theta1"]] for row in evaluations])
    nll = np.array([np.nan if row["nll"] is None else row["nll"] for row in evaluations])
    mark_nlls(axes, nll, scale.compared, at)
    frame(axes, fit)
    return image


def frame(axes: Axes, fit: Row) -> None:
    """Names and bounds of the first two parameters, and the true reward."""
    names = [part.strip() for part in fit["names"].split(";")]
    low, high = numbers_in(fit["low"]), numbers_in(fit["high"])
    axes.set(xlabel=names[0], ylabel=names[1], xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    truth = numbers_in(fit["truth"] or "")
    if truth:
        axes.plot(*truth[:2], zorder=10, **TRUTH)


def best_curves(
    store: Store, environment: str, method: str, value: str, of: int | None = None
) -> FloatArray:
    """A value of the best reward so far after each evaluation, one row per search.

    A search that ended early keeps its last value.
    """
    curves = []
    for seed in seeds_of(store, environment, method):
        where: Row = {"environment": environment, "method": method, "seed": seed}
        rows = store.select(EVALUATIONS, **where)
        longest = of or max(row["of"] for row in rows)
        ordered = sorted(
            (row for row in rows if row["of"] == longest), key=lambda row: row["number"]
        )
        curve, latest = [], np.nan
        for row in ordered:
            latest = row[value] if row["best"] and row[value] is not None else latest
            curve.append(latest)
        if curve:
            curves.append(curve)
    width = max(map(len, curves), default=0)
    return np.array([curve + curve[-1:] * (width - len(curve)) for curve in curves])


def draw_curves(
    axes: Axes, curves: Mapping[str, FloatArray], colours: Sequence[str] = COLOURS
) -> None:
    """The median of each method's curves, `n x T`, and all of them around it, thinly."""
    for number, (name, table) in enumerate(curves.items()):
        colour, dash = colours[number % len(colours)], DASHES[number % len(DASHES)]
        steps = np.arange(table.shape[1])
        if len(table) > 1:
            for one in table:
                axes.step(steps, one, where="post", color=colour, alpha=0.25, linewidth=0.8)
        middle = np.nanmedian(table, axis=0) if len(table) > 1 else table[0]
        label = f"{name} ({len(table)})"
        axes.step(steps, middle, dash, where="post", color=colour, linewidth=2.0, label=label)
    axes.set_xlabel("evaluation (0 is the initial point)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)


def legend_below(figure: Figure, handles: Sequence[Line2D], columns: int = 5) -> None:
    """Say below a figure what its marks mean."""
    every = [*handles, *border_handles()]
    figure.legend(handles=every, loc="outside lower center", ncols=columns, fontsize=9)
