"""How evaluations are marked in pictures: by how their NLL compares with the truth's."""

from __future__ import annotations

from collections.abc import Sequence
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
    mark_nlls(axes, found.nll, reference(found)[0], at)


def mark_nlls(axes: Axes, nll: FloatArray, compared: float, at: FloatArray) -> None:
    """Mark NLLs, `n`, at positions `n x 2` by how they compare with another one."""
    for rank, (mask, style) in enumerate(zip(_classes(nll, compared), _STYLES, strict=True)):
        # The best ones are on top of the others.
        axes.plot(*at[mask].T, linestyle="none", zorder=ABOVE_LINES - rank, **style)


def mark_truth(axes: Axes, found: Result, at: FloatArray) -> None:
    """Draw the true theta, where it is known, at a position, `2`, above all other marks."""
    if found.problem.truth is not None:
        axes.plot(*at, zorder=ABOVE_LINES + 1, **TRUTH)


VERMILION = "#d55e00"
"""Of Okabe and Ito's colours, which colour-blind readers can tell apart."""

_STYLES: tuple[dict[str, Any], ...] = (
    {"marker": "X", "color": VERMILION, "markersize": 11, "markeredgecolor": "white"},
    {"marker": "o", "color": VERMILION, "markersize": 7, "markeredgecolor": "white"},
    {"marker": "o", "color": VERMILION, "markersize": 7, "markerfacecolor": "none"},
    {"marker": ".", "color": "white", "markersize": 5, "markeredgecolor": "black"},
)


def reference(found: Result) -> tuple[float, str]:
    """The NLL to compare evaluations with, and whose it is."""
    if found.truth is None:
        return found.best_nll, "the best"
    return found.truth.nll, "the truth"


def _classes(nll: FloatArray, compared: float) -> list[np.ndarray]:
    """Masks of evaluations better than the reference, within 1 %, within 10 %, and the rest."""
    nll = np.where(np.isnan(nll), np.inf, nll)
    excess = (nll - compared) / abs(compared)
    edges = [excess <= 0, excess <= CLOSE, excess <= NEAR]
    return [
        edges[0],
        edges[1] & ~edges[0],
        edges[2] & ~edges[1],
        ~edges[2],
    ]


def add_legend(figure: Figure, found: Result, columns: int, further: Sequence[Line2D] = ()) -> None:
    """Say below a figure what the marks mean, and what `further` ones do."""
    handles = mark_handles(reference(found)[1], found.problem.truth is not None)
    figure.legend(
        handles=[*handles, *further], loc="outside lower center", ncols=columns, fontsize=9
    )


def mark_handles(compared_with: str, truth: bool = True) -> list[Line2D]:
    """What stands in a legend for each mark."""
    labels = (
        f"at least as good as {compared_with}",
        "within 1 %",
        "within 10 %",
        "other evaluations",
    )
    handles = [
        Line2D([], [], linestyle="none", label=label, **style)
        for label, style in zip(labels, _STYLES, strict=True)
    ]
    if truth:
        handles.append(Line2D([], [], label="true reward", **TRUTH))
    return handles
