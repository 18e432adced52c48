"""Any Gymnasium environment as a simulator.

Observations are flattened to vectors; those of a `Dict` space in the order of its keys, which
`observation_parts` describes. Roll-outs begin where demonstrations began if the environment can be
set to a state. That is found out in this order:

1. `set_start(env, start)`, a function of the user's that returns the first observation;
2. MuJoCo environments (`set_state(qpos, qvel)`), from start states `qpos, qvel`;
3. environments with an attribute `state`, such as those of classic control, from start states
   like it;
4. otherwise, and where a wrapper has a memory, the environment's own reset starts every roll-out.
   The projection then compares demonstrations with trajectories from other starts: it still
   separates rewards, with more noise.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from boirl.demonstrations import Demonstrations
from boirl.environments.simulator import Actor, Simulator
from boirl.errors import InvalidInputError
from boirl.types import FloatArray

Env = gymnasium.Env[Any, Any]
EnvSource = str | Callable[[], Env] | Env
SetStart = Callable[[Env, FloatArray], Any]

HORIZON = 1000
"""Steps of an episode in an environment that sets no limit of its own."""


UNBOUNDED = 1e6
"""Bounds beyond this say nothing about the size of observations."""


@dataclass(eq=False)
class GymSimulator(Simulator):
    """A Gymnasium environment, one episode at a time.

    Args:
        source: The id of an environment, a function that makes one, or one that was made by id.
        set_start: How to set it to a start state, where it does not say so itself.
        horizon: Steps of an episode at most; by default the environment's own limit.
        centre: Subtracted from flattened observations, `k`, before they are divided by
        scale: for a network to learn on. By default bounds are scaled to [-1, 1], and numbers
            without bounds are left as they are.
    """

    source: EnvSource
    set_start: SetStart | None = None
    horizon: int = 0
    centre: FloatArray | None = None
    scale: FloatArray | None = None
    env: Env = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.env = self.make()
        space = self.env.action_space
        self.n_actions, self.action_low, self.action_high = None, np.empty(0), np.empty(0)
        if isinstance(space, spaces.Discrete):
            if space.start != 0:
                raise InvalidInputError(
                    f"actions are numbered from {space.start}; expected them to start at 0"
                )
            self.n_actions = int(space.n)
        elif isinstance(space, spaces.Box) and len(space.shape) == 1:
            self.action_low = space.low.astype(np.float64)
            self.action_high = space.high.astype(np.float64)
            if not np.isfinite([self.action_low, self.action_high]).all():
                raise InvalidInputError(
                    f"actions are bounded by {space.low} and {space.high}; expected finite bounds "
                    "(wrap the environment in gymnasium.wrappers.RescaleAction)"
                )
        else:
            raise InvalidInputError(
                f"the actions are {space}; expected a Discrete space or a Box of one axis"
            )
        observations = self.env.observation_space
        if isinstance(observations, spaces.Dict):
            parts = list(observations.spaces.values())
        else:
            parts = [observations]
        if not all(isinstance(part, spaces.Box) for part in parts):
            raise InvalidInputError(
                f"the observations are {observations}; expected a Box or a Dict of boxes"
            )
        flat: Any = spaces.flatten_space(observations)
        self.observation_size = flat.shape[0]
        low, high = flat.low.astype(np.float64), flat.high.astype(np.float64)
        bounded = (np.maximum(np.abs(low), np.abs(high)) < UNBOUNDED) & (low < high)
        low, high = np.where(bounded, low, -1.0), np.where(bounded, high, 1.0)
        self.observation_centre = 0.5 * (low + high) if self.centre is None else self.centre
        self.observation_scale = 0.5 * (high - low) if self.scale is None else self.scale
        limit = None if self.env.spec is None else self.env.spec.max_episode_steps
        self.horizon = self.horizon or limit or HORIZON

    def make(self) -> Env:
        """A new copy of the environment."""
        source: Any = self.source
        try:
            if isinstance(source, str):
                return gymnasium.make(source)
            if isinstance(source, gymnasium.Env):
                if source.spec is None:
                    raise InvalidInputError(
                        "the environment was not made by its id, so that no copies of it can be "
                        "made; expected an id or a function that makes one, such as env=lambda: "
                        "MyEnv()"
                    )
                return gymnasium.make(source.spec)
            made = source()
        except gymnasium.error.Error as error:
            raise InvalidInputError(f"Gymnasium cannot make {source!r}: {error}") from error
        if not isinstance(made, gymnasium.Env):
            raise InvalidInputError(
                f"env made {type(made).__name__}; expected a Gymnasium environment"
            )
        return made

    def camera_env(self, theta: FloatArray) -> Env:
        if isinstance(self.source, str):
            return gymnasium.make(self.source, render_mode="rgb_array")
        if isinstance(self.source, gymnasium.Env) and self.source.spec is not None:
            return gymnasium.make(self.source.spec, render_mode="rgb_array")
        if callable(self.source) and _takes_render_mode(self.source):
            make: Any = self.source
            return make(render_mode="rgb_array")
        raise InvalidInputError(
            "the environment is made by a function that takes no render_mode, so that boirl cannot "
            "ask it for pictures"
        )

    @property
    def name(self) -> str:  # type: ignore[override]
        """The id of the environment, or its class."""
        spec = self.env.spec
        return type(self.env.unwrapped).__name__ if spec is None else spec.id

    @property
    def identity(self) -> str:
        spec = self.env.spec
        options = {} if spec is None else spec.kwargs
        return f"{self.name} {sorted((key, repr(value)) for key, value in options.items())}"

    def flatten(self, observation: Any) -> FloatArray:
        """An observation as a vector, `k`."""
        flat = spaces.flatten(self.env.observation_space, observation)
        return np.asarray(flat, dtype=np.float64).reshape(-1)

    def start_state(self) -> FloatArray | None:
        """What to set the environment to for it to be as it is now; None where nobody knows."""
        inner: Any = self.env.unwrapped
        if self.set_start is not None:
            return None
        if _is_mujoco(inner):
            return np.concatenate([inner.data.qpos, inner.data.qvel])
        state = getattr(inner, "state", None)
        return None if state is None else np.array(state, dtype=np.float64).reshape(-1)

    def roll_out(
        self,
        policy: Actor | None,
        starts: FloatArray | int,
        horizon: int,
        rng: np.random.Generator,
    ) -> Demonstrations:
        episodes = [None] * int(starts) if np.ndim(starts) == 0 else list(np.asarray(starts))
        trajectories, states = [], []
        for start in episodes:
            observation = self._begin(start, rng)
            states.append(self.start_state())
            seen, acted = [observation], []
            for _ in range(horizon):
                drawn = (
                    self.uniform_actions(1, rng)
                    if policy is None
                    else policy.sample(observation[None], rng)
                )[0]
                acted.append(drawn)
                raw, _, terminated, truncated, _ = self.env.step(self.as_action(drawn))
                observation = self.flatten(raw)
                seen.append(observation)
                if terminated or truncated:
                    break
            trajectories.append((np.array(seen), np.array(acted)))
        known = all(state is not None for state in states)
        return Demonstrations.from_trajectories(trajectories, np.array(states) if known else None)

    def as_action(self, drawn: Any) -> Any:
        """An action as the environment's own space has it."""
        if self.n_actions is not None:
            return int(drawn)
        return np.asarray(drawn, dtype=self.env.action_space.dtype)

    def _begin(self, start: FloatArray | None, rng: np.random.Generator) -> FloatArray:
        seed = int(rng.integers(2**31))
        observation, _ = self.env.reset(seed=seed)
        if start is None:
            return self.flatten(observation)
        inner: Any = self.env.unwrapped
        if self.set_start is not None:
            return self.flatten(self.set_start(self.env, start))
        current = self.start_state()
        if current is None or current.shape != np.shape(start):
            return self.flatten(observation)
        if _is_mujoco(inner):
            inner.set_state(start[: len(inner.data.qpos)], start[len(inner.data.qpos) :])
        else:
            inner.state = np.array(start)
        observe = getattr(inner, "_get_obs", None) or getattr(inner, "_get_ob", None)
        seen = self._wrapped(start if observe is None else observe())
        if np.size(seen) == np.size(observation):
            return self.flatten(seen)
        # A wrapper keeps a memory, which a start state does not set.
        return self.flatten(self.env.reset(seed=seed)[0])

    def _wrapped(self, observation: Any) -> Any:
        """What the wrappers of the environment make of an observation of its own."""
        wrappers: list[Any] = []
        env: Any = self.env
        while env is not self.env.unwrapped:
            wrappers.append(env)
            env = env.env
        for wrapper in reversed(wrappers):
            if isinstance(wrapper, gymnasium.ObservationWrapper):
                observation = wrapper.observation(observation)
        return observation


def _is_mujoco(env: Any) -> bool:
    """Whether an environment is set to positions and velocities."""
    return hasattr(env, "set_state") and hasattr(env, "data")


def observation_parts(space: spaces.Space[Any]) -> dict[str, slice]:
    """Where the parts of a `Dict` observation are in the flattened vector."""
    if not isinstance(space, spaces.Dict):
        raise InvalidInputError(f"the observations are {space}; expected a Dict space")
    ends = np.cumsum([spaces.flatdim(part) for part in space.spaces.values()])
    return {
        name: slice(int(end) - spaces.flatdim(part), int(end))
        for (name, part), end in zip(space.spaces.items(), ends, strict=True)
    }


def part_of(states: NDArray[Any], space: spaces.Space[Any], name: str) -> NDArray[Any]:
    """One part of flattened `Dict` observations, `T x j` of `T x k`."""
    return states[:, observation_parts(space)[name]]


def _takes_render_mode(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters
    return "render_mode" in parameters or any(
        one.kind == one.VAR_KEYWORD for one in parameters.values()
    )
