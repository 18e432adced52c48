"""Figure 8: posterior mean and standard deviation with rho-RBF in all environments."""

from __future__ import annotations

from matplotlib.figure import Figure

from boirl.reproduction.plan import Item, Plan
from boirl.reproduction.posteriors import (
    TESTED,
    Line,
    describe_searches,
    draw_posteriors,
    posterior_cells,
)
from boirl.reproduction.store import Cell, Store

KERNEL = "rho-rbf"
LINES = (Line(KERNEL, "mean", "mean"), Line(KERNEL, "sd", "standard deviation"))


def cells(plan: Plan) -> list[Cell]:
    """A search in each environment."""
    return posterior_cells(plan, TESTED, [KERNEL])


def draw(store: Store) -> Figure:
    """Means above, standard deviations below."""
    return draw_posteriors(store, TESTED, LINES)


def describe(store: Store) -> str:
    return describe_searches(store, TESTED, [KERNEL])


ITEM = Item(
    "Posterior mean and standard deviation with rho-RBF",
    "The uncertainty is low where the NLL is low: the search has concentrated on uncovering "
    "regions of high likelihood.",
    cells,
    draw,
    describe,
)
