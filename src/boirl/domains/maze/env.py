"""The point mass maze on MuJoCo, as a Gymnasium environment."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import mujoco
import numpy as np
from gymnasium import spaces

from boirl.domains.maze import dynamics
from boirl.domains.maze.simulator import (
    HORIZON,
    START_HIGH,
    START_LOW,
    START_SPEED,
    TRUTH,
    maze_xml,
)
from boirl.errors import InvalidInputError
from boirl.types import FloatArray

PICTURE_SIZE = 480


class PointMassMazeEnv(gymnasium.Env[FloatArray, FloatArray]):
    """Reward: `-|position - target|` of the position that the action was taken in.

    Args:
        target: `(x, y)`.
        render_mode: None or `"rgb_array"`.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012

    def __init__(
        self,
        target: tuple[float, float] = (TRUTH["x"], TRUTH["y"]),
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise InvalidInputError(f"render_mode is {render_mode!r}; expected None or 'rgb_array'")
        self.target = (float(target[0]), float(target[1]))
        self.render_mode = render_mode
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float64)
        self.model = mujoco.MjModel.from_xml_string(maze_xml())
        self.model.site("target").pos[:2] = self.target
        self.data = mujoco.MjData(self.model)
        self._renderer: mujoco.Renderer | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[FloatArray, dict[str, Any]]:
        super().reset(seed=seed)
        position = self.np_random.uniform(START_LOW, START_HIGH)
        velocity = self.np_random.uniform(-START_SPEED, START_SPEED, 2)
        self.set_state(position, velocity)
        return self._get_obs(), {}

    def set_state(self, qpos: FloatArray, qvel: FloatArray) -> None:
        """Put the ball somewhere, at a velocity."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = qpos, qvel
        mujoco.mj_forward(self.model, self.data)

    def step(self, action: FloatArray) -> tuple[FloatArray, float, bool, bool, dict[str, Any]]:
        reward = -math.dist(self.data.qpos, self.target)
        self.data.ctrl[:] = action
        mujoco.mj_step(self.model, self.data, nstep=dynamics.FRAME_SKIP)
        return self._get_obs(), reward, False, False, {}

    def render(self) -> Any:
        if self._renderer is None:
            self._renderer = mujoco.Renderer(self.model, PICTURE_SIZE, PICTURE_SIZE)
        mujoco.mj_forward(self.model, self.data)
        self._renderer.update_scene(self.data, camera="above")
        return self._renderer.render()

    def close(self) -> None:
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _get_obs(self) -> FloatArray:
        return self.data.qpos.copy()


ENV_ID = "boirl/PointMassMaze-v0"
gymnasium.register(ENV_ID, entry_point=f"{__name__}:PointMassMazeEnv", max_episode_steps=HORIZON)
