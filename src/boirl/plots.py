"""Pictures of a search: landscapes, posteriors, the latent space and convergence.

Every function draws into axes it is given or returns a Matplotlib figure; none touches global
state. `save_figures` writes the usual set.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from boirl.baselines.base import BaselineRun
from boirl.errors import InvalidInputError
from boirl.files import save_figure
from boirl.solutions import RewardSet
from boirl.types import FloatArray

GRID = 60
EXACT_SECONDS = 15.0
COARSEST_GRID = 10
"""A picture evaluates exactly as many rewards as take about so many seconds on one core."""

TOO_LONG_SECONDS = 60.0
"""Where even the coarsest grid takes longer than this, the posterior stands alone."""

LOG_COLOURS_FROM = 6.0
"""NLLs that range over more than this factor are coloured by their logarithm."""

LATENT_POINTS = 2000
CLOSE, NEAR = 0.01, 0.10


def save_figures(found: RewardSet, folder: str | Path) -> list[Path]:
    """Write `landscape.png`, `latent.png` and `convergence.png`; return their paths."""
    figures = {"landscape": landscape, "latent": latent_space, "convergence": convergence}
    return [
        save_figure(draw(found), Path(folder) / f"{name}.png") for name, draw in figures.items()
    ]


def landscape(found: RewardSet, axes_names: tuple[str, str] | None = None) -> Figure:
    """The exact NLL beside the posterior mean and standard deviation, with all evaluations.

    Args:
        found: A finished search.
        axes_names: The two parameters to draw, by default the first two. The others are held at
            the best theta. A reward with a single parameter is drawn as a curve.
    """
    box = found.problem.box
    if box.dimension == 1:
        return _profile(found)
    first, second = _columns(found, axes_names)
    affordable = _affordable(found, GRID**2, COARSEST_GRID**2)
    fine_grid = _Slice.through(found, first, second, GRID)
    mean, sd = found.posterior(fine_grid.thetas)
    # By what was told: a posterior may expect anything where nobody looked.
    norm = _nll_norm(found.nll)
    spread = float(np.nanmax(found.nll) - np.nanmin(found.nll)) or float(sd.max())
    sd_norm = Normalize(0.0, min(float(sd.max()), spread))
    contents = [
        (fine_grid, mean, "posterior mean", "viridis", norm),
        (fine_grid, sd, "posterior standard deviation", "magma", sd_norm),
    ]
    if affordable:
        exact_grid = _Slice.through(found, first, second, math.isqrt(affordable))
        exact = found.problem.nll_batch(exact_grid.thetas)
        norm = _nll_norm(exact)
        contents[0] = (fine_grid, mean, "posterior mean", "viridis", norm)
        contents.insert(0, (exact_grid, exact, "exact NLL", "viridis", norm))
    figure = Figure(figsize=(4.5 * len(contents), 4.6), layout="constrained")
    panels = figure.subplots(1, len(contents), sharex=True, sharey=True)
    for axes, (grid, values, title, colours, norm) in zip(panels, contents, strict=True):
        table = values.reshape(len(grid.y), len(grid.x))
        image = axes.pcolormesh(grid.x, grid.y, table, cmap=colours, norm=norm)
        figure.colorbar(image, ax=axes)
        axes.set_title(title)
        axes.set_xlabel(found.names[first])
        mark_evaluations(axes, found, found.thetas[:, [first, second]])
        if found.problem.truth is not None:
            axes.plot(
                *np.array(found.problem.truth)[[first, second]],
                "*",
                color="lime",
                markersize=15,
                markeredgecolor="black",
            )
    panels[0].set_ylabel(found.names[second])
    _legend(figure, found, columns=5)
    held = [i for i in range(box.dimension) if i not in (first, second)]
    at = ", ".join(f"{found.names[i]} = {found.best[i]:.3g}" for i in held)
    figure.suptitle(
        f"{found.problem.name}: {len(found)} evaluations with {found.settings['kernel']}"
        + (f" (drawn at {at})" if at else "")
    )
    return figure


class _Slice(NamedTuple):
    """A grid of two parameters, the others held at the best theta: `thetas` has a row a point."""

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


def _nll_norm(nll: FloatArray) -> Normalize:
    low, high = float(np.nanmin(nll)), float(np.nanmax(nll))
    wide = low > 0.0 and high > LOG_COLOURS_FROM * low
    return LogNorm(low, high) if wide else Normalize(low, high)


def _affordable(found: RewardSet, most: int, least: int) -> int:
    """How many rewards a picture may evaluate, given what evaluations took; 0 for none."""
    seconds = float(np.nanmedian(found.seconds))
    if seconds * least > TOO_LONG_SECONDS:
        return 0
    return most if not seconds > 0.0 else int(np.clip(EXACT_SECONDS / seconds, least, most))


def _profile(found: RewardSet) -> Figure:
    """The landscape of a reward with a single parameter: a curve with a band."""
    box = found.problem.box
    x = np.linspace(box.low, box.high, GRID**2 // 10)
    mean, sd = found.posterior(x)
    figure = Figure(figsize=(7.2, 4.8), layout="constrained")
    axes = figure.subplots()
    if _affordable(found, len(x), len(x)):
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


def latent_space(found: RewardSet) -> Figure:
    """The space of the projection in its two principal components, coloured by NLL.

    The NLL is exact or, where that takes too long, the mean of the posterior.
    """
    box = found.problem.box
    affordable = _affordable(found, LATENT_POINTS, COARSEST_GRID**2)
    count = affordable or LATENT_POINTS
    thetas = box.from_unit(np.random.default_rng(0).random((count, box.dimension)))
    everywhere = _project(found, thetas)
    components = _principal_components(everywhere)
    figure = Figure(figsize=(7.2, 5.2), layout="constrained")
    axes = figure.subplots()
    cloud = components(everywhere)
    nll = found.problem.nll_batch(thetas) if affordable else found.posterior(thetas)[0]
    norm = _nll_norm(nll if affordable else found.nll)
    image = axes.scatter(cloud[:, 0], cloud[:, 1], c=nll, s=7, cmap="viridis", norm=norm)
    figure.colorbar(image, ax=axes, label="exact NLL" if affordable else "posterior mean of NLL")
    mark_evaluations(axes, found, components(_project(found, found.thetas)))
    if found.problem.truth is not None:
        truth = components(_project(found, np.array([found.problem.truth])))[0]
        axes.plot(*truth, "*", color="lime", markersize=15, markeredgecolor="black")
    axes.set_xlabel("first principal component")
    axes.set_ylabel("second principal component")
    space = found.settings["projection"] if found.surrogate.kernel.projected else "theta"
    axes.set_title(f"{found.problem.name}: {count} rewards in the space of {space}")
    _legend(figure, found, columns=3)
    return figure


def convergence(found: RewardSet) -> Figure:
    """NLL of every evaluation, the best so far and, where it is known, the truth's."""
    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    axes = figure.subplots()
    numbers = np.arange(len(found))
    best = np.fmin.accumulate(found.nll)
    axes.plot(numbers, found.nll, "o", color="tab:blue", markersize=4, label="evaluation")
    axes.step(numbers, best, where="post", color="tab:red", label="best so far")
    failed = np.flatnonzero(np.isnan(found.nll))
    if failed.size:
        top = np.full(failed.size, np.nanmax(found.nll))
        axes.plot(failed, top, "x", color="black", label="failed")
    if found.problem.truth is not None:
        truth = found.problem.nll(found.problem.truth)
        axes.axhline(truth, color="green", linestyle="--", label="true reward")
    if np.nanmin(found.nll) > 0:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
    axes.set_xlabel("evaluation (0 is the first initial point)")
    axes.set_ylabel("NLL of the demonstrations")
    axes.set_title(f"{found.problem.name}: best NLL {found.best_nll:.4f}")
    figure.legend(loc="outside lower center", ncols=4, fontsize=9)
    return figure


def iterations(run: BaselineRun) -> Figure:
    """The NLL of a baseline as it goes on and, where there are any, its samples or solutions."""
    thetas = run.samples if run.samples is not None else run.solutions
    two = thetas is not None and run.problem.box.dimension > 1
    figure = Figure(figsize=(11.0 if two else 5.5, 4.2), layout="constrained")
    panels = figure.subplots(1, 2 if two else 1, squeeze=False)[0]
    axes, nll = panels[0], run.nll
    numbers = np.arange(1, len(run) + 1)
    axes.plot(numbers, nll, ".", color="0.7", label="current reward")
    axes.plot(numbers, np.fmin.accumulate(nll), color="C0", label="best so far")
    axes.set(xlabel="iteration", ylabel="NLL", title=f"{run.problem.name}: {run.method}")
    if np.nanmin(nll) > 0 and np.nanmax(nll) > LOG_COLOURS_FROM * np.nanmin(nll):
        axes.set_yscale("log")
    axes.legend()
    if two and thetas is not None:
        box = run.problem.box
        what = "samples" if run.samples is not None else "solutions"
        few = len(thetas) < 100
        style: dict[str, Any] = {"marker": "o"} if few else {"marker": ".", "alpha": 0.15}
        # Solutions on the border of the box are drawn whole.
        panels[1].plot(thetas[:, 0], thetas[:, 1], linestyle="", clip_on=not few, **style)
        if run.problem.truth is not None:
            panels[1].plot(*run.problem.truth[:2], "k*", markersize=12, label="truth")
            panels[1].legend()
        panels[1].set(
            xlim=(box.low[0], box.high[0]),
            ylim=(box.low[1], box.high[1]),
            xlabel=box.names[0],
            ylabel=box.names[1],
            title=what,
        )
    return figure


def mark_evaluations(axes: Axes, found: RewardSet, at: FloatArray) -> None:
    """Draw evaluations as the paper does: by how their NLL compares with the truth's.

    Args:
        axes: Where to draw.
        found: A finished search.
        at: Position of each evaluation, `n x 2`.
    """
    for mask, style in zip(_classes(found), _STYLES, strict=True):
        axes.plot(*at[mask].T, linestyle="none", **style)


_STYLES: tuple[dict[str, Any], ...] = (
    {"marker": "x", "color": "red", "markersize": 9, "markeredgewidth": 2.2},
    {"marker": "o", "color": "red", "markersize": 7, "markeredgecolor": "white"},
    {"marker": "o", "color": "red", "markersize": 7, "markerfacecolor": "none"},
    {"marker": ".", "color": "white", "markersize": 5, "markeredgecolor": "black"},
)


def _reference(found: RewardSet) -> tuple[float, str]:
    if found.problem.truth is None:
        return found.best_nll, "the best"
    return found.problem.nll(found.problem.truth), "the truth"


def _classes(found: RewardSet) -> list[np.ndarray]:
    """Masks of evaluations better than the reference, within 1 %, within 10 %, and the rest."""
    reference, _ = _reference(found)
    nll = np.where(np.isnan(found.nll), np.inf, found.nll)
    excess = (nll - reference) / abs(reference)
    edges = [excess <= 0, excess <= CLOSE, excess <= NEAR]
    return [
        edges[0],
        edges[1] & ~edges[0],
        edges[2] & ~edges[1],
        ~edges[2],
    ]


def _legend(figure: Figure, found: RewardSet, columns: int) -> None:
    _, name = _reference(found)
    labels = (
        f"at least as good as {name}",
        "within 1 %",
        "within 10 %",
        "other evaluations",
    )
    handles = [
        Line2D([], [], linestyle="none", label=label, **style)
        for label, style in zip(labels, _STYLES, strict=True)
    ]
    if found.problem.truth is not None:
        handles.append(
            Line2D(
                [],
                [],
                linestyle="none",
                marker="*",
                color="lime",
                markersize=13,
                markeredgecolor="black",
                label="true reward",
            )
        )
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=9)


def _columns(found: RewardSet, axes_names: tuple[str, str] | None) -> tuple[int, int]:
    names = list(found.names)
    first, second = axes_names or names[:2]
    for name in (first, second):
        if name not in names:
            raise InvalidInputError(f"there is no parameter {name!r}; expected one of {names}")
    return names.index(first), names.index(second)


def _project(found: RewardSet, thetas: FloatArray) -> FloatArray:
    with torch.no_grad():
        latent: FloatArray = found.surrogate.projection.transform(thetas).numpy()
    return latent


def _principal_components(points: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """The map from `n x K` to the two directions in which `points` vary most."""
    centre = points.mean(axis=0)
    directions = np.zeros((2, points.shape[1]))
    found = np.linalg.svd(points - centre, full_matrices=False)[2][:2]
    directions[: len(found)] = found
    return lambda others: (others - centre) @ directions.T
