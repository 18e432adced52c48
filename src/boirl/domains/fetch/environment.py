"""Fetch-Reach: a robot arm brings its gripper to a goal (`FetchReach-v4` of Gymnasium-Robotics).

An observation is flat: 16 numbers in the order that `gymnasium.spaces.flatten` gives them,

    achieved goal (`ACHIEVED`), desired goal (`DESIRED`), gripper and fingers (`OBSERVATION`).

An action is four numbers in `[-1, 1]`; the fourth, the fingers, does nothing here. The dynamics do
not depend on the goal. Gymnasium and MuJoCo are imported only once an environment is made.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from boirl.errors import InvalidInputError
from boirl.rewards import RewardFamily, Transitions
from boirl.types import FloatArray, Parameter

ENVIRONMENT_ID = "FetchReach-v4"
HORIZON = 50
OBSERVATION_SIZE, ACTION_SIZE = 16, 4
ACHIEVED, DESIRED, OBSERVATION = slice(0, 3), slice(3, 6), slice(6, 16)
MOVING_ACTIONS = (0, 1, 2)
"""Columns of an action that move the gripper; the fingers are blocked."""

START = np.array([1.34183340, 0.74910102, 0.53473344])
"""Where the gripper is after every reset."""

GOAL_RANGE = 0.15
"""Goals are drawn evenly from a cube around the start, this far to each side."""

SUCCESS_DISTANCE = 0.05

CENTRE: FloatArray = np.concatenate([START, START, START, np.zeros(7)])
SCALE: FloatArray = np.array([0.1] * 9 + [0.01] * 2 + [0.02] * 3 + [0.01] * 2)
"""`(observation - CENTRE) / SCALE` is about one; learning from unscaled observations fails."""

TRUTH = {"threshold": 0.05, "penalty": -1.0}


class Actor(Protocol):
    """Anything that acts on `T x 16` observations by `T x 4` actions."""

    def sample(self, states: FloatArray, rng: np.random.Generator) -> Any: ...

    def mode(self, states: FloatArray) -> Any: ...


class FetchReachReward(RewardFamily):
    """`R(s, a, s') = 0` if the gripper is within `threshold` of the goal at `s'`, else `penalty`.

    The truth is a threshold of 0.05 and a penalty of -1. A positive penalty is a prize for staying
    away.
    """

    def __init__(self) -> None:
        super().__init__(
            [Parameter("threshold", 0.0, 0.25), Parameter("penalty", -1.5, 1.5)], "transition"
        )

    def evaluate(self, theta: Tensor, transitions: Transitions) -> Tensor:
        ends = np.asarray(transitions.next_states, dtype=np.float64)
        if ends.ndim != 2 or ends.shape[1] != OBSERVATION_SIZE:
            raise InvalidInputError(
                f"next states have shape {ends.shape}; expected T x {OBSERVATION_SIZE}, flattened "
                "observations"
            )
        distance = torch.as_tensor(goal_distance(ends))
        threshold, penalty = (column.unsqueeze(-1) for column in theta.unbind(-1))
        return penalty * (distance > threshold)


@dataclass(frozen=True)
class SuccessRate:
    """Shares of episodes that succeeded `at_end`, after all their steps, and `ever`."""

    at_end: float
    ever: float


def goal_distance(observations: FloatArray) -> FloatArray:
    """Distance from gripper to goal, `T`, of flattened observations `T x 16`."""
    gap = observations[..., ACHIEVED] - observations[..., DESIRED]
    distance: FloatArray = np.linalg.norm(gap, axis=-1)
    return distance


def make_fetch_reach(**options: Any) -> Any:
    """The environment, with dictionaries for observations; `options` are `gymnasium.make`'s."""
    # On import, Gymnasium-Robotics prints a notice about environments that are not used here.
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            import gymnasium
            import gymnasium_robotics
    except ImportError as error:
        raise InvalidInputError(
            f"Fetch-Reach needs Gymnasium-Robotics and MuJoCo ({error}); "
            "install them with `pip install gymnasium-robotics 'mujoco<3.12'`"
        ) from error
    gymnasium.register_envs(gymnasium_robotics)
    return gymnasium.make(ENVIRONMENT_ID, **options)


def flatten(observation: dict[str, FloatArray]) -> FloatArray:
    """The 16 numbers of an observation of the environment."""
    return np.concatenate(
        [observation[key] for key in ("achieved_goal", "desired_goal", "observation")]
    )


def set_start(env: Any, start: FloatArray, seed: int | None = None) -> dict[str, FloatArray]:
    """Reset the environment to the goal of a trajectory's first observation, flattened, `start`.

    The gripper starts at the same place every time, so that the goal is all there is to set.

    Returns:
        The first observation as the environment gives it; `flatten` makes 16 numbers of it.
    """
    start = np.asarray(start, dtype=np.float64)
    if start.shape != (OBSERVATION_SIZE,) or not np.isfinite(start).all():
        raise InvalidInputError(
            f"the start is {start!r}; expected {OBSERVATION_SIZE} finite numbers, the first "
            "flattened observation of a trajectory"
        )
    observation, _ = env.reset(seed=seed)
    env.unwrapped.goal = start[DESIRED].copy()
    return {**observation, "desired_goal": start[DESIRED].copy()}


def at_goal(observations: FloatArray) -> NDArray[np.bool_]:
    """Whether the gripper is at its goal, `T`: for `boirl.constraints.reaches(at_goal, ...)`."""
    reached: NDArray[np.bool_] = goal_distance(observations) <= SUCCESS_DISTANCE
    return reached


def draw_goals(n: int, rng: np.random.Generator) -> FloatArray:
    """Goals `n x 3` as the environment draws them."""
    return START + rng.uniform(-GOAL_RANGE, GOAL_RANGE, (n, 3))


def success_rate(
    policy: Actor, episodes: int = 100, seed: int = 0, act: Literal["sample", "mode"] = "sample"
) -> SuccessRate:
    """How often a policy brings the gripper within `SUCCESS_DISTANCE` in the environment.

    Args:
        policy: Acts on flattened observations.
        episodes: Number of episodes of `HORIZON` steps, each with a goal of its own.
        seed: Of goals and actions; the same goals for every policy.
        act: By a draw from the policy, or by its `"mode"`.
    """
    if episodes < 1:
        raise InvalidInputError(f"there are {episodes} episodes; expected one or more")
    if act not in ("sample", "mode"):
        raise InvalidInputError(f"act is {act!r}; expected 'sample' or 'mode'")
    env = make_fetch_reach()
    goals = draw_goals(episodes, np.random.default_rng([seed, 0]))
    rng = np.random.default_rng([seed, 1])
    at_end = ever = 0
    try:
        for goal in goals:
            state = flatten(set_start(env, np.concatenate([START, goal, np.zeros(10)])))
            reached = [False]
            for _ in range(HORIZON):
                rows = state[None]
                action = policy.mode(rows)[0] if act == "mode" else policy.sample(rows, rng)[0]
                observation, _, _, truncated, info = env.step(action.astype(np.float32))
                state = flatten(observation)
                reached.append(bool(info["is_success"]))
                if truncated:
                    break
            at_end += reached[-1]
            ever += any(reached)
    finally:
        env.close()
    return SuccessRate(at_end / episodes, ever / episodes)
