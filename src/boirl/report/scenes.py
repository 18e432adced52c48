"""How behaviour is drawn: what stands still, and what a policy adds to it.

A scene turns policies into *frames*, small records that the page draws. Grids, tables and learned
paths have scenes here; a domain with a geometry of its own registers one in `SCENES`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from boirl.lazy import load
from boirl.registry import Registry
from boirl.types import FloatArray

Frame = dict[str, Any]
"""What is drawn of one policy, ready for JSON. The page knows these keys:

- `at`, `visits`: squares, discs or lines of the scene by number, and how often each is visited;
- `choices`: for each of `at`, the probability of each of the scene's moves, end to end;
- `paths`: lines, each as numbers `x0, y0, x1, y1, ...`;
- `marks`: circles `x, y, radius`, radius 0 for a cross; `dots`: points `x, y` with error bars
  `low, high`;
- `rows`: of a table, each `[state, visits, [[action, probability], ...]]`.
"""


class Scene(ABC):
    """How the behaviour of policies on one problem is drawn.

    Attributes:
        caption: Says what the marks mean.
        difference: Says what the marks of two behaviours in one picture mean; empty where they
            cannot be drawn so.
    """

    caption: str
    difference: str = "Orange: visited more often; blue: less often."

    @abstractmethod
    def still(self) -> Frame:
        """What stands still, ready for JSON.

        - `bounds`: `x0, y0, x1, y1`; `up`: whether y grows upwards; `stretch`: whether the axes
          have different units; `axes`: their labels;
        - `squares` or `discs`: `x, y` of each; `lines`: `x0, y0, x1, y1` of each; `names`: of
          squares;
        - `moves`: for each square, `dx, dy` of each action; `ends`: squares where all ends;
          `walls`: lines behind everything;
        - `labels`: `x, y, text`; `table`: whether frames are rows in place of all this.
        """

    @abstractmethod
    def frame(self, policy: Any, theta: FloatArray) -> Frame:
        """What a policy adds; `theta` is the reward that it is for."""

    @abstractmethod
    def demonstrated(self) -> Frame:
        """What the demonstrations add."""

    def pictures(self, policy: Any, theta: FloatArray) -> list[str]:
        """Photographs of a policy at work, as `data:` addresses; none where there is no camera.

        Raises:
            InvalidInputError: There is a camera that does not work on this machine.
        """
        return []

    def chances(self, policy: Any, state: Any) -> FloatArray | None:
        """Probability of each action in a state, where there are finitely many; else None."""
        return None

    def state_name(self, state: Any) -> str:
        """A state in words, as in `boirl.types.Difference`."""
        return f"state {state}"

    def action_name(self, state: Any, action: Any) -> str:
        """An action in words."""
        return f"action {action}"


class SceneEntry(NamedTuple):
    """Scenes of some problems.

    Attributes:
        applies: `"package.module:function"`, from a problem to whether it has such a scene.
        build: `"package.module:function"`, from a problem to its `Scene`.
    """

    applies: str
    build: str


SCENES: Registry[SceneEntry] = Registry("scene", "boirl.scenes")
"""Scenes by name. Where several apply, the one that was registered last is taken."""

SCENES.register(
    "table",
    SceneEntry("boirl.report.table_scene:has_table", "boirl.report.table_scene:TableScene"),
)
SCENES.register(
    "grid", SceneEntry("boirl.report.grid_scene:has_grid", "boirl.report.grid_scene:GridScene")
)
SCENES.register(
    "paths", SceneEntry("boirl.drawing.paths:has_paths", "boirl.report.path_scene:PathScene")
)


def scene_of(problem: Any) -> Scene | None:
    """The scene of a problem; None where nothing is known of how to draw it."""
    for entry in reversed(list(SCENES.values())):
        if load(entry.applies)(problem):
            scene: Scene = load(entry.build)(problem)
            return scene
    return None
