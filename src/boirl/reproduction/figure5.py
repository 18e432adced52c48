"""Figure 5: the posterior of Bayesian IRL beside the Gaussian process of BO-IRL."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from boirl.drawing.marks import mark_handles
from boirl.experiments.published import WALKS
from boirl.reproduction.densities import EXACT, TABLE, density_cell, variation
from boirl.reproduction.environments import ENVIRONMENTS
from boirl.reproduction.facts import problem_cell
from boirl.reproduction.landscapes import landscape_cell
from boirl.reproduction.panels import (
    EXCESS,
    as_grid,
    frame,
    legend_below,
    missing,
    posterior_panel,
    scale_of,
)
from boirl.reproduction.plan import Item, Plan, not_run
from boirl.reproduction.searches import FITS, search_cell
from boirl.reproduction.store import Cell, Store

SHOWN = ("gridworld", "borlange wide")
KERNEL = "rho-rbf"
SEEDS = (0,)
SAMPLED = (WALKS, "birl", KERNEL)
TITLES = {
    WALKS: "BIRL, one policy walk",
    "birl": "BIRL, chains that learn from each other",
    KERNEL: "BO-IRL, samples",
    EXACT: "exact posterior",
}


def cells(plan: Plan) -> list[Cell]:
    """Samples by three methods, the exact posterior of Gridworld, and a search."""
    wanted = []
    for environment in plan.of(SHOWN):
        for seed in plan.seeds_or(SEEDS)[:1]:
            wanted += [
                problem_cell(plan, environment, ENVIRONMENTS[environment].chosen_seed),
                search_cell(plan, environment, KERNEL, seed),
                *(density_cell(plan, environment, method, seed) for method in SAMPLED),
            ]
        if environment == "gridworld":
            wanted.append(density_cell(plan, environment, EXACT, 0))
            wanted.append(landscape_cell(plan, environment, 0.0))
    return wanted


def draw(store: Store) -> Figure:
    """By environment: the exact posterior, samples by each method, and the posterior NLL."""
    shown = [one for one in SHOWN if _is_run(store, one)]
    if not shown:
        raise missing("searches and samples")
    columns = (EXACT, *SAMPLED, "nll")
    figure = Figure(figsize=(4.2 * len(columns), 4.1 * len(shown) + 0.5), layout="constrained")
    panels = figure.subplots(len(shown), len(columns), squeeze=False)
    for row, environment in zip(panels, shown, strict=True):
        scale = scale_of(store, environment)
        densities = {
            method: store.select(TABLE, environment=environment, method=method)
            for method in columns[:-1]
        }
        highest = max(
            (one["density"] for one in densities[EXACT] or densities[KERNEL]), default=1.0
        )
        fit = store.select(FITS, environment=environment, method=KERNEL)[0]
        for axes, (method, rows) in zip(row, densities.items(), strict=False):
            image = _density_panel(axes, rows, highest, fit)
            axes.set_title(TITLES[method])
        if image is not None:
            figure.colorbar(image, ax=row[-2], label="density, uniform = 1", extend="max")
        mean: Any = posterior_panel(row[-1], store, environment, KERNEL, scale)
        row[-1].set_title("BO-IRL, posterior mean of the NLL")
        row[0].set_title(f"{ENVIRONMENTS[environment].title}: {TITLES[EXACT]}")
        figure.colorbar(mean, ax=row[-1], label=EXCESS)
    legend_below(figure, mark_handles("the truth"), 6)
    return figure


def _is_run(store: Store, environment: str) -> bool:
    """Whether there are samples and a search."""
    found = store.select(FITS, environment=environment, method=KERNEL)
    return bool(found and store.select(TABLE, environment=environment))


def _density_panel(axes: Axes, rows: list[Any], highest: float, fit: Any) -> Any:
    if not rows:
        axes.text(0.5, 0.5, "not computed", ha="center", va="center", transform=axes.transAxes)
        axes.set_axis_off()
        return None
    x, y, table = as_grid(rows, "density")
    image = axes.pcolormesh(x, y, table, cmap="cividis", vmin=0.0, vmax=highest, rasterized=True)
    frame(axes, fit)
    return image


def describe(store: Store) -> str:
    """Total variation of each set of samples from the exact posterior, on Gridworld."""
    measured = {method: variation(store, "gridworld", method) for method in SAMPLED}
    found = {method: value for method, value in measured.items() if value is not None}
    if not found:
        return not_run("figure5")
    farthest = max(found, key=found.__getitem__)
    shown = "; ".join(f"{TITLES[method]}: {value:.2f}" for method, value in found.items())
    gaps = [not_run("figure5", one) for one in SHOWN if not _is_run(store, one)]
    text = (
        "Total variation from the exact posterior on Gridworld, over cells of the first two "
        f"parameters, one seed: {shown}. Farthest from it: {TITLES[farthest]}. "
        "`boirl experiment birl-posterior` measures this over ten seeds."
    )
    return "\n\n".join([text, *gaps])


ITEM = Item(
    "Posterior of Bayesian IRL, and of BO-IRL's Gaussian process",
    "(a), (c) BIRL puts its probability next to the truth and ignores other regions; (b), (d) "
    "BO-IRL finds several regions, and rewards better than the true one.",
    cells,
    draw,
    describe,
)
