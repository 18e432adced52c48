"""Maps of the labyrinth: where animals went, where a reward would go, what places are worth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize, TwoSlopeNorm
from matplotlib.figure import Figure

from boirl.domains.labyrinth.maze import Maze
from boirl.domains.labyrinth.problem import LabyrinthProblem
from boirl.files import save_figure
from boirl.policies import TabularPolicy
from boirl.results import Result
from boirl.rewards import RewardFamily, Transitions
from boirl.types import FloatArray

LEAST_SHARE = 1e-3
"""Nodes with a smaller share of all steps are drawn as if they had this one."""


def has_map(problem: Any) -> bool:
    """Whether a problem is in a labyrinth."""
    return isinstance(problem, LabyrinthProblem)


def save_maps(found: Result, folder: str | Path) -> list[Path]:
    """Write `labyrinth.png`: recorded steps, what the best reward does, and what it pays."""
    problem: Any = found.problem
    best = found.evaluations[found.best_index]
    worth = arrival_rewards(problem, best.reward or problem.reward, best.theta)
    figure = labyrinth_map(problem, found.policy(found.best_index), worth)
    return [save_figure(figure, Path(folder) / "labyrinth.png")]


def labyrinth_map(problem: LabyrinthProblem, policy: TabularPolicy, worth: FloatArray) -> Figure:
    """Three maps: shares of recorded steps by node, those of a policy, and rewards of nodes.

    Args:
        problem: Whose demonstrations are drawn.
        policy: Of a reward.
        worth: What arriving at each node is worth, `nodes`.
    """
    figure = Figure(figsize=(16.0, 5.6), layout="constrained")
    axes = figure.subplots(1, 3)
    shares = [problem.visits_by_node(), problem.visits_by_node(policy)]
    norm = LogNorm(LEAST_SHARE, max(float(share.max()) for share in shares))
    for one, share, title in zip(
        axes, shares, ("recorded steps", "what this reward does"), strict=False
    ):
        _draw(one, problem.maze, np.maximum(share, LEAST_SHARE), norm, "viridis_r", title)
    figure.colorbar(ScalarMappable(norm, "viridis_r"), ax=axes[:2], shrink=0.8).set_label(
        "share of steps that arrive at a node"
    )
    size = max(float(np.abs(worth).max()), 1e-12)
    signed = TwoSlopeNorm(0.0, -size, size)
    _draw(axes[2], problem.maze, worth, signed, "RdBu", "what this reward pays for arriving")
    figure.colorbar(ScalarMappable(signed, "RdBu"), ax=axes[2], shrink=0.8).set_label(
        "reward, without that of turning back"
    )
    return figure


def arrival_rewards(problem: LabyrinthProblem, reward: RewardFamily, theta: Any) -> FloatArray:
    """What a reward pays for arriving at each node without turning back, `nodes`.

    The mean over the nodes that one may come from; what is fixed, and going home, left out.
    """
    maze = problem.maze
    states = np.flatnonzero((maze.places[:, 2] == 0) & (maze.places[:, 1] >= 0))
    family = reward
    if reward is problem.reward:
        fixed = {one.name: 0.0 for one in reward.parameters if one.fixed is not None}
        family = reward.fix(**fixed)
    transitions = Transitions(states, np.zeros_like(states), states)
    with torch.no_grad():
        paid = family(torch.tensor(np.array([theta], dtype=np.float64)), transitions)[0].numpy()
    nodes = maze.places[states, 0]
    totals = np.bincount(nodes, paid, maze.n_nodes)
    return totals / np.maximum(np.bincount(nodes, minlength=maze.n_nodes), 1)


def _draw(
    axes: Axes, maze: Maze, values: FloatArray, norm: Normalize, colours: str, title: str
) -> None:
    where = maze.layout
    for node in range(1, maze.n_nodes):
        ends = where[[node, (node - 1) // 2]]
        axes.plot(*ends.T, color="0.75", linewidth=2.0, zorder=1)
    size = np.where(np.arange(maze.n_nodes) == maze.water, 150.0, 60.0)
    x, y = where.T
    axes.scatter(x, y, size, values, cmap=colours, norm=norm, zorder=2, edgecolors="0.3")
    for node, name in ((maze.water, "water"), (0, "entrance")):
        axes.annotate(
            name, where[node], xytext=(0, 10), textcoords="offset points", ha="center", zorder=3
        )
    axes.set_title(title)
    axes.set_aspect("equal")
    axes.set_axis_off()
