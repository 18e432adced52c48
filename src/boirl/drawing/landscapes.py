"""The landscape of the NLL over the parameters."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from boirl.drawing.marks import add_legend, mark_evaluations, mark_truth, rules_out
from boirl.drawing.scales import (
    ABOVE,
    NllScale,
    add_colour_bar,
    border_handles,
    draw_excess,
)
from boirl.errors import InvalidInputError
from boirl.results import RewardSet
from boirl.types import FloatArray

GRID = 60
EXACT_SECONDS = 15.0
COARSEST_GRID = 10
"""An exact picture evaluates as many rewards as take about so many seconds on one core."""

OUTSIDE, NO_SOLUTION = "0.8", "no solution"
"""Colour of where there are none, and what stands for it in a legend."""

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
    scale, exact_parts = NllScale.of(found), []
    if exact:
        affordable = affordable_evaluations(found, GRID**2, COARSEST_GRID**2)
        exact_grid = _Slice.through(found, first, second, math.isqrt(affordable))
        exact_nll = found.problem.nll_batch(exact_grid.thetas)
        scale = NllScale.of(found, exact_nll)
        exact_parts = [(exact_grid, exact_nll, "exact NLL")]
    n_panels = len(exact_parts) + 2
    figure = Figure(figsize=(4.5 * n_panels, 4.6), layout="constrained")
    panels = figure.subplots(1, n_panels, sharex=True, sharey=True)
    nll_parts = [*exact_parts, (fine_grid, mean, "posterior mean")]
    for axes, (grid, nll, title) in zip(panels, nll_parts, strict=False):
        image = draw_excess(axes, grid.x, grid.y, grid.table(scale.excess(nll)), scale)
        add_colour_bar(figure, axes, image, ABOVE)
        axes.set_title(title)
    further: list[Any] = border_handles(scale)
    if rules_out(found):
        further += [_shade_ruled_out(axes, found, fine_grid) for axes in panels[:-1]][:1]
    _draw_doubt(figure, panels[-1], fine_grid, sd, scale)
    for axes in panels:
        axes.set_xlabel(found.names[first])
        mark_evaluations(axes, found, found.thetas[:, [first, second]])
        if found.problem.truth is not None:
            mark_truth(axes, found, np.array(found.problem.truth)[[first, second]])
    panels[0].set_ylabel(found.names[second])
    add_legend(figure, found, columns=4, further=further)
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

    def table(self, values: FloatArray) -> FloatArray:
        """Values of the thetas, one row per y."""
        return values.reshape(len(self.y), len(self.x))


def _shade_ruled_out(axes: Axes, found: RewardSet, grid: _Slice) -> Patch:
    """Cover where an evaluation is more likely than not to break a constraint, or to fail.

    Returns:
        What stands for it in a legend.
    """
    outside = grid.table(outside_limits(found, grid.thetas).astype(np.float64))
    covered = np.ma.masked_less(outside, 0.5)
    axes.pcolormesh(grid.x, grid.y, covered, cmap=ListedColormap([OUTSIDE]), zorder=2)
    return Patch(facecolor=OUTSIDE, label=NO_SOLUTION)


def outside_limits(found: RewardSet, thetas: FloatArray) -> NDArray[np.bool_]:
    """Which thetas, `n x d`, are more likely than not to break a constraint, or to fail: `n`."""
    return ~found.fitted.feasibility.is_likely(found.problem.box.to_unit(thetas))


def _draw_doubt(figure: Figure, axes: Axes, grid: _Slice, sd: FloatArray, scale: NllScale) -> None:
    """Standard deviations, on a scale with the same start."""
    doubt = NllScale.up_to(float(sd.max()), 0.0, scale.tolerance, 0.0)
    table = grid.table(doubt.excess(sd))
    image = axes.pcolormesh(grid.x, grid.y, table, cmap="magma", norm=doubt.norm, rasterized=True)
    add_colour_bar(figure, axes, image, "standard deviation of the NLL")
    axes.set_title("posterior standard deviation")


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
