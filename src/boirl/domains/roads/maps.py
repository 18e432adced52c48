"""Maps of road networks: trips, where a reward would drive, and where two rewards differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm, Normalize, TwoSlopeNorm
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from boirl.domains.roads.network import RoadNetwork
from boirl.files import save_figure
from boirl.results import Result
from boirl.types import FloatArray

BACKGROUND = "0.85"
LEAST_SHARE = 1e-3
"""Links with less than this share of the largest number of visits fade into the background."""

SHOWN = (0.5, 99.5)
"""Percentiles of where the visited links lie that a map shows, with a margin around."""

MARGIN = 0.06
APART = 0.15
"""How far the two directions of a street are drawn apart, as a share of the median link."""


class RoadMapProblem(Protocol):
    """A problem on roads: those of `problem` and `recursive_logit` in `boirl.domains.roads`."""

    name: str

    @property
    def network(self) -> RoadNetwork: ...

    def demonstrated_visits(self) -> FloatArray: ...

    def expected_visits(self, policy: Any) -> FloatArray: ...


class SolvedReward(NamedTuple):
    """A theta and its policy."""

    theta: ArrayLike
    policy: Any


def has_map(problem: Any) -> bool:
    """Whether a problem is on roads."""
    return isinstance(getattr(problem, "network", None), RoadNetwork)


def trips_map(problem: RoadMapProblem) -> Figure:
    """The network, with the links that demonstrations pass by how often they do."""
    visits = problem.demonstrated_visits()
    return _visits_figure(problem, visits, f"{problem.name}: demonstrated trips")


def visits_map(problem: RoadMapProblem, reward: SolvedReward) -> Figure:
    """The network, with the links that the policy of a reward passes by how often it does."""
    visits = problem.expected_visits(reward.policy)
    title = f"{problem.name}: where this reward would drive\n{_named(problem, reward.theta)}"
    return _visits_figure(problem, visits, title)


def difference_map(problem: RoadMapProblem, first: SolvedReward, second: SolvedReward) -> Figure:
    """The links that the policies of two rewards pass differently often."""
    visits = problem.expected_visits(first.policy)
    difference = problem.expected_visits(second.policy) - visits
    largest = max(float(np.abs(difference).max()), 1e-12)
    figure, axes = _figure(problem, f"{problem.name}: where two rewards drive differently")
    drawn = np.abs(difference) >= 0.01 * largest
    lines = _draw_links(
        axes,
        problem.network,
        difference,
        drawn,
        "RdBu",
        TwoSlopeNorm(0.0, vmin=-largest, vmax=largest),
        np.sqrt(np.abs(difference) / largest),
    )
    bar = figure.colorbar(lines, ax=axes, shrink=0.8)
    bar.set_label("difference in passages per trip")
    axes.set_xlabel(
        f"red: more with {_named(problem, first.theta)}\n"
        f"blue: more with {_named(problem, second.theta)}"
    )
    _zoom(axes, problem.network, visits + np.abs(difference))
    return figure


def save_maps(found: Result, folder: str | Path) -> list[Path]:
    """Write `trips.png`, `visits.png` of the best reward and `difference.png`.

    The last is of the two most plausible rewards that behave differently: the best of the first
    two groups or, where there is one group, the best and the one that differs most from it. The
    policies are those that the result keeps.
    """
    problem: Any = found.problem
    best = SolvedReward(found.best, found.policy(found.best_index))
    figures = {"trips": trips_map(problem), "visits": visits_map(problem, best)}
    rival = _rival(found)
    if rival is not None:
        other = SolvedReward(found.thetas[rival], found.policy(rival))
        figures["difference"] = difference_map(problem, best, other)
    return [save_figure(figure, Path(folder) / f"{name}.png") for name, figure in figures.items()]


def _rival(found: Result) -> int | None:
    """Number of the evaluation to compare the best with."""
    groups = found.groups()
    if len(groups) > 1:
        return int(groups[1].indices[0])
    members = groups[0].indices
    if len(members) == 1:
        return None
    return int(members[found.distances(members)[0].argmax()])


def _visits_figure(problem: RoadMapProblem, visits: FloatArray, title: str) -> Figure:
    largest = max(float(visits.max()), 1e-12)
    figure, axes = _figure(problem, title)
    drawn = visits >= LEAST_SHARE * largest
    lines = _draw_links(
        axes,
        problem.network,
        visits,
        drawn,
        "viridis_r",
        LogNorm(LEAST_SHARE * largest, largest),
        np.sqrt(visits / largest),
    )
    figure.colorbar(lines, ax=axes, shrink=0.8).set_label("passages per trip")
    _zoom(axes, problem.network, visits)
    return figure


def _figure(problem: RoadMapProblem, title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8.5, 8.0), layout="constrained")
    axes = figure.subplots()
    axes.add_collection(
        LineCollection(list(problem.network.layout), colors=BACKGROUND, linewidths=0.5)
    )
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(title)
    return figure, axes


def _draw_links(
    axes: Axes,
    network: RoadNetwork,
    values: FloatArray,
    drawn: np.ndarray,
    colours: str,
    norm: Normalize,
    thickness: FloatArray,
) -> LineCollection:
    """Draw some links, the largest values on top, each on the right-hand side of its street."""
    ends = network.layout
    along = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1, keepdims=True)
    right = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.maximum(length, 1e-12)
    shifted = ends + APART * float(np.median(length)) * right[:, None]
    order = np.flatnonzero(drawn)
    order = order[np.argsort(np.abs(values[order]), kind="stable")]
    lines = LineCollection(
        list(shifted[order]), cmap=colours, norm=norm, linewidths=0.6 + 3.0 * thickness[order]
    )
    lines.set_array(values[order])
    axes.add_collection(lines)
    return lines


def _zoom(axes: Axes, network: RoadNetwork, visits: FloatArray) -> None:
    """Show the part of the network that is visited."""
    visited = network.layout[visits >= LEAST_SHARE * visits.max()].reshape(-1, 2)
    low, high = np.percentile(visited, SHOWN, axis=0)
    margin = MARGIN * float((high - low).max())
    axes.set_xlim(low[0] - margin, high[0] + margin)
    axes.set_ylim(low[1] - margin, high[1] + margin)


def _named(problem: Any, theta: ArrayLike) -> str:
    if np.size(theta) != problem.box.dimension:
        return "learned network"
    return ", ".join(
        f"{name} {value:.2f}"
        for name, value in zip(problem.box.names, np.ravel(theta), strict=True)
    )
