"""How evaluations are marked in pictures: by how their NLL compares with the truth's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

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
    broken = ruled_out(found)
    mark_nlls(axes, found.nll[~broken], reference(found)[0], at[~broken])
    if broken.any():
        axes.plot(*at[broken].T, linestyle="none", zorder=ABOVE_LINES - len(_STYLES), **BROKEN)


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


BROKEN: dict[str, Any] = {
    "marker": "x",
    "color": "0.35",
    "markersize": 7,
    "markeredgewidth": 1.6,
}
"""Of evaluations that break a constraint."""

BREAKS = "breaks a constraint"


def ruled_out(found: Result) -> NDArray[np.bool_]:
    """The evaluations that succeeded and are no solutions, `n`."""
    return np.isfinite(found.nll) & ~found.feasible


def rules_out(found: Result) -> bool:
    """Whether there are constraints that some evaluation breaks."""
    return bool(ruled_out(found).any())


def reference(found: Result) -> tuple[float, str]:
    """The NLL to compare evaluations with, and whose it is: the best where constraints rule out."""
    if found.truth is None or rules_out(found):
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


def add_legend(figure: Figure, found: Result, columns: int, further: Sequence[Any] = ()) -> None:
    """Say below a figure what the marks mean, and what `further` ones do."""
    handles = mark_handles(reference(found)[1], found.problem.truth is not None)
    if rules_out(found):
        handles.append(Line2D([], [], linestyle="none", label=BREAKS, **BROKEN))
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
