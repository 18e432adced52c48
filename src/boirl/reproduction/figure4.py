"""Figure 4: the four environments."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from boirl.domains.roads.layout import lay_out
from boirl.drawing.marks import TRUTH
from boirl.reproduction.environments import ENVIRONMENTS, build_problem
from boirl.reproduction.figure1 import grid_panel
from boirl.reproduction.panels import missing
from boirl.reproduction.plan import Item, Plan
from boirl.reproduction.store import Cell, Store, Tables, rounded

TABLE = "roads"
ENVIRONMENT = "borlange wide"


def cells(plan: Plan) -> list[Cell]:
    """Where the roads lie; the other environments are drawn from what they are."""
    if not plan.of([ENVIRONMENT]):
        return []
    chosen = ENVIRONMENTS[ENVIRONMENT].chosen_seed
    return [
        Cell(
            "roads",
            {"environment": ENVIRONMENT},
            {"quick": plan.quick},
            partial(_roads, chosen, plan.quick, plan.data),
        )
    ]


def _roads(demonstrations: int | None, quick: bool, data: str | None) -> Tables:
    problem: Any = build_problem(ENVIRONMENT, demonstrations, quick, data)
    visits = problem.demonstrated_visits()
    places = lay_out(problem.network).reshape(-1, 4)
    return {
        TABLE: [
            {
                **{
                    name: rounded(value, 4)
                    for name, value in zip(("x0", "y0", "x1", "y1"), link, strict=True)
                },
                "visits": rounded(count, 3),
            }
            for link, count in zip(places, visits, strict=True)
        ]
    }


def draw(store: Store) -> Figure:
    """(a) Gridworld, (b) Borlange, (c) the maze, (d) Fetch-Reach from above."""
    figure = Figure(figsize=(17.0, 4.6), layout="constrained")
    panels = figure.subplots(1, 4)
    grid_panel(panels[0])
    _draw_roads(panels[1], store)
    _draw_maze(panels[2])
    _draw_fetch(panels[3])
    titles = (
        "Gridworld: coins; blue: starts",
        "Borlange; orange: demonstrated",
        "Point mass maze; blue: starts",
        "Fetch-Reach from above",
    )
    for axes, letter, title in zip(panels, "abcd", titles, strict=True):
        axes.set_title(f"({letter}) {title}")
    return figure


def _draw_roads(axes: Axes, store: Store) -> None:
    rows = store.select(TABLE, environment=ENVIRONMENT)
    if not rows:
        raise missing("the roads of Borlange")
    links = np.array([[[row["x0"], row["y0"]], [row["x1"], row["y1"]]] for row in rows])
    passed = np.array([row["visits"] for row in rows]) > 0.0
    axes.add_collection(LineCollection(list(links), colors="0.7", linewidths=0.5))
    axes.add_collection(LineCollection(list(links[passed]), colors="#d55e00", linewidths=1.0))
    low, high = np.percentile(links.reshape(-1, 2), [1.0, 99.0], axis=0)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xticks=[], yticks=[])


def _draw_maze(axes: Axes) -> None:
    from boirl.domains.maze import dynamics
    from boirl.domains.maze.env import START_HIGH, START_LOW
    from boirl.domains.maze.env import TRUTH as TARGET

    (x, y), (right, top) = START_LOW, START_HIGH
    axes.add_patch(Rectangle((x, y), right - x, top - y, color="#56b4e9", alpha=0.5))
    for x0, y0, x1, y1 in dynamics.WALLS:
        axes.plot([x0, x1], [y0, y1], color="0.3", linewidth=6, solid_capstyle="round")
    axes.plot(TARGET["x"], TARGET["y"], **TRUTH)
    axes.set(aspect="equal", xlabel="x", ylabel="y")


def _draw_fetch(axes: Axes) -> None:
    from boirl.domains.fetch.environment import GOAL_RANGE, SUCCESS_DISTANCE

    reach, near = 100.0 * GOAL_RANGE, 100.0 * SUCCESS_DISTANCE
    axes.add_patch(Rectangle((-reach, -reach), 2 * reach, 2 * reach, color="#56b4e9", alpha=0.4))
    axes.plot(0.0, 0.0, "ko", label="gripper at the start")
    goal = (0.6 * reach, 0.4 * reach)
    axes.add_patch(Circle(goal, near, color="#d55e00", alpha=0.4, label="success, 5 cm"))
    axes.plot(*goal, **TRUTH, label="a goal; blue: where goals are drawn")
    axes.set(aspect="equal", xlabel="x, in cm", ylabel="y, in cm")
    axes.set(xlim=(-1.4 * reach, 1.4 * reach), ylim=(-1.4 * reach, 1.9 * reach))
    axes.legend(fontsize=8, loc="upper left")


def describe(store: Store) -> str:
    return (
        "The roads have no coordinates in the data: they are laid out by turn angles and travel "
        "times. The maze is the left one of the AIRL paper."
    )


ITEM = Item(
    "The environments",
    "(a) Gridworld, (b) the Borlange road network, (c) the point mass maze, (d) Fetch-Reach.",
    cells,
    draw,
    describe,
)
