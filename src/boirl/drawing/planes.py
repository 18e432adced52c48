"""The planes in which paths of an environment are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from boirl.lazy import load
from boirl.registry import Registry
from boirl.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Plane:
    """A plane to draw paths in, and what is drawn behind them.

    Args:
        labels: Of the two axes.
        project: From observations `T x k` to the plane, `T x 2`.
        backdrop: Draws what stands still.
        mark: Draws what a reward is after, given the axes, theta and a colour.
        aspect: `"equal"` where both axes have one unit.
    """

    labels: tuple[str, str]
    project: Callable[[FloatArray], FloatArray]
    backdrop: Callable[[Axes], None] = lambda axes: None
    mark: Callable[[Axes, FloatArray, str], None] = lambda axes, theta, colour: None
    aspect: Literal["equal", "auto"] = "equal"


PLANES: Registry[str] = Registry("plane", "boirl.planes")
"""`"package.module:function"` that makes the plane of an environment, by the simulator's name."""


def plane_of(simulator_name: str) -> Plane:
    """The plane of an environment: its own, or else its first two observations."""
    if simulator_name in PLANES:
        plane: Plane = load(PLANES[simulator_name])()
        return plane
    return Plane(("observation 0", "observation 1"), _first_two, aspect="auto")


def _first_two(states: FloatArray) -> FloatArray:
    if states.shape[1] > 1:
        return states[:, :2]
    return np.column_stack([np.arange(len(states)), states[:, 0]])
