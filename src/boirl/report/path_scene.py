"""Behaviour where policies are learned: the paths that they take."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from boirl.demonstrations import Demonstrations
from boirl.drawing.paths import EPISODES, roll_out
from boirl.drawing.planes import plane_of
from boirl.problem.simulated import GymProblem
from boirl.report.film_strip import film_strip, has_camera
from boirl.report.numbers import short
from boirl.report.scenes import Frame, Scene
from boirl.types import FloatArray

PATH_POINTS = 60
"""A longer path is drawn by so many of its points."""

MARGIN = 0.05


class PathScene(Scene):
    """Paths in the plane of the environment, from where demonstrations start."""

    caption = (
        "Paths from where demonstrations start; a ring is where one ends. Orange marks the place "
        "that a reward is paid at, where it has one."
    )
    difference = "Blue: this one; orange: the other."

    def __init__(self, problem: GymProblem) -> None:
        self.problem = problem
        self.plane = plane_of(problem.simulator.name)

    def still(self) -> Frame:
        walls = self._drawn(self.plane.backdrop)["paths"]
        shown = [*self.demonstrated()["paths"], *walls]
        points = np.concatenate([np.reshape(path, (-1, 2)) for path in shown])
        low, high = points.min(axis=0), points.max(axis=0)
        margin = MARGIN * np.maximum(high - low, 1e-9)
        return {
            "bounds": short(np.concatenate([low - margin, high + margin])),
            "up": True,
            "stretch": self.plane.aspect != "equal",
            "axes": list(self.plane.labels),
            "walls": walls,
        }

    def frame(self, policy: Any, theta: FloatArray) -> Frame:
        paths = self._paths(roll_out(self.problem, policy, seed=0))
        if len(theta) != self.problem.box.dimension:
            return {"paths": paths}
        marks = self._drawn(lambda axes: self.plane.mark(axes, theta, "black"))["marks"]
        return {"paths": paths, "marks": marks}

    def pictures(self, policy: Any, theta: FloatArray) -> list[str]:
        return film_strip(self.problem, policy, theta) if has_camera(self.problem) else []

    def demonstrated(self) -> Frame:
        shown = self.problem.demonstrations
        return {"paths": self._paths(shown.subset(np.arange(min(EPISODES, len(shown)))))}

    def _paths(self, trajectories: Demonstrations) -> list[Any]:
        paths = []
        for one in trajectories:
            ended = np.isfinite(one.next_states[-1:]).all(axis=1)
            path = self.plane.project(np.vstack([one.states, one.next_states[-1:][ended]]))
            chosen = np.unique(np.linspace(0, len(path) - 1, PATH_POINTS).round().astype(int))
            paths.append(short(path[chosen].reshape(-1), 3))
        return paths

    def _drawn(self, draw: Any) -> Frame:
        """What a plane draws with Matplotlib, as lines and marks."""
        axes = Figure().subplots()
        draw(axes)
        lines = [np.asarray(line.get_xydata()) for line in axes.lines]
        circles: list[Any] = [patch for patch in axes.patches if isinstance(patch, Circle)]
        return {
            "paths": [short(line.reshape(-1)) for line in lines if len(line) > 1],
            "marks": [[*short(line[0]), 0] for line in lines if len(line) == 1]
            + [short(np.append(one.get_center(), one.get_radius())) for one in circles],
        }

    def state_name(self, state: Any) -> str:
        return f"observation ({', '.join(f'{value:.2g}' for value in np.ravel(state)[:6])})"

    def action_name(self, state: Any, action: Any) -> str:
        if np.ndim(action) == 0:
            return f"action {action}"
        return f"({', '.join(f'{value:.2g}' for value in np.ravel(action))})"
