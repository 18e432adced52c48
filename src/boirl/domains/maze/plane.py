"""The maze seen from above."""

from __future__ import annotations

from matplotlib.axes import Axes

from boirl.domains.maze import dynamics
from boirl.drawing.planes import Plane
from boirl.types import FloatArray


def maze_plane() -> Plane:
    """Walls behind the paths, and the target of the reward."""
    return Plane(("x", "y"), lambda states: states[:, :2], _draw_walls, _mark_target)


def _draw_walls(axes: Axes) -> None:
    for x0, y0, x1, y1 in dynamics.WALLS:
        axes.plot([x0, x1], [y0, y1], color="dimgray", linewidth=5, solid_capstyle="round")


def _mark_target(axes: Axes, theta: FloatArray, colour: str) -> None:
    axes.plot(*theta[:2], "X", color=colour, markersize=11, markeredgecolor="white")
