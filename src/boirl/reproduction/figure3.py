"""Figure 3: one landscape at two translations, and the space in which they are one."""

from __future__ import annotations

from matplotlib.figure import Figure

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

TRANSLATIONS = (0.0, -3.0)
DEMONSTRATIONS = 20


def cells(plan: Plan) -> list[Cell]:
    """Landscapes at two translations, and both projections in 20 dimensions."""
    return [
        problem_cell(plan, ENVIRONMENT, ENVIRONMENTS[ENVIRONMENT].chosen_seed),
        *(landscape_cell(plan, ENVIRONMENT, held) for held in TRANSLATIONS),
        *(
            projection_cell(plan, projection, DEMONSTRATIONS, TRANSLATIONS[1])
            for projection in ("rho", "log-rho")
        ),
    ]


def draw(store: Store) -> Figure:
    """(a), (b) the landscapes; (c) rho-space in two components, and log-rho-space."""
    scale = scale_of(store, ENVIRONMENT)
    figure = Figure(figsize=(16.0, 4.5), layout="constrained")
    panels = figure.subplots(1, 4)
    for axes, held, marks in zip(panels, TRANSLATIONS, ("acd", "b"), strict=False):
        rows = landscape_rows(store, ENVIRONMENT, held)
        if not rows:
            raise missing("the landscapes of Gridworld")
        image = draw_nll(axes, rows, "nll", scale)
        axes.set(title=f"translation {held:g}", xlabel="steepness", ylabel="midpoint")
        for row in store.select(TABLE, k=DEMONSTRATIONS, projection="rho"):
            if row["mark"] in marks:
                mark_theta(axes, row["mark"], row["theta0"], row["theta1"])
    for axes, projection in zip(panels[2:], ("rho", "log-rho"), strict=True):
        projection_panel(axes, store, projection, DEMONSTRATIONS, TRANSLATIONS[1], scale)
    for axes, letter in zip(panels, "abcd", strict=True):
        axes.set_title(f"({letter}) {axes.get_title()}")
    figure.colorbar(image, ax=panels, label=EXCESS, fraction=0.02)
    legend_below(figure, theta_handles(), 7)
    return figure


def describe(store: Store) -> str:
    """How far apart invariant rewards are, in either space."""
    plain, logarithm = (
        distances(store, one, DEMONSTRATIONS, TRANSLATIONS[1]) for one in ("rho", "log-rho")
    )
    if plain is None or logarithm is None:
        return not_run("figure3")
    verdict = "Agrees" if is_invariant(plain) and is_invariant(logarithm) else "Does not agree"
    return (
        f"{verdict}: the NLLs of two rewards that differ by their translation alone differ by "
        f"{plain['nll a to b']:.1g}, and they are {plain['a to b']:.1g} standard deviations apart "
        f"in rho-space, {logarithm['a to b']:.1g} in log-rho-space."
    )


ITEM = Item(
    "Policy invariance in the space of the projection",
    "(a), (b) the NLL at two translations; (c) the 20-dimensional rho-space in two principal "
    "components, where policy-invariant rewards fall on one point.",
    cells,
    draw,
    describe,
)
