"""Figure 6: the Gaussian process of BO-IRL where policies are learned."""

from __future__ import annotations

from matplotlib.figure import Figure

from boirl.reproduction.plan import Item, Plan
from boirl.reproduction.posteriors import Line, describe_searches, draw_posteriors, posterior_cells
from boirl.reproduction.store import Cell, Store

SHOWN = ("fetch", "maze")
KERNEL = "rho-rbf"


def cells(plan: Plan) -> list[Cell]:
    """A search in each environment."""
    return posterior_cells(plan, SHOWN, [KERNEL])


def draw(store: Store) -> Figure:
    """(a) Fetch-Reach, (b) the point mass maze."""
    return draw_posteriors(store, SHOWN, [Line(KERNEL, "mean", "posterior mean")])


def describe(store: Store) -> str:
    return describe_searches(store, "figure6", SHOWN, [KERNEL])


ITEM = Item(
    "Posterior of BO-IRL in Fetch-Reach and the point mass maze",
    "Several separate regions of high likelihood in both; in Fetch-Reach the reward jumps at a "
    "threshold, which makes it difficult for methods that follow gradients.",
    cells,
    draw,
    describe,
)
