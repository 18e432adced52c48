"""The gripper seen from above, with the goal in the middle."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.patches import Circle

from boirl.drawing.planes import Plane
from boirl.types import FloatArray


def fetch_plane() -> Plane:
    """Positions relative to the goal, and the threshold of the reward around it."""
    labels = ("x from the goal, in cm", "y from the goal, in cm")
    return Plane(labels, _from_goal, mark=_mark_threshold)


def _from_goal(states: FloatArray) -> FloatArray:
    return 100.0 * (states[:, 0:2] - states[:, 3:5])


def _mark_threshold(axes: Axes, theta: FloatArray, colour: str) -> None:
    axes.add_patch(Circle((0.0, 0.0), 100.0 * theta[0], color=colour, alpha=0.15))
