"""Environments as stable-baselines3 sees them: rewards of a theta, flat observations or goals."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces

from boirl.environments.gym_simulator import GymSimulator, observation_parts
from boirl.errors import InvalidInputError, SolverError
from boirl.policies.solver import Task
from boirl.types import FloatArray


class FlatEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The environment with flat, scaled observations and the reward of a task."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.simulator = cast(GymSimulator, task.simulator)
        super().__init__(gymnasium.wrappers.TimeLimit(self.simulator.make(), task.horizon))
        size = (self.simulator.observation_size,)
        self.observation_space: Any = spaces.Box(-np.inf, np.inf, size, np.float32)
        self._last = np.zeros(size)

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**options)
        self._last = self.simulator.flatten(observation)
        return self.present(self._last), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, _, terminated, truncated, info = self.env.step(action)
        before, self._last = self._last, self.simulator.flatten(observation)
        acted = np.asarray(action).reshape(1, *np.shape(action))
        reward = float(self.task.rewards(before[None], acted, self._last[None])[0])
        if not np.isfinite(reward):
            raise SolverError(
                f"the reward is {reward} in observation {before.tolist()}; expected finite rewards "
                "wherever the environment goes"
            )
        return self.present(self._last), reward, terminated, truncated, info

    def present(self, flat: FloatArray) -> Any:
        """What the learner sees of a flat observation."""
        scaled = (flat - self.simulator.observation_centre) / self.simulator.observation_scale
        return scaled.astype(np.float32)


class GoalEnv(FlatEnv):
    """The same with goals apart, and rewards for goals that were not pursued."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.parts = observation_parts(self.simulator.env.observation_space)
        missing = {"observation", "achieved_goal", "desired_goal"} - set(self.parts)
        if missing:
            raise InvalidInputError(
                f"the observations lack {', '.join(sorted(missing))}; hindsight needs goals"
            )
        # In the order of the environment's; a plain dictionary would be sorted.
        self.observation_space = spaces.Dict(
            OrderedDict(
                (name, spaces.Box(-np.inf, np.inf, (part.stop - part.start,), np.float32))
                for name, part in self.parts.items()
            )
        )

    def present(self, flat: FloatArray) -> Any:
        scaled = super().present(flat)
        return {name: scaled[part] for name, part in self.parts.items()}

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """Rewards of next observations with these goals; a single one or a batch."""
        achieved = np.atleast_2d(achieved_goal)
        flat = np.full((len(achieved), self.simulator.observation_size), np.nan)
        for name, goal in (("achieved_goal", achieved), ("desired_goal", desired_goal)):
            part = self.parts[name]
            centre = np.broadcast_to(self.simulator.observation_centre, flat.shape[1:])[part]
            scale = np.broadcast_to(self.simulator.observation_scale, flat.shape[1:])[part]
            flat[:, part] = np.atleast_2d(goal) * scale + centre
        unknown = np.full((len(flat), len(self.simulator.action_low)), np.nan)
        rewards = self.task.rewards(np.full_like(flat, np.nan), unknown, flat)
        if not np.isfinite(rewards).all():
            raise SolverError(
                "the reward is not finite for relabelled goals; with hindsight it may depend on "
                "the goals of the next observation alone"
            )
        return rewards if np.ndim(achieved_goal) > 1 else rewards[0]
