"""How evaluations are marked in pictures: by how their NLL compares with the truth's."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from boirl.results import Result
from boirl.types import FloatArray

CLOSE, NEAR = 0.01, 0.10
ABOVE_LINES = 6

TRUTH: dict[str, Any] = {
    "marker": "*",
    "color": "lime",
    "markersize": 14,
    "markeredgecolor": "black",
    "linestyle": "none",
}


def mark_evaluations(axes: Axes, found: Result, at: FloatArray) -> None:
    """Draw evaluations as the paper does: by how their NLL compares with the truth's.

    Args:
        axes: Where to draw.
        found: A search or a baseline.
        at: Position of each evaluation, `n x 2`.
    """
    classes = zip(_classes(found), _STYLES, strict=True)
    for rank, (mask, style) in enumerate(classes):
        # The best ones are on top of the others.
        axes.plot(*at[mask].T, linestyle="none", zorder=ABOVE_LINES - rank, **style)


def mark_truth(axes: Axes, found: Result, at: FloatArray) -> None:
    """Draw the true theta, where it is known, at a position, `2`."""
    if found.problem.truth is not None:
        axes.plot(*at, **TRUTH)


_STYLES: tuple[dict[str, Any], ...] = (
    {"marker": "X", "color": "red", "markersize": 11, "markeredgecolor": "white"},
    {"marker": "o", "color": "red", "markersize": 7, "markeredgecolor": "white"},
    {"marker": "o", "color": "red", "markersize": 7, "markerfacecolor": "none"},
    {"marker": ".", "color": "white", "markersize": 5, "markeredgecolor": "black"},
)


def reference(found: Result) -> tuple[float, str]:
    """The NLL to compare evaluations with, and whose it is."""
    if found.truth is None:
        return found.best_nll, "the best"
    return found.truth.nll, "the truth"


def _classes(found: Result) -> list[np.ndarray]:
    """Masks of evaluations better than the reference, within 1 %, within 10 %, and the rest."""
    compared, _ = reference(found)
    nll = np.where(np.isnan(found.nll), np.inf, found.nll)
    excess = (nll - compared) / abs(compared)
    edges = [excess <= 0, excess <= CLOSE, excess <= NEAR]
    return [
        edges[0],
        edges[1] & ~edges[0],
        edges[2] & ~edges[1],
        ~edges[2],
    ]


def add_legend(figure: Figure, found: Result, columns: int) -> None:
    """Say below a figure what the marks mean."""
    _, name = reference(found)
    labels = (f"at least as good as {name}", "within 1 %", "within 10 %", "other evaluations")
    handles = [
        Line2D([], [], linestyle="none", label=label, **style)
        for label, style in zip(labels, _STYLES, strict=True)
    ]
    if found.problem.truth is not None:
        handles.append(Line2D([], [], label="true reward", **TRUTH))
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=9)
