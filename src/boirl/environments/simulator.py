"""Environments that are sampled: what problems and solvers ask of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.errors import DemonstrationError, InvalidInputError
from boirl.types import FloatArray

BOUND_SLACK = 1e-6
"""How far actions may be beyond their bounds, as a share of the range, for rounding."""


class Actor(Protocol):
    """Anything that draws an action for each of `n` observations."""

    def sample(self, states: FloatArray, rng: np.random.Generator) -> Any: ...


class Simulator(ABC):
    """An environment without a reward.

    Attributes:
        name: Of the environment; two different ones have two names.
        horizon: Steps of an episode at most.
        n_actions: Number of actions to choose from; None where actions are vectors.
        action_low: Bounds of the actions, `m`; empty where they are numbered.
        action_high: The same.
        observation_size: `k`.
        observation_centre: Subtracted from observations, `k`, before
        observation_scale: they are divided by this, for a network to learn on.
        rollouts_to_compare: Roll-outs that it takes to compare two policies.
        rollouts_to_measure: Roll-outs that it takes to measure the return of one.
    """

    name: str
    horizon: int
    n_actions: int | None
    action_low: FloatArray
    action_high: FloatArray
    observation_size: int
    observation_centre: FloatArray
    observation_scale: FloatArray
    rollouts_to_compare: int = 10
    rollouts_to_measure: int = 100

    @property
    def identity(self) -> str:
        """Identifies the environment, its settings included."""
        return self.name

    @abstractmethod
    def roll_out(
        self,
        policy: Actor | None,
        starts: FloatArray | int,
        horizon: int,
        rng: np.random.Generator,
    ) -> Demonstrations:
        """Trajectories of at most `horizon` steps.

        Args:
            policy: Whose actions to take; None for uniformly random ones.
            starts: Where to start, one row per trajectory (`Demonstrations.starts`); or a number of
                trajectories that start where the environment starts them.
            horizon: Trajectories end earlier where the environment does.
            rng: All randomness comes from here.
        """

    def camera_env(self, theta: FloatArray) -> Any:
        """A Gymnasium environment that draws itself, for films of the policy of theta.

        Raises:
            InvalidInputError: There is none.
        """
        raise InvalidInputError(f"environment {self.name!r} cannot draw itself")

    def uniform_actions(self, n: int, rng: np.random.Generator) -> Any:
        """Uniformly random actions, `n` or `n x m`."""
        if self.n_actions is not None:
            return rng.integers(self.n_actions, size=n)
        return rng.uniform(self.action_low, self.action_high, (n, len(self.action_low)))


class VectorSimulator(Simulator):
    """Many copies of an environment that advance together and never end before the horizon.

    States are `n x q`; what a policy sees of them is `observe(states)`, `n x k`.
    """

    rollouts_to_compare = 500
    rollouts_to_measure = 2000

    @abstractmethod
    def reset(self, n: int, rng: np.random.Generator) -> FloatArray:
        """States to start from, `n x q`."""

    @abstractmethod
    def step(self, states: FloatArray, actions: FloatArray) -> FloatArray:
        """The states that follow, `n x q`."""

    @abstractmethod
    def observe(self, states: FloatArray) -> FloatArray:
        """Observations `n x k`."""

    def roll_out(
        self,
        policy: Actor | None,
        starts: FloatArray | int,
        horizon: int,
        rng: np.random.Generator,
    ) -> Demonstrations:
        begin = self.reset(int(starts), rng) if np.ndim(starts) == 0 else np.asarray(starts)
        states, observed, acted = begin, [self.observe(begin)], []
        for _ in range(horizon):
            drawn = (
                self.uniform_actions(len(states), rng)
                if policy is None
                else policy.sample(observed[-1], rng)
            )
            states = self.step(states, drawn)
            acted.append(drawn)
            observed.append(self.observe(states))
        seen = np.stack(observed, axis=1)
        return Demonstrations(
            states=seen[:, :-1].reshape(-1, seen.shape[2]),
            actions=np.stack(acted, axis=1).reshape(-1, len(self.action_low)),
            next_states=seen[:, 1:].reshape(-1, seen.shape[2]),
            lengths=np.full(len(begin), horizon),
            start_states=begin,
        )


def fit_to(simulator: Simulator, demonstrations: Demonstrations) -> Demonstrations:
    """Refuse demonstrations of another environment; actions a hair off a bound are put on it."""
    actions = demonstrations.actions
    if demonstrations.states.shape[1:] != (simulator.observation_size,):
        raise DemonstrationError(
            f"observations have shape {demonstrations.states.shape}; expected a row of "
            f"{simulator.observation_size} numbers per step, as {simulator.name} observes them"
        )
    if simulator.n_actions is not None:
        if actions.ndim != 1:
            raise DemonstrationError(
                f"actions have shape {actions.shape}; expected one whole number per step"
            )
        expected = f"a whole number below {simulator.n_actions}"
        _refuse(demonstrations, actions >= simulator.n_actions, expected)
        return demonstrations
    low, high = simulator.action_low, simulator.action_high
    if actions.shape[1:] != low.shape:
        raise DemonstrationError(
            f"actions have shape {actions.shape}; expected a row of {len(low)} numbers per step"
        )
    slack = BOUND_SLACK * (high - low)
    wrong = np.any((actions < low - slack) | (actions > high + slack), axis=1)
    expected = f"numbers from {low} to {high} (clip actions as the environment does)"
    _refuse(demonstrations, wrong, expected)
    # Bounds may be those of a float32: what is close to one is at it.
    snapped = np.where(actions <= low + slack, low, actions)
    return replace(demonstrations, actions=np.where(actions >= high - slack, high, snapped))


def _refuse(demonstrations: Demonstrations, wrong: Any, expected: str) -> None:
    """Name the first step whose action is wrong."""
    if wrong.any():
        step = int(wrong.argmax())
        raise DemonstrationError(
            f"trajectory {demonstrations.trajectory_numbers[step]}, step "
            f"{demonstrations.step_numbers[step]}: the action is {demonstrations.actions[step]}; "
            f"expected {expected}"
        )
