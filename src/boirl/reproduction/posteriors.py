"""Posteriors of several environments in one figure: a row per kernel or value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from boirl.drawing.marks import mark_handles
from boirl.reproduction.environments import ENVIRONMENTS
from boirl.reproduction.facts import problem_cell
from boirl.reproduction.landscapes import landscape_cell
from boirl.reproduction.panels import EXCESS, legend_below, missing, posterior_panel, scale_of
from boirl.reproduction.plan import Plan, command
from boirl.reproduction.searches import FITS, search_cell
from boirl.reproduction.store import Cell, Store

TESTED = ("gridworld", "borlange wide", "maze", "fetch")
SEEDS = (0,)
NARROWEST = 8.0
"""Inches that the legend needs."""


class Line(NamedTuple):
    """A row of panels: which kernel, the mean or the sd, and a title."""

    method: str
    value: str
    title: str


def posterior_cells(plan: Plan, environments: Sequence[str], methods: Sequence[str]) -> list[Cell]:
    """Searches in some environments; facts and landscapes where they are exact, for the scale."""
    wanted = []
    for environment in plan.of(environments):
        own = ENVIRONMENTS[environment]
        if environment not in ("maze", "fetch"):
            wanted.append(problem_cell(plan, environment, own.chosen_seed))
        if environment == "gridworld":
            wanted.append(landscape_cell(plan, environment, 0.0))
        wanted += [
            search_cell(plan, environment, method, seed)
            for method in methods
            for seed in plan.seeds_or(SEEDS)
        ]
    return wanted


def draw_posteriors(store: Store, environments: Sequence[str], lines: Sequence[Line]) -> Figure:
    """One column per environment that was run, one scale per column."""
    methods = {line.method for line in lines}
    shown = [
        environment
        for environment in environments
        if any(store.select(FITS, environment=environment, method=one) for one in methods)
    ]
    if not shown:
        raise missing(", ".join(environments))
    size = (4.6 * len(shown) + 0.4, 3.9 * len(lines) + 0.7)
    figure = Figure(figsize=(max(size[0], NARROWEST), size[1]), layout="constrained")
    panels = figure.subplots(len(lines), len(shown), squeeze=False)
    for number, environment in enumerate(shown):
        scale = scale_of(store, environment)
        for axes, line in zip(panels[:, number], lines, strict=True):
            image = posterior_panel(axes, store, environment, line.method, scale, line.value)
            axes.set_title(f"{ENVIRONMENTS[environment].title}: {line.title}", fontsize=10)
            if image is not None:
                label = EXCESS if line.value == "mean" else "standard deviation (nats)"
                figure.colorbar(image, ax=axes, label=label)
    handles = mark_handles("the truth, or the best where it is learned")
    legend_below(figure, handles, 2 if len(shown) == 1 else 3)
    return figure


def describe_searches(
    store: Store, name: str, environments: Sequence[str], methods: Sequence[str]
) -> str:
    """Best NLLs and errors of the searches that the figure `name` draws, as a table."""
    lines = [
        "| environment | kernel | searches | evaluations | best NLL | above the truth's | RMSE |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for environment in environments:
        title = ENVIRONMENTS[environment].title
        for method in methods:
            rows = store.select(FITS, environment=environment, method=method)
            if not rows:
                gap = f"not run: {command(name, environment)}"
                lines.append(f"| {title} | `{method}` | {gap} | - | - | - | - |")
                continue
            longest = max(row["of"] for row in rows)
            rows = [row for row in rows if row["of"] == longest]
            best = np.mean([row["best_nll"] for row in rows])
            above = "-"
            if rows[0]["truth_nll"] is not None:
                above = f"{np.mean([row['best_nll'] - row['truth_nll'] for row in rows]):+.4f}"
            rmse = "-"
            if rows[0]["rmse"] is not None:
                rmse = f"{np.mean([row['rmse'] for row in rows]):.2f}"
            counts = f"{len(rows)} | {longest}"
            lines.append(f"| {title} | `{method}` | {counts} | {best:.3f} | {above} | {rmse} |")
    return "\n".join(lines)
