"""Rewards of Gridworld in the space of the projection, in two principal components."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from scipy.spatial.distance import pdist

from boirl.drawing.latent import principal_components
from boirl.drawing.scales import COLOURS, NllScale
from boirl.problem import TabularProblem
from boirl.projections import PROJECTIONS, choose_demonstrations, sample_rollouts
from boirl.reproduction.environments import ENVIRONMENTS, build_problem
from boirl.reproduction.panels import missing
from boirl.reproduction.plan import Plan
from boirl.reproduction.store import Cell, Store, Tables, column, rounded
from boirl.tolerance import likelihood_ratio_tolerance
from boirl.types import FloatArray

TABLE = "projections"
ENVIRONMENT = "gridworld"
CLOUD, QUICK_CLOUD = 600, 40
WITHIN_NATS = 10.0
"""How far above the lowest NLL the similar pair may be."""

ROUNDING = 1e-6
"""Distances and NLLs that differ by less are the same: files hold eight digits."""

MARKS = {"a": ("*", 16.0), "b": ("P", 9.0), "c": ("D", 8.0), "d": ("s", 8.0)}
"""Marker and size of the four thetas: a and b are policy invariant, c and d similar."""

WHITE = "bd"


def projection_cell(plan: Plan, projection: str, demonstrations: int, shift: float) -> Cell:
    """Rewards all over the box, and the four of the paper's figures.

    Args:
        plan: See `Plan`.
        projection: `"rho"` or `"log-rho"`.
        demonstrations: `K`.
        shift: Translation of the reward that is otherwise the true one.
    """
    own = ENVIRONMENTS[ENVIRONMENT]
    key = {
        "environment": ENVIRONMENT,
        "demonstrations": own.chosen_seed,
        "projection": projection,
        "k": demonstrations,
        "shift": shift,
    }
    settings = {"quick": plan.quick, "m": own.rollouts}
    return Cell(
        "projection",
        key,
        settings,
        partial(_project, projection, demonstrations, shift, plan.quick),
    )


def _project(name: str, k: int, shift: float, quick: bool) -> Tables:
    own = ENVIRONMENTS[ENVIRONMENT]
    problem: Any = build_problem(ENVIRONMENT, own.chosen_seed, quick, None)
    rng = np.random.default_rng(0)
    chosen = choose_demonstrations(problem.demonstrations, k, rng)
    rollouts = sample_rollouts(problem, chosen, own.rollouts, rng)
    projection = PROJECTIONS[name](problem, chosen, rollouts, problem.reward)
    drawn = rng.random((QUICK_CLOUD if quick else CLOUD, problem.box.dimension))
    cloud = problem.box.from_unit(drawn)
    nll = problem.nll_batch(cloud)
    truth = np.array(problem.truth)
    shifted = truth + np.array([0.0, 0.0, shift])
    pair = _similar(problem, drawn, nll)
    thetas = np.concatenate([cloud, [truth, shifted], cloud[pair]])
    all_nll = np.concatenate([nll, problem.nll_batch(np.stack([truth, shifted])), nll[pair]])
    with torch.no_grad():
        latent: FloatArray = projection.transform(thetas).numpy()
    at = principal_components(latent[: len(cloud)])(latent)
    marks = ["cloud"] * len(cloud) + list(MARKS)
    return {
        TABLE: [
            {
                "mark": mark,
                **{f"theta{i}": rounded(value) for i, value in enumerate(theta)},
                "nll": rounded(value, 8),
                "first": rounded(place[0], 8),
                "second": rounded(place[1], 8),
            }
            for mark, theta, value, place in zip(marks, thetas, all_nll, at, strict=True)
        ]
    }


def _similar(problem: TabularProblem, units: FloatArray, nll: FloatArray) -> list[int]:
    """Two good rewards far apart in the box whose NLLs hardly differ."""
    tolerance = likelihood_ratio_tolerance(len(problem.demonstrations), problem.box.dimension)
    good = np.flatnonzero(nll <= np.nanmin(nll) + WITHIN_NATS)
    first, second = np.triu_indices(len(good), 1)
    first, second = good[first], good[second]
    apart = np.linalg.norm(units[first, :2] - units[second, :2], axis=1)
    alike = np.abs(nll[first] - nll[second]) <= tolerance
    if not alike.any():
        return [int(np.nanargmin(nll))] * 2
    chosen = int(np.where(alike, apart, -1.0).argmax())
    return [int(first[chosen]), int(second[chosen])]


def projection_panel(
    axes: Axes, store: Store, projection: str, k: int, shift: float, scale: NllScale
) -> None:
    """The cloud by its NLL, and the four thetas."""
    rows = store.select(TABLE, environment=ENVIRONMENT, projection=projection, k=k, shift=shift)
    if not rows:
        raise missing(f"the projection {projection!r}")
    cloud = [row for row in rows if row["mark"] == "cloud"]
    axes.scatter(
        column(cloud, "first"),
        column(cloud, "second"),
        c=scale.excess(np.array(column(cloud, "nll"), dtype=np.float64)),
        s=10,
        cmap=COLOURS,
        norm=scale.norm,
        rasterized=True,
    )
    for row in rows:
        if row["mark"] != "cloud":
            mark_theta(axes, row["mark"], row["first"], row["second"])
    axes.set_xlabel("first principal component")
    axes.set_ylabel("second principal component")
    axes.set_title(f"{projection}, {k} demonstrations")


def mark_theta(axes: Axes, mark: str, x: float, y: float) -> None:
    """One of the four thetas; b is drawn smaller, so that it shows inside a where they meet."""
    axes.plot(x, y, zorder=10 + (mark in WHITE), **_style(mark))


def theta_handles() -> list[Line2D]:
    """What stands in a legend for the four thetas."""
    return [Line2D([], [], label=f"theta {mark}", **_style(mark)) for mark in MARKS]


def _style(mark: str) -> dict[str, Any]:
    marker, size = MARKS[mark]
    return {
        "marker": marker,
        "color": "white" if mark in WHITE else "#d55e00",
        "markersize": size,
        "markeredgecolor": "black",
        "linestyle": "none",
    }


def distances(store: Store, projection: str, k: int, shift: float) -> dict[str, float] | None:
    """Distance of a to b, of c to d and, on average, of two rewards at random, in the two
    components and in spreads of the cloud; and how far the NLL of a is from that of b. None where
    they were not projected."""
    rows = store.select(TABLE, environment=ENVIRONMENT, projection=projection, k=k, shift=shift)
    if not rows:
        return None
    places = {row["mark"]: np.array([row["first"], row["second"]]) for row in rows}
    cloud = np.array([[row["first"], row["second"]] for row in rows if row["mark"] == "cloud"])
    spread = float(np.linalg.norm(cloud.std(axis=0))) or 1.0
    nll = {row["mark"]: row["nll"] for row in rows}
    return {
        "a to b": float(np.linalg.norm(places["a"] - places["b"])) / spread,
        "c to d": float(np.linalg.norm(places["c"] - places["d"])) / spread,
        "at random": float(pdist(cloud).mean()) / spread,
        "nll a to b": abs(nll["a"] - nll["b"]),
    }


def is_invariant(found: dict[str, float]) -> bool:
    """Whether a translation changes neither the NLL nor the projected point."""
    return found["a to b"] < ROUNDING and found["nll a to b"] < ROUNDING
