"""Figure 2: the exact NLL of Gridworld, and what each kernel makes of 30 evaluations."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from boirl.drawing.marks import mark_handles
from boirl.reproduction.environments import ENVIRONMENTS
from boirl.reproduction.facts import problem_cell
from boirl.reproduction.landscapes import landscape_cell, landscape_rows
from boirl.reproduction.methods import AS_PUBLISHED, WITH_LOG_RHO
from boirl.reproduction.panels import (
    EXCESS,
    draw_nll,
    frame,
    legend_below,
    missing,
    posterior_panel,
    scale_of,
)
from boirl.reproduction.plan import QUICK_EVALUATIONS, Item, Plan, not_run
from boirl.reproduction.searches import FITS, search_cell
from boirl.reproduction.statistics import bootstrap_mean
from boirl.reproduction.store import Cell, Store, column

ENVIRONMENT = "gridworld"
EVALUATIONS = 30
SEEDS = range(5)
KERNELS = ("rbf", "matern", "rho-rbf")
FEWEST = 5
"""Searches of either kernel without which their intervals are not compared."""

METHODS = (
    *(f"{kernel}{AS_PUBLISHED}" for kernel in KERNELS),
    WITH_LOG_RHO,
    *KERNELS,
)
"""In the order of the panels, after the exact landscape."""


def cells(plan: Plan) -> list[Cell]:
    """The exact landscape; searches with each kernel, as published and as they are here."""
    return [
        problem_cell(plan, ENVIRONMENT, ENVIRONMENTS[ENVIRONMENT].chosen_seed),
        landscape_cell(plan, ENVIRONMENT, 0.0),
        *(
            search_cell(plan, ENVIRONMENT, method, seed, EVALUATIONS)
            for method in METHODS
            for seed in plan.seeds_or(SEEDS)
        ),
    ]


def draw(store: Store) -> Figure:
    """Exact, RBF, Matern, rho-RBF as published; below with log rho, and as they are here."""
    scale = scale_of(store, ENVIRONMENT)
    figure = Figure(figsize=(17.0, 8.2), layout="constrained")
    panels = figure.subplots(2, 4, sharex=True, sharey=True)
    exact = landscape_rows(store, ENVIRONMENT, 0.0)
    fits = store.select(FITS, environment=ENVIRONMENT)
    if not exact or not fits:
        raise missing("the landscape and the searches of Gridworld")
    image = draw_nll(panels[0, 0], exact, "nll", scale)
    frame(panels[0, 0], fits[0])
    panels[0, 0].set_title("exact NLL")
    for axes, method in zip(panels.flat[1:], METHODS, strict=True):
        posterior_panel(axes, store, ENVIRONMENT, method, scale, of=_evaluations(store))
        rmse = _rmse(store, method)
        axes.set_title(method + (f": RMSE {np.mean(rmse):.2f}" if rmse else ""), fontsize=11)
        axes.label_outer()
    figure.colorbar(image, ax=panels, label=EXCESS)
    legend_below(figure, mark_handles("the truth"), 6)
    return figure


def _evaluations(store: Store) -> int:
    """30, or as many as a small version has."""
    found = set(column(store.select(FITS, environment=ENVIRONMENT), "of"))
    return EVALUATIONS if EVALUATIONS in found else QUICK_EVALUATIONS


def _rmse(store: Store, method: str) -> list[float]:
    where = {"environment": ENVIRONMENT, "method": method, "of": _evaluations(store)}
    return column(store.select(FITS, **where), "rmse")


def _verdicts(store: Store, ending: str) -> list[str]:
    """Whether the mean with rho-RBF is closer to the exact NLL than with the other kernels."""
    own = _rmse(store, f"rho-rbf{ending}")
    found = []
    for kernel in ("rbf", "matern"):
        other = _rmse(store, f"{kernel}{ending}")
        if min(len(own), len(other)) < FEWEST:
            continue
        ours, theirs = bootstrap_mean(own), bootstrap_mean(other)
        relation = "not told apart from"
        if ours.high < theirs.low:
            relation = "lower than"
        elif theirs.high < ours.low:
            relation = "higher than"
        found.append(f"The RMSE of `rho-rbf{ending}` is {relation} that of `{kernel}{ending}`.")
    return found


def describe(store: Store) -> str:
    """Errors of the posterior means over the whole box."""
    lines = ["| search | RMSE | 95 % interval | searches |", "| --- | --- | --- | --- |"]
    for method in METHODS:
        rmse = _rmse(store, method)
        if rmse:
            interval = "{:.2f} to {:.2f}".format(*bootstrap_mean(rmse))
            lines.append(f"| `{method}` | {np.mean(rmse):.2f} | {interval} | {len(rmse)} |")
    if len(lines) == 2:
        return not_run("figure2")
    return "\n".join(
        [
            f"RMSE of the posterior mean after {_evaluations(store)} evaluations, at thetas drawn "
            "uniformly from the whole box, in nats per trajectory, and its bootstrap interval:",
            "",
            *lines,
            "",
            *(verdict for ending in (AS_PUBLISHED, "") for verdict in _verdicts(store, ending)),
            "",
            "*As published*: rho itself, values alone, expected improvement, `K` = 10, `M` = 5; "
            "*but log rho* changes the projection and nothing else. Without a remark: log rho "
            "beside theta, values and exact gradients.",
        ]
    )


ITEM = Item(
    "The NLL of Gridworld, and the posterior mean of each kernel after 30 evaluations",
    "The paper shows the exact landscape and the means with RBF, Matern and rho-RBF, and concludes "
    "that RBF and Matern approximate it poorly and rho-RBF well.",
    cells,
    draw,
    describe,
)
