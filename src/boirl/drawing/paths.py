"""Pictures of the paths that learned policies take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from boirl.demonstrations import Demonstrations
from boirl.drawing.planes import Plane, plane_of
from boirl.files import save_figure
from boirl.policies.network import NetworkPolicy
from boirl.problem.simulated import GymProblem
from boirl.results import Result
from boirl.types import FloatArray

EPISODES = 12
MOST_REWARDS = 4
COLOURS = ("tab:red", "tab:blue", "tab:green", "tab:purple")
PATH_STREAM = 21


def has_paths(problem: Any) -> TypeGuard[GymProblem]:
    """Whether there are paths to draw."""
    return isinstance(problem, GymProblem)


def save_paths(found: Result, folder: str | Path) -> list[Path]:
    """Write `paths.png`: the demonstrations, and what the best reward of each behaviour does."""
    groups = found.groups()[:MOST_REWARDS]
    figure = paths_figure(found, [int(group.indices[0]) for group in groups])
    return [save_figure(figure, Path(folder) / "paths.png")]


def paths_figure(found: Result, indices: Sequence[int], seed: int = 0) -> Figure:
    """The demonstrations beside the paths of the policies of some evaluations.

    Args:
        found: A result in an environment where policies are learned; it keeps the policies.
        indices: Numbers of at most four evaluations.
        seed: Of the roll-outs, which start where demonstrations did.
    """
    problem: Any = found.problem
    chosen = list(indices)[:MOST_REWARDS]
    plane = plane_of(problem.simulator.name)
    figure = Figure(figsize=(4.2 * (1 + len(chosen)), 4.6), layout="constrained")
    panels = figure.subplots(1, 1 + len(chosen), sharex=True, sharey=True, squeeze=False)[0]
    shown = min(EPISODES, len(problem.demonstrations))
    _draw(panels[0], plane, problem.demonstrations.subset(np.arange(shown)), "black")
    panels[0].set_title("demonstrations")
    for axes, index, colour in zip(panels[1:], chosen, COLOURS, strict=False):
        theta = found.thetas[index]
        _draw(axes, plane, roll_out(problem, found.policy(index), seed), colour)
        if found.evaluations[index].reward is None:
            plane.mark(axes, theta, colour)
        axes.set_title(name_of(problem, theta), fontsize=9)
    panels[0].set_ylabel(plane.labels[1])
    return figure


def roll_out(
    problem: GymProblem, policy: NetworkPolicy, seed: int, episodes: int = EPISODES
) -> Demonstrations:
    """What a policy does from where some demonstrations start."""
    rng = np.random.default_rng([seed, PATH_STREAM])
    n = min(episodes, len(problem.demonstrations))
    longest = int(problem.demonstrations.lengths.max())
    return problem.roll_out(policy, problem.demonstrations.starts[:n], longest, rng)


def _draw(axes: Axes, plane: Plane, trajectories: Demonstrations, colour: str) -> None:
    plane.backdrop(axes)
    for one in trajectories:
        ended = np.isfinite(one.next_states[-1:]).all(axis=1)
        path = plane.project(np.vstack([one.states, one.next_states[-1:][ended]]))
        axes.plot(*path.T, color=colour, alpha=0.5, linewidth=1)
        axes.plot(*path[0], ".", color=colour, markersize=4)
        axes.plot(*path[-1], "o", color=colour, markersize=5, markerfacecolor="none")
    axes.set_xlabel(plane.labels[0])
    axes.set_aspect(plane.aspect)


def name_of(problem: GymProblem, theta: FloatArray) -> str:
    """The parameters of a reward, for a title; those of a network have no names."""
    if len(theta) != problem.box.dimension:
        return "learned network"
    pairs = zip(problem.box.names, theta, strict=True)
    return ", ".join(f"{name} = {value:.3g}" for name, value in pairs)
