"""The point mass maze: a ball between walls that has to get around a barrier.

`PointMassMaze` is vectorised, for learning. `boirl.domains.maze.env` has the same
as a Gymnasium environment on MuJoCo, registered as `boirl/PointMassMaze-v0`; they agree to 1e-12.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from boirl.domains.maze import dynamics
from boirl.environments.simulator import VectorSimulator
from boirl.rewards.family import RewardFamily, Transitions
from boirl.types import FloatArray, Parameter

HORIZON = 100
GAMMA = 0.9
TRUTH = {"x": 0.3, "y": 0.5}
START_LOW, START_HIGH = (-0.05, -0.06), (0.55, 0.23)
START_SPEED = 0.01
ACTION_COST = 0.001
"""Weight of the squared force in the reward of the paper's code; its text has none."""


class PointMassMaze(VectorSimulator):
    """The maze as a vectorised simulator. States are positions and velocities, `n x 4`."""

    name = "point-mass-maze"
    horizon = HORIZON
    n_actions = None
    action_low = np.full(2, -1.0)
    action_high = np.full(2, 1.0)
    observation_size = 2
    observation_centre = np.full(2, 0.5 * (dynamics.LOW + dynamics.HIGH))
    observation_scale = np.full(2, 0.5 * (dynamics.HIGH - dynamics.LOW))

    def reset(self, n: int, rng: np.random.Generator) -> FloatArray:
        positions = rng.uniform(START_LOW, START_HIGH, (n, 2))
        velocities = rng.uniform(-START_SPEED, START_SPEED, (n, 2))
        return np.hstack([positions, velocities])

    def step(self, states: FloatArray, actions: FloatArray) -> FloatArray:
        moved = dynamics.advance(
            np.ascontiguousarray(states[:, :2]),
            np.ascontiguousarray(states[:, 2:]),
            np.ascontiguousarray(actions, dtype=np.float64),
        )
        return np.hstack(moved)

    def observe(self, states: FloatArray) -> FloatArray:
        return states[:, :2].copy()

    def camera_env(self, theta: FloatArray) -> Any:
        import gymnasium

        from boirl.domains.maze.env import ENV_ID

        return gymnasium.make(ENV_ID, target=tuple(theta), render_mode="rgb_array")


class TargetReward(RewardFamily):
    """`R = -|position - target| - action_cost |force|^2`; the target `(x, y)` is sought."""

    def __init__(self, action_cost: float = 0.0) -> None:
        parameters = [
            Parameter("x", -1.0, 1.0),
            Parameter("y", -1.0, 1.0),
            Parameter("action_cost", 0.0, 1.0, fixed=action_cost),
        ]
        super().__init__(parameters, "state" if action_cost == 0.0 else "state_action")

    def evaluate(self, theta: Tensor, transitions: Transitions) -> Tensor:
        # Written out, as a sum over an axis of two is several times slower.
        x, y = torch.as_tensor(transitions.states).unbind(-1)
        squared = (x - theta[..., 0:1]).square() + (y - theta[..., 1:2]).square()
        rewards = -torch.sqrt(squared + torch.finfo(torch.float64).tiny)
        if self.depends_on == "state":
            return rewards
        force = torch.as_tensor(transitions.actions).square().sum(dim=-1)
        return rewards - theta[..., 2:3] * force


def maze_xml() -> str:
    """The maze for MuJoCo. Its solver runs until it is exact, so that two engines can agree."""
    walls = "\n".join(
        f'<geom type="capsule" size="{dynamics.WALL_RADIUS}" rgba=".3 .3 .35 1" '
        f'fromto="{x0} {y0} {dynamics.WALL_HEIGHT} {x1} {y1} {dynamics.WALL_HEIGHT}"/>'
        for x0, y0, x1, y1 in dynamics.WALLS
    )
    middle = 0.5 * (dynamics.LOW + dynamics.HIGH)
    return f"""
    <mujoco model="point_mass_maze">
      <option timestep="{dynamics.TIMESTEP}" gravity="0 0 0" iterations="50" tolerance="0"
              integrator="Euler"/>
      <default>
        <joint type="slide" damping="{dynamics.DAMPING}"/>
        <geom density="{dynamics.DENSITY}" margin="{dynamics.MARGIN}" condim="1"
              contype="2" conaffinity="1"/>
      </default>
      <worldbody>
        <light pos="{middle} {middle} 2"/>
        <camera name="above" pos="{middle} {middle} 1.1" fovy="45"/>
        <body>
          <geom type="sphere" size="{dynamics.RADIUS}" contype="1" rgba=".2 .4 .9 1"/>
          <joint name="x" axis="1 0 0"/>
          <joint name="y" axis="0 1 0"/>
        </body>
        <site name="target" size="{dynamics.RADIUS}" rgba=".9 .2 .2 1"/>
        {walls}
      </worldbody>
      <actuator>
        <motor joint="x" ctrlrange="-1 1" ctrllimited="true"/>
        <motor joint="y" ctrlrange="-1 1" ctrllimited="true"/>
      </actuator>
    </mujoco>"""
