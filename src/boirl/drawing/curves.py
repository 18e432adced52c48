"""The NLL of evaluations as a search or a baseline goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from boirl.drawing.marks import BREAKS, BROKEN, ruled_out
from boirl.drawing.scales import STARTS
from boirl.results import Result
from boirl.types import FloatArray

FEW_THETAS = 100
"""Up to so many returned thetas are drawn as large dots."""


def convergence(found: Result) -> Figure:
    """How far NLLs are above the lowest: of every evaluation, the best so far and the truth.

    The scale is linear up to a tenth of the likelihood-ratio tolerance and logarithmic beyond.

    Beside it the thetas that a method returns besides its evaluations, samples for instance.
    """
    returned = found.returned if found.problem.box.dimension > 1 else {}
    figure = Figure(figsize=(7.2 + 5.2 * len(returned), 4.4), layout="constrained")
    panels = figure.subplots(1, 1 + len(returned), squeeze=False)[0]
    _draw_nll(panels[0], found)
    figure.legend(loc="outside lower center", ncols=4, fontsize=9)
    for axes, (name, thetas) in zip(panels[1:], returned.items(), strict=True):
        _draw_thetas(axes, found, name, thetas)
    return figure


def _draw_nll(axes: Axes, found: Result) -> None:
    numbers, tolerance = np.arange(len(found)), found.likelihood_ratio_tolerance()
    truth = np.nan if found.truth is None else found.truth.nll
    excess = found.nll - np.nanmin([*found.nll, truth])
    broken = ruled_out(found)
    allowed = np.where(broken, np.nan, excess)
    axes.plot(numbers, allowed, "o", color="tab:blue", markersize=4, label="evaluation")
    if broken.any():
        axes.plot(numbers[broken], excess[broken], linestyle="none", label=BREAKS, **BROKEN)
        # Solutions are compared with the best of them.
        tolerance += float(np.nanmin(allowed, initial=np.inf)) if found.feasible.any() else 0.0
    best = np.fmin.accumulate(allowed)
    axes.step(numbers, best, where="post", color="tab:red", label="best so far")
    failed = np.flatnonzero(np.isnan(excess))
    if failed.size:
        top = np.full(failed.size, np.nanmax(excess))
        axes.plot(failed, top, "x", color="black", label="failed")
    if found.truth is not None:
        at = truth - np.nanmin([*found.nll, truth])
        axes.axhline(at, color="green", linestyle="--", label="true reward")
    axes.axhline(tolerance, color="0.4", linestyle=":", label="not rejected at 95 % below")
    start = STARTS * found.likelihood_ratio_tolerance()
    axes.set_yscale("symlog", linthresh=start, linscale=0.5)
    axes.set_ylim(-start / 4, 2.0 * max(float(np.nanmax(excess)), tolerance))
    # Ticks within the linear part would lie upon each other.
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}" if y == 0.0 or y >= start else "")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("evaluation (0 is the first one)")
    axes.set_ylabel("NLL above the lowest")
    axes.set_title(f"{found.problem.name}, {found.title}: best NLL {found.best_nll:.4f}")


def _draw_thetas(axes: Axes, found: Result, name: str, thetas: FloatArray) -> None:
    """The first two parameters of thetas `n x d`."""
    box = found.problem.box
    few = len(thetas) < FEW_THETAS
    style: dict[str, Any] = {"marker": "o"} if few else {"marker": ".", "alpha": 0.15}
    # Solutions on the border of the box are drawn whole.
    axes.plot(thetas[:, 0], thetas[:, 1], linestyle="", clip_on=not few, **style)
    if found.problem.truth is not None:
        axes.plot(*found.problem.truth[:2], "k*", markersize=12, label="truth")
        axes.legend()
    axes.set(
        xlim=(box.low[0], box.high[0]),
        ylim=(box.low[1], box.high[1]),
        xlabel=box.names[0],
        ylabel=box.names[1],
        title=name,
    )
