"""The landscape of the NLL over the parameters."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from boirl.drawing.marks import add_legend, mark_evaluations, mark_truth
from boirl.errors import InvalidInputError
from boirl.results import RewardSet
from boirl.types import FloatArray

GRID = 60
EXACT_SECONDS = 15.0
COARSEST_GRID = 10
"""An exact picture evaluates as many rewards as take about so many seconds on one core."""

LOG_COLOURS_FROM = 6.0
"""NLLs that range over more than this factor are coloured by their logarithm."""

NAMED_IN_TITLE = 3
"""Values of up to so many parameters that are held still fit a title."""


def landscape(
    found: RewardSet, axes_names: tuple[str, str] | None = None, exact: bool = False
) -> Figure:
    """The predicted NLL and its standard deviation, with all evaluations.

    Args:
        found: A finished search.
        axes_names: The two parameters to draw, by default the first two. The others are held at
            the best theta. A reward with a single parameter is drawn as a curve.
        exact: Whether to draw the exact NLL beside it, which solves 100 to 3,600 further policies,
            as many as take about 15 seconds. Otherwise nothing is solved but the truth's policy.
    """
    box = found.problem.box
    if box.dimension == 1:
        return _profile(found, exact)
    first, second = _columns(found, axes_names)
    fine_grid = _Slice.through(found, first, second, GRID)
    mean, sd = found.predict_nll(fine_grid.thetas)
    # By what was evaluated: a posterior may expect anything where nobody looked.
    norm = nll_norm(found.nll)
    spread = float(np.nanmax(found.nll) - np.nanmin(found.nll)) or float(sd.max())
    sd_norm = Normalize(0.0, min(float(sd.max()), spread))
    contents = [
        (fine_grid, mean, "posterior mean", "viridis", norm),
        (fine_grid, sd, "posterior standard deviation", "magma", sd_norm),
    ]
    if exact:
        affordable = affordable_evaluations(found, GRID**2, COARSEST_GRID**2)
        exact_grid = _Slice.through(found, first, second, math.isqrt(affordable))
        exact_nll = found.problem.nll_batch(exact_grid.thetas)
        norm = nll_norm(exact_nll)
        contents[0] = (fine_grid, mean, "posterior mean", "viridis", norm)
        contents.insert(0, (exact_grid, exact_nll, "exact NLL", "viridis", norm))
    figure = Figure(figsize=(4.5 * len(contents), 4.6), layout="constrained")
    panels = figure.subplots(1, len(contents), sharex=True, sharey=True)
    for axes, (grid, values, title, colours, norm) in zip(panels, contents, strict=True):
        table = with_colours(values, norm).reshape(len(grid.y), len(grid.x))
        image = axes.pcolormesh(grid.x, grid.y, table, cmap=colours, norm=norm)
        add_colour_bar(figure, axes, image)
        axes.set_title(title)
        axes.set_xlabel(found.names[first])
        mark_evaluations(axes, found, found.thetas[:, [first, second]])
        if found.problem.truth is not None:
            mark_truth(axes, found, np.array(found.problem.truth)[[first, second]])
    panels[0].set_ylabel(found.names[second])
    add_legend(figure, found, columns=5)
    held = [i for i in range(box.dimension) if i not in (first, second)]
    at = ", ".join(f"{found.names[i]} = {found.best[i]:.3g}" for i in held)
    if len(held) > NAMED_IN_TITLE:
        at = "the best theta"
    figure.suptitle(
        f"{found.problem.name}: {len(found)} evaluations with {found.settings['kernel']}"
        + (f" (drawn at {at})" if at else "")
    )
    return figure


class _Slice(NamedTuple):
    """A grid of two parameters, the others held at the best theta; one row of thetas per point."""

    x: FloatArray
    y: FloatArray
    thetas: FloatArray

    @classmethod
    def through(cls, found: RewardSet, first: int, second: int, size: int) -> _Slice:
        box = found.problem.box
        x = np.linspace(box.low[first], box.high[first], size)
        y = np.linspace(box.low[second], box.high[second], size)
        thetas = np.tile(found.best, (size * size, 1))
        thetas[:, first], thetas[:, second] = (part.reshape(-1) for part in np.meshgrid(x, y))
        return cls(x, y, thetas)


def nll_norm(nll: FloatArray) -> Normalize:
    low, high = float(np.nanmin(nll)), float(np.nanmax(nll))
    wide = low > 0.0 and high > LOG_COLOURS_FROM * low
    return LogNorm(low, high) if wide else Normalize(low, high)


def with_colours(nll: FloatArray, norm: Normalize) -> FloatArray:
    """NLLs, no lower than the colours go: predictions below zero have no logarithm."""
    if isinstance(norm, LogNorm) and norm.vmin is not None:
        return np.maximum(nll, norm.vmin)
    return nll


def add_colour_bar(figure: Figure, axes: Axes, image: ScalarMappable, label: str = "") -> None:
    """Draw the colours beside their axes, with plain numbers."""
    bar = figure.colorbar(image, ax=axes, label=label)
    if isinstance(image.norm, LogNorm):
        bar.ax.yaxis.set_major_formatter(_log_tick)
        bar.ax.yaxis.set_minor_formatter(_log_tick)


def _log_tick(value: float, position: float) -> str:
    return f"{value:g}" if f"{value:e}"[0] in "1235" else ""


def affordable_evaluations(found: RewardSet, most: int, least: int) -> int:
    """How many rewards an exact picture evaluates, given what evaluations took."""
    seconds = float(np.nanmedian(found.seconds))
    return most if not seconds > 0.0 else int(np.clip(EXACT_SECONDS / seconds, least, most))


def _profile(found: RewardSet, exact: bool) -> Figure:
    """The landscape of a reward with a single parameter: a curve with a band."""
    box = found.problem.box
    x = np.linspace(box.low, box.high, GRID**2 // 10)
    mean, sd = found.predict_nll(x)
    figure = Figure(figsize=(7.2, 4.8), layout="constrained")
    axes = figure.subplots()
    if exact:
        axes.plot(x, found.problem.nll_batch(x), color="black", label="exact NLL")
    axes.plot(x, mean, "--", color="tab:blue", label="posterior mean")
    band = (mean - 1.96 * sd, mean + 1.96 * sd)
    axes.fill_between(x[:, 0], *band, alpha=0.25, label="95 % interval")
    mark_evaluations(axes, found, np.stack([found.thetas[:, 0], found.nll], axis=1))
    if found.problem.truth is not None:
        axes.axvline(found.problem.truth[0], color="green", linestyle=":", label="true reward")
    axes.set_xlabel(found.names[0])
    axes.set_ylabel("NLL of the demonstrations")
    axes.set_title(f"{found.problem.name}: {len(found)} evaluations")
    axes.legend()
    return figure


def _columns(found: RewardSet, axes_names: tuple[str, str] | None) -> tuple[int, int]:
    names = list(found.names)
    first, second = axes_names or names[:2]
    for name in (first, second):
        if name not in names:
            raise InvalidInputError(f"there is no parameter {name!r}; expected one of {names}")
    return names.index(first), names.index(second)
