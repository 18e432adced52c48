"""Pictures of questions: what the rewards of the posterior would do from a start."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import pdist

from boirl.decisions.questions import StartQuestion
from boirl.drawing.planes import plane_of
from boirl.environments.grids import grid_of
from boirl.problem import Problem, TabularProblem
from boirl.problem.simulated import GymProblem
from boirl.types import FloatArray

COLOURS = ("tab:red", "tab:blue", "tab:green", "tab:purple", "tab:orange")
LABELLED = 60
"""Characters of a label."""

PANEL = 4.2
"""Width of a panel in inches; a plane with one unit is as high as it needs to be."""

FLATTEST = 0.25
"""Height of a panel as a share of its width, at least."""

TITLE, TICKS, LINE, GAP = 0.4, 0.3, 0.2, 0.2
"""Inches above a panel, for the label of its axis, by line of its legend, and beside panels."""

NAMED_AT_MOST = 30
"""States up to which their names are written beside them."""

APART = 0.12
"""Share of a picture that a name of six letters takes: two states closer than that overlap."""

PLACED_AT_MOST = 1500
"""States up to which places are worked out from the steps between them."""


def questions_figure(problem: Problem[Any], questions: Sequence[Any]) -> Figure:
    """One panel per question: the ways that rewards would take from its start.

    Args:
        problem: Where they are asked.
        questions: Of `found.questions(n)`.
    """
    places = state_places(problem)
    figure = Figure()
    panels = figure.subplots(1, len(questions), squeeze=False)[0]
    for axes, question in zip(panels, questions, strict=True):
        _draw_backdrop(axes, problem, places)
        ways = _ways(question)
        for number, (path, weight, label) in enumerate(ways):
            way = _placed(problem, places, path)
            # Ways that share a stretch are drawn side by side.
            shift = 0.012 * number * float(np.ptp(way, axis=0).max()) if len(way) else 0.0
            width = 1.0 + 4.0 * weight
            axes.plot(*(way + shift).T, color=COLOURS[number], linewidth=width, label=label)
            axes.plot(*(way[-1:] + shift).T, "o", color=COLOURS[number], markersize=6)
        start = _placed(problem, places, ways[0][0][:1])
        axes.plot(*start.T, "*", color="black", markersize=13, zorder=5)
        axes.set_title(_title(question), fontsize=10)
    lines = max((len(_ways(question)) for question in questions), default=0)
    _arrange(figure, panels, lines)
    return figure


def _arrange(figure: Figure, panels: Any, lines: int) -> None:
    """Panels side by side, each with room for its title and a legend of so many lines."""
    equal = all(axes.get_aspect() != "auto" for axes in panels)
    ratios = [float(np.ptp(axes.get_ylim()) / np.ptp(axes.get_xlim())) for axes in panels]
    height = PANEL * max(FLATTEST, *ratios) if equal else PANEL
    labelled = TICKS if any(axes.get_xlabel() for axes in panels) else 0.0
    beside = GAP + labelled
    below = labelled + LINE * lines + GAP
    size = (len(panels) * (PANEL + beside) + GAP, TITLE + height + below)
    figure.set_size_inches(size)
    for number, axes in enumerate(panels):
        left = beside + number * (PANEL + beside)
        place = (left / size[0], below / size[1], PANEL / size[0], height / size[1])
        axes.set_position(place)
        axes.set_anchor("S")
        axes.legend(
            fontsize=8,
            loc="upper center",
            bbox_to_anchor=(left / size[0], 0.0, PANEL / size[0], (below - labelled) / size[1]),
            bbox_transform=figure.transFigure,
            frameon=False,
        )


def _ways(question: Any) -> list[tuple[Any, float, str]]:
    """The ways that a question is about: the states of each, its weight, and what it is."""
    if isinstance(question, StartQuestion):
        return [
            (one.path, one.weight, _label(f"{one.weight:.0%}: {one.words}"))
            for one in question.behaviours[: len(COLOURS)]
        ]
    first, second = question.paths
    chance = question.probability
    return [
        (first, chance, f"the first, better with {chance:.0%}"),
        (second, 1.0 - chance, f"the second, better with {1.0 - chance:.0%}"),
    ]


def _label(words: str) -> str:
    """Words that fit a legend."""
    return textwrap.shorten(words, LABELLED, placeholder=" ...")


def _title(question: Any) -> str:
    asked = f"from {question.name}" if isinstance(question, StartQuestion) else "which is better?"
    return f"{asked} ({question.information:.2f} nats)"


def state_places(problem: Problem[Any]) -> FloatArray | None:
    """Where states are drawn, `S x 2`; None where they are vectors, or very many.

    On roads, the ends of links; on grids, squares. On other tables, states are placed so that the
    distance of two is the number of steps between them, as far as a plane allows (classical
    scaling); where that puts two of a few named states on one spot, on a circle.
    """
    network = getattr(problem, "network", None)
    if network is not None:
        ends = network.layout[:, 1]
        if isinstance(problem, TabularProblem):
            by_turn = ends[network.turns[:, 1]]
            extra = problem.mdp.n_states - len(by_turn)
            goal = ends[network.feeders(problem.destination)]  # type: ignore[attr-defined]
            rest = np.concatenate([goal, goal.mean(axis=0, keepdims=True)])[:extra]
            return np.concatenate([by_turn, rest])
        copies = -(-(problem.choice.n_states - 1) // len(ends))  # type: ignore[attr-defined]
        # Trips end where they are.
        return np.concatenate([np.tile(ends, (copies, 1)), np.full((1, 2), np.nan)])
    if not isinstance(problem, TabularProblem) or problem.mdp.n_states > PLACED_AT_MOST:
        return None
    grid = grid_of(problem.mdp)
    if grid is not None:
        squares, columns = grid
        rows, along = np.divmod(np.arange(squares), columns)
        # What everything ends in beside the grid is nowhere.
        beside = np.full((problem.mdp.n_states - squares, 2), np.nan)
        return np.concatenate([np.column_stack([along, -rows]), beside])
    steps = _neighbours(problem)
    distances = shortest_path(steps, directed=False, unweighted=True)
    finite = distances[np.isfinite(distances)]
    distances = np.where(np.isfinite(distances), distances, 1.2 * finite.max(initial=1.0))
    places = _scaled(distances)
    if 0 < len(problem.mdp.state_names) <= NAMED_AT_MOST and _overlap(places):
        return _on_a_circle(len(places))
    return places


def _neighbours(problem: TabularProblem) -> sp.csr_array:
    """Which states are one step apart, without those that everything leads to."""
    mdp = problem.mdp
    chain = mdp.chain(np.ones((mdp.n_states, mdp.n_actions))).tocoo()
    rows, columns = chain.coords
    sinks = np.concatenate([mdp.terminal, mdp.endless])
    kept = (rows != columns) & ~np.isin(rows, sinks)
    data = np.ones(int(kept.sum()))
    return sp.csr_array((data, (rows[kept], columns[kept])), shape=(mdp.n_states,) * 2)


def _scaled(distances: FloatArray) -> FloatArray:
    n = len(distances)
    centring = np.eye(n) - 1.0 / n
    products = -0.5 * centring @ np.square(distances) @ centring
    values, vectors = np.linalg.eigh(products)
    return vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))


def _overlap(places: FloatArray) -> bool:
    """Whether two places, of `S x 2`, are too close to be told apart."""
    if len(places) < 2:
        return False
    return float(pdist(places).min()) < APART * float(np.ptp(places, axis=0).max())


def _on_a_circle(count: int) -> FloatArray:
    angles = 2.0 * np.pi * np.arange(count) / count
    return np.column_stack([-np.cos(angles), np.sin(angles)])


def _draw_backdrop(axes: Axes, problem: Problem[Any], places: FloatArray | None) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    network = getattr(problem, "network", None)
    if network is not None:
        axes.add_collection(LineCollection(list(network.layout), colors="0.85", linewidths=0.8))
        axes.set_aspect("equal")
    elif places is not None and isinstance(problem, TabularProblem):
        steps = _neighbours(problem).tocoo()
        lines = np.stack([places[steps.coords[0]], places[steps.coords[1]]], axis=1)
        drawn = list(lines[np.isfinite(lines).all(axis=(1, 2))])
        axes.add_collection(LineCollection(drawn, colors="0.85", linewidths=0.6))
        axes.plot(*places.T, ".", color="0.7", markersize=3)
        axes.set_aspect("equal")
        names = problem.mdp.state_names
        if 0 < len(names) <= NAMED_AT_MOST:
            axes.margins(0.15)
            middle = 0.5 * (np.nanmin(places[:, 0]) + np.nanmax(places[:, 0]))
            for name, place in zip(names, places, strict=True):
                if not np.isfinite(place).all():
                    continue
                # Towards the middle, so that no name leaves the panel.
                side, aside = ("left", 4) if place[0] <= middle else ("right", -4)
                label = axes.annotate(
                    name,
                    place,
                    (aside, 4),
                    textcoords="offset points",
                    ha=side,
                    fontsize=8,
                    zorder=6,
                )
                label.set_path_effects([withStroke(linewidth=2, foreground="white")])
    elif isinstance(problem, GymProblem):
        plane = plane_of(problem.simulator.name)
        plane.backdrop(axes)
        axes.set_aspect(plane.aspect)
        axes.set_xlabel(plane.labels[0])
        axes.set_ylabel(plane.labels[1])


def _placed(problem: Problem[Any], places: FloatArray | None, path: Any) -> FloatArray:
    """A way in the plane, `L x 2`."""
    if isinstance(problem, GymProblem):
        return np.asarray(plane_of(problem.simulator.name).project(path))
    if places is None:
        return np.column_stack([np.arange(len(path)), path]).astype(np.float64)
    found = places[np.asarray(path)]
    return found[np.isfinite(found).all(axis=1)]
