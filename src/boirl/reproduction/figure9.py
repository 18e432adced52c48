"""Figure 9: posterior means with RBF and Matern in all environments."""

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

KERNELS = ("rbf", "matern")


def cells(plan: Plan) -> list[Cell]:
    """A search with each kernel in each environment."""
    return posterior_cells(plan, TESTED, KERNELS)


def draw(store: Store) -> Figure:
    """RBF above, Matern below; on the scales of Figure 8."""
    return draw_posteriors(store, TESTED, [Line(kernel, "mean", kernel) for kernel in KERNELS])


def describe(store: Store) -> str:
    """The searches, beside that of figure 8."""
    return describe_searches(store, "figure9", TESTED, (*KERNELS, "rho-rbf"))


ITEM = Item(
    "Posterior mean with RBF and Matern",
    "RBF and Matern explore more exhaustively to find several regions of high likelihood, match "
    "the exact landscape of Gridworld less closely, and fail in the maze.",
    cells,
    draw,
    describe,
)
