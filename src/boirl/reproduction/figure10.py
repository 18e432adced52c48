"""Figure 10: the maze, by the distance of the best target and by its ESOR."""

from __future__ import annotations

from matplotlib.figure import Figure

from boirl.reproduction.facts import fact_of, problem_cell
from boirl.reproduction.methods import KERNELS_SHOWN
from boirl.reproduction.panels import best_curves, draw_curves, missing
from boirl.reproduction.plan import Item, Plan, not_run
from boirl.reproduction.searches import search_cell
from boirl.reproduction.store import Cell, Store

ENVIRONMENT = "maze"
METHODS = (*KERNELS_SHOWN, "random")
SEEDS = range(3)
DEMONSTRATIONS = 0


def cells(plan: Plan) -> list[Cell]:
    """Searches with each kernel, and random search."""
    if not plan.of([ENVIRONMENT]):
        return []
    searches = [
        search_cell(plan, ENVIRONMENT, method, seed)
        for method in METHODS
        for seed in plan.seeds_or(SEEDS)
    ]
    return [problem_cell(plan, ENVIRONMENT, DEMONSTRATIONS), *searches]


def draw(store: Store) -> Figure:
    """(a) distance to the true target, (b) ESOR beside the expert's."""
    figure = Figure(figsize=(12.0, 4.4), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, value in zip(panels, ("distance", "esor"), strict=True):
        curves = {one: best_curves(store, ENVIRONMENT, one, value) for one in METHODS}
        if not any(table.size for table in curves.values()):
            raise missing("the maze")
        draw_curves(axes, {name: table for name, table in curves.items() if table.size})
    panels[0].set(
        title="(a) best target so far", ylabel="distance to the true target", ylim=(0, None)
    )
    panels[1].set(title="(b) ESOR of the best target so far", ylabel="expected sum of true rewards")
    fact = fact_of(store, ENVIRONMENT, DEMONSTRATIONS)
    if fact is not None:
        panels[1].axhline(fact["expert_esor"], color="black", linewidth=1, label="expert")
    panels[1].legend(fontsize=9, title="median (searches)")
    return figure


def describe(store: Store) -> str:
    """Distance and ESOR at the end, by method."""
    lines = [
        "| method | searches | distance at the end | ESOR at the end |",
        "| --- | --- | --- | --- |",
    ]
    for method in METHODS:
        distance, esor = (
            best_curves(store, ENVIRONMENT, method, one) for one in ("distance", "esor")
        )
        if distance.size:
            lines.append(
                f"| `{method}` | {len(distance)} | {distance[:, -1].mean():.3f} | "
                f"{esor[:, -1].mean():.3f} |"
            )
    return "\n".join(lines) if len(lines) > 2 else not_run("figure10")


ITEM = Item(
    "Point mass maze: distance and ESOR of the best target so far",
    "rho-RBF comes close to the target at iteration 4, then explores targets of lower NLL that are "
    "farther away and no better in ESOR.",
    cells,
    draw,
    describe,
)
