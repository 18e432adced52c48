"""The space of the projection, in which rewards with the same behaviour lie together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from boirl.drawing.landscapes import (
    COARSEST_GRID,
    NO_SOLUTION,
    OUTSIDE,
    affordable_evaluations,
    outside_limits,
)
from boirl.drawing.marks import add_legend, mark_evaluations, mark_truth, rules_out
from boirl.drawing.scales import ABOVE, COLOURS, NllScale, add_colour_bar
from boirl.results import RewardSet
from boirl.types import FloatArray

LATENT_POINTS = 2000


def latent_space(found: RewardSet, exact: bool = False) -> Figure:
    """The space of the projection in its two principal components, coloured by NLL.

    Args:
        found: A finished search.
        exact: Whether to colour by the exact NLL, which solves up to 2,000 further policies, in
            place of the predicted one.
    """
    box = found.problem.box
    most = LATENT_POINTS
    n_points = affordable_evaluations(found, most, COARSEST_GRID**2) if exact else most
    thetas = box.from_unit(np.random.default_rng(0).random((n_points, box.dimension)))
    everywhere = _project(found, thetas)
    components = principal_components(everywhere)
    figure = Figure(figsize=(7.2, 5.2), layout="constrained")
    axes = figure.subplots()
    cloud = components(everywhere)
    nll = found.problem.nll_batch(thetas) if exact else found.predict_nll(thetas)[0]
    scale = NllScale.of(found, nll if exact else None)
    # The best are few, and drawn last.
    order = np.argsort(-nll)
    excess = scale.excess(nll)[order]
    x, y = cloud[order].T
    further = []
    if rules_out(found):
        outside = outside_limits(found, thetas)
        axes.plot(*cloud[outside].T, ".", color=OUTSIDE, zorder=0)
        inside = ~outside[order]
        x, y, excess = x[inside], y[inside], excess[inside]
        further = [Line2D([], [], linestyle="none", marker=".", color=OUTSIDE, label=NO_SOLUTION)]
    image = axes.scatter(x, y, c=excess, s=7, cmap=COLOURS, norm=scale.norm)
    add_colour_bar(figure, axes, image, f"{'exact' if exact else 'predicted'} {ABOVE}")
    mark_evaluations(axes, found, components(_project(found, found.thetas)))
    if found.problem.truth is not None:
        mark_truth(axes, found, components(_project(found, np.array([found.problem.truth])))[0])
    axes.set_xlabel("first principal component")
    axes.set_ylabel("second principal component")
    space = found.settings["projection"] if found.surrogate.kernel.projected else "theta"
    axes.set_title(f"{found.problem.name}: {n_points} rewards in the space of {space}")
    add_legend(figure, found, columns=3, further=further)
    return figure


def _project(found: RewardSet, thetas: FloatArray) -> FloatArray:
    with torch.no_grad():
        latent: FloatArray = found.surrogate.projection.transform(thetas).numpy()
    return latent


def principal_components(points: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """The map from `n x K` to the two directions in which `points` vary most."""
    centre = points.mean(axis=0)
    directions = np.zeros((2, points.shape[1]))
    found = np.linalg.svd(points - centre, full_matrices=False)[2][:2]
    directions[: len(found)] = found
    return lambda others: (others - centre) @ directions.T
