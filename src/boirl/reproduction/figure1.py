"""Figure 1: the running example, its landscapes, and rewards that fall on one point."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from boirl.domains.gridworld.environment import COINS, SIDE
from boirl.reproduction.environments import ENVIRONMENTS
from boirl.reproduction.facts import problem_cell
from boirl.reproduction.landscapes import landscape_cell, landscape_rows
from boirl.reproduction.panels import EXCESS, draw_nll, legend_below, missing, scale_of
from boirl.reproduction.plan import Item, Plan, not_run
from boirl.reproduction.projected import (
    ENVIRONMENT,
    TABLE,
    distances,
    is_invariant,
    mark_theta,
    projection_cell,
    projection_panel,
    theta_handles,
)
from boirl.reproduction.store import Cell, Store

TRANSLATIONS = (0.0, 2.0)
DEMONSTRATIONS = 10


def cells(plan: Plan) -> list[Cell]:
    """Landscapes at two translations; both projections; the lowest NLL, for the scale."""
    return [
        problem_cell(plan, ENVIRONMENT, ENVIRONMENTS[ENVIRONMENT].chosen_seed),
        *(landscape_cell(plan, ENVIRONMENT, held) for held in TRANSLATIONS),
        *(
            projection_cell(plan, projection, DEMONSTRATIONS, TRANSLATIONS[1])
            for projection in ("rho", "log-rho")
        ),
    ]


def draw(store: Store) -> Figure:
    """(a) the grid, (b) and (c) the NLL at two translations, (d) rho, and its logarithm."""
    scale = scale_of(store, ENVIRONMENT)
    figure = Figure(figsize=(19.0, 4.5), layout="constrained")
    panels = figure.subplots(1, 5)
    grid_panel(panels[0])
    for axes, held, mark in zip(panels[1:3], TRANSLATIONS, "ab", strict=True):
        rows = landscape_rows(store, ENVIRONMENT, held)
        if not rows:
            raise missing("the landscapes of Gridworld")
        image = draw_nll(axes, rows, "nll", scale)
        axes.set(title=f"translation {held:g}", xlabel="steepness", ylabel="midpoint")
        for row in store.select(TABLE, k=DEMONSTRATIONS, mark=mark, projection="rho"):
            mark_theta(axes, mark, row["theta0"], row["theta1"])
        if mark == "a":
            for other in "cd":
                for row in store.select(TABLE, k=DEMONSTRATIONS, mark=other, projection="rho"):
                    mark_theta(axes, other, row["theta0"], row["theta1"])
    for axes, projection in zip(panels[3:], ("rho", "log-rho"), strict=True):
        projection_panel(axes, store, projection, DEMONSTRATIONS, TRANSLATIONS[1], scale)
    for axes, letter in zip(panels, "abcde", strict=True):
        axes.set_title(f"({letter}) {axes.get_title()}")
    figure.colorbar(image, ax=panels, label=EXCESS, fraction=0.02)
    legend_below(figure, theta_handles(), 7)
    return figure


def grid_panel(axes: Axes) -> None:
    """The 6 x 6 grid with its coins, and where demonstrations start."""
    for state in range(SIDE * SIDE):
        x, y = state % SIDE, state // SIDE
        colour = "#56b4e9" if y == 0 else "white"
        colour = "#e69f00" if state in COINS else colour
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="black"))
        if state in COINS:
            axes.text(x + 0.5, y + 0.5, f"{COINS[state]:g}", ha="center", va="center", fontsize=12)
    axes.set(xlim=(0, SIDE), ylim=(0, SIDE), aspect="equal", title="coins; blue: starts")
    axes.set(xticks=[], yticks=[])


def describe(store: Store) -> str:
    """Which pairs meet in which space."""
    lines = [
        "| space | a to b (policy invariant) | c to d (of the same NLL) | two rewards at random |",
        "| --- | --- | --- | --- |",
    ]
    verdicts = []
    for projection in ("rho", "log-rho"):
        found = distances(store, projection, DEMONSTRATIONS, TRANSLATIONS[1])
        if found is None:
            return not_run("figure1")
        shown = " | ".join(f"{found[one]:.2g}" for one in ("a to b", "c to d", "at random"))
        lines.append(f"| {projection} | {shown} |")
        same = "one point" if is_invariant(found) else "different points"
        near = "nearer to each other" if found["c to d"] < found["at random"] else "no nearer"
        verdicts.append(
            f"In {projection}-space a and b are {same}, and c and d are {near} than two rewards at "
            "random."
        )
    return "\n".join(
        [
            "Distances in the two components, in standard deviations of rewards all over the box.",
            "",
            *lines,
            "",
            *verdicts,
            "(c) is (b), the landscape at another translation. Rewards c and d are the two that "
            "are farthest apart in the box among good ones whose NLLs differ by less than the "
            "tolerance, the hardest case; the paper does not give its own. They explain the "
            "demonstrations equally well by other behaviour: rewards that are projected close "
            "together have similar NLLs, the converse need not hold.",
        ]
    )


ITEM = Item(
    "Gridworld: rewards that look different and behave alike",
    "(a) the grid; (b), (c) NLL of 50 demonstrations without translation and with a translation of "
    "2; (d) policy-invariant rewards map to one point, rewards of similar likelihood nearby.",
    cells,
    draw,
    describe,
)
