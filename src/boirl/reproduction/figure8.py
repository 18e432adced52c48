"""Figure 8: posterior mean and standard deviation with rho-RBF in all environments."""

from __future__ import annotations

from matplotlib.figure import Figure
from scipy.stats import spearmanr

from boirl.reproduction.environments import ENVIRONMENTS
from boirl.reproduction.plan import Item, Plan
from boirl.reproduction.posteriors import (
    TESTED,
    Line,
    describe_searches,
    draw_posteriors,
    posterior_cells,
)
from boirl.reproduction.searches import POSTERIORS
from boirl.reproduction.store import Cell, Store, column

KERNEL = "rho-rbf"
LINES = (Line(KERNEL, "mean", "mean"), Line(KERNEL, "sd", "standard deviation"))


def cells(plan: Plan) -> list[Cell]:
    """A search in each environment."""
    return posterior_cells(plan, TESTED, [KERNEL])


def draw(store: Store) -> Figure:
    """Means above, standard deviations below."""
    return draw_posteriors(store, TESTED, LINES)


def describe(store: Store) -> str:
    """The searches, and whether the posterior is surer where the NLL is low."""
    found = []
    for environment in TESTED:
        rows = store.select(POSTERIORS, environment=environment, method=KERNEL)
        longest = max((row["of"] for row in rows), default=0)
        rows = [row for row in rows if row["of"] == longest]
        if rows:
            ranks = spearmanr(column(rows, "mean"), column(rows, "sd")).statistic
            found.append(f"{ENVIRONMENTS[environment].title} {ranks:+.2f}")
    table = describe_searches(store, "figure8", TESTED, [KERNEL])
    if not found:
        return table
    return (
        f"{table}\n\nRank correlation of mean and standard deviation over the grid (Spearman; "
        f"positive as the paper says: surer where the NLL is low): {', '.join(found)}."
    )


ITEM = Item(
    "Posterior mean and standard deviation with rho-RBF",
    "The uncertainty is low where the NLL is low: the search has concentrated on uncovering "
    "regions of high likelihood.",
    cells,
    draw,
    describe,
)
