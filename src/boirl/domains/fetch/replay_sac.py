"""Soft actor-critic on one shared set of transitions, relabelled for every reward.

The goal of a Fetch-Reach transition is free to change and its reward is known for every theta, so
that no step in the environment is needed once the transitions are there. Several runs are trained
side by side as replicas along the first axis of every tensor: they share the overhead of small
operations, and nothing else, so that each is what it would be alone, up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from boirl.domains.fetch.environment import (
    ACTION_SIZE,
    CENTRE,
    MOVING_ACTIONS,
    OBSERVATION_SIZE,
    SCALE,
)
from boirl.domains.fetch.transitions import FetchTransitions, GoalTransitions
from boirl.errors import InvalidInputError, SolverError
from boirl.policies.actions import (
    LOG_SD_RANGE,
    LOG_SQRT_2_PI,
    PartOfActions,
    SquashedGaussian,
    UniformMixture,
)
from boirl.policies.network import NetworkPolicy
from boirl.policies.replicas import Replicas
from boirl.policies.solver import Report, Run, Solver, Task, silent
from boirl.threads import single_thread
from boirl.types import FloatArray

MOVES = len(MOVING_ACTIONS)
BLOCK = 50
"""Updates whose batches are drawn at once, and between two reports."""

CRITICS_ALONE = 0.1
"""Share of a training in which a policy to start from waits for the critics to know something."""


class TransitionSource(Protocol):
    """Where transitions come from; its `repr` names them."""

    def load(self, report: Report) -> GoalTransitions: ...


@dataclass(frozen=True)
class ReplaySAC(Solver):
    """Soft actor-critic without an environment, with a fixed temperature.

    The temperature is fixed so that the size of a reward shows in how decided its policy is; a
    temperature that adapts makes all negative penalties alike, and has no solution where all
    actions are equally good. Rewards are counted from the highest one and entropy from that of
    uniform actions: neither changes the best policy of an endless task, and values then start
    close to where they belong.

    Args:
        updates: Gradient steps of critics and actor, the same for every theta.
        batch: Transitions in a gradient step.
        hidden: Widths of the hidden layers of actor and critics.
        learning_rate: Of Adam; falls linearly to zero, which quiets the noise of the last steps.
        temperature: What a nat of entropy is worth in units of reward.
        target_rate: Share by which the target critics follow at every step.
        hindsight: Share of goals that were achieved later in the same episode.
        uniform_share: Of any action, in the likelihood.
        transitions: The shared transitions.
    """

    updates: int = 1_500
    batch: int = 256
    hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 3e-3
    temperature: float = 0.05
    target_rate: float = 0.02
    hindsight: float = 0.5
    uniform_share: float = 0.02
    transitions: TransitionSource = field(default_factory=FetchTransitions)

    def __post_init__(self) -> None:
        for name, low, high in (
            ("updates", 1, math.inf),
            ("batch", 1, math.inf),
            ("learning_rate", 0.0, math.inf),
            ("temperature", 0.0, math.inf),
            ("target_rate", 0.0, 1.0),
            ("hindsight", 0.0, 1.0),
        ):
            if not low <= getattr(self, name) <= high:
                raise InvalidInputError(
                    f"{name} is {getattr(self, name)}; expected a number from {low} to {high}"
                )
        if not self.hidden or min(self.hidden) < 1:
            raise InvalidInputError(f"hidden is {self.hidden}; expected widths of layers")

    def solve(self, task: Task, run: Run, report: Report = silent) -> NetworkPolicy:
        return self.solve_all(task, [run], report)[0]

    def solve_all(
        self, task: Task, runs: Sequence[Run], report: Report = silent
    ) -> list[NetworkPolicy]:
        """The policies of several runs, trained side by side."""
        if not runs:
            return []
        with single_thread():
            return self._train(task, runs, report)

    def _train(self, task: Task, runs: Sequence[Run], report: Report) -> list[NetworkPolicy]:
        training = _Training(self, task, runs, self.transitions.load(report))
        for done in range(0, self.updates, BLOCK):
            loss = training.advance(done, min(BLOCK, self.updates - done))
            if not np.isfinite(loss):
                raise SolverError(
                    f"training diverged: the critics' loss is {loss} after {done} updates; lower "
                    f"the learning rate of {self.learning_rate}"
                )
            finished = min(done + BLOCK, self.updates)
            report(finished / self.updates, f"update {finished}, critic loss {loss:.4f}")
        return [self._policy(*training.actor.arrays(index)) for index in range(len(runs))]

    def _policy(
        self, weights: tuple[FloatArray, ...], biases: tuple[FloatArray, ...]
    ) -> NetworkPolicy:
        moves = SquashedGaussian((-1.0,) * MOVES, (1.0,) * MOVES)
        return NetworkPolicy(
            weights,
            biases,
            "relu",
            UniformMixture(PartOfActions(moves, MOVING_ACTIONS, ACTION_SIZE), self.uniform_share),
            centre=CENTRE,
            scale=SCALE,
        )


class _Training:
    """Networks, optimisers and random numbers of several runs."""

    def __init__(
        self, solver: ReplaySAC, task: Task, runs: Sequence[Run], data: GoalTransitions
    ) -> None:
        self.solver, self.task, self.data = solver, task, data
        self.rngs = [np.random.default_rng(run.seed) for run in runs]
        self.noise = [torch.Generator().manual_seed(int(rng.integers(2**63))) for rng in self.rngs]
        self.cold = torch.tensor([float(run.warm_start is None) for run in runs])[:, None, None]
        actor = (OBSERVATION_SIZE, *solver.hidden, 2 * MOVES)
        critic = (OBSERVATION_SIZE + MOVES, *solver.hidden, 1)
        self.actor = Replicas.create(actor, self.noise)
        self.critics = Replicas.create(critic, [g for g in self.noise for _ in range(2)])
        for index, run in enumerate(runs):
            if run.warm_start is not None:
                self.actor.overwrite(index, run.warm_start)
        self.targets = self.critics.copy()
        self.optimisers = [
            torch.optim.Adam(network.parameters, lr=solver.learning_rate, fused=True)
            for network in (self.actor, self.critics)
        ]
        sample = data.draw(4_000, solver.hindsight, np.random.default_rng(0))
        self.highest = float(task.rewards(*sample).max())
        if not math.isfinite(self.highest):
            raise SolverError(
                f"the highest reward is {self.highest} at theta {task.theta.tolist()}; expected "
                "finite rewards"
            )

    def advance(self, done: int, n: int) -> float:
        """Do some updates; the mean loss of the critics."""
        batches = [
            self._draw(n, rng, noise) for rng, noise in zip(self.rngs, self.noise, strict=True)
        ]
        states, actions, next_states, rewards, noise = (
            torch.stack(parts, dim=1) for parts in zip(*batches, strict=True)
        )
        losses = []
        for step in range(n):
            rest = 1.0 - (done + step) / self.solver.updates
            for optimiser in self.optimisers:
                optimiser.param_groups[0]["lr"] = self.solver.learning_rate * rest
            losses.append(
                self._critic_step(
                    states[step], actions[step], next_states[step], rewards[step], noise[step, :, 0]
                )
            )
            waiting = rest > 1.0 - CRITICS_ALONE
            self._actor_step(states[step], noise[step, :, 1], self.cold if waiting else None)
            self.targets.follow(self.critics, self.solver.target_rate)
        return float(torch.stack(losses).mean())

    def _draw(
        self, n: int, rng: np.random.Generator, generator: torch.Generator
    ) -> tuple[Tensor, ...]:
        """Scaled states, moves, scaled next states, rewards and noise of `n` batches."""
        size = (n, self.solver.batch)
        states, actions, next_states = self.data.draw(size[0] * size[1], self.solver.hindsight, rng)
        rewards = self.task.rewards(states, actions, next_states) - self.highest
        parts = (
            (states - CENTRE) / SCALE,
            actions[:, MOVING_ACTIONS],
            (next_states - CENTRE) / SCALE,
            rewards[:, None],
        )
        noise = torch.randn((n, 2, self.solver.batch, MOVES), generator=generator)
        return *(
            torch.as_tensor(part, dtype=torch.float32).reshape(*size, -1) for part in parts
        ), noise

    def _act(self, states: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Random moves, and how many nats they are less random than uniform ones."""
        mean, log_sd = self.actor(states).chunk(2, dim=-1)
        log_sd = log_sd.clamp(*LOG_SD_RANGE)
        raw = mean + log_sd.exp() * noise
        # log(1 - tanh(x)^2) = 2 (log 2 - x - softplus(-2 x)), which does not round to log 0.
        slope = 2.0 * (math.log(2.0) - raw - softplus(-2.0 * raw))
        log_prob = -0.5 * noise**2 - log_sd - LOG_SQRT_2_PI - slope
        return torch.tanh(raw), (log_prob + math.log(2.0)).sum(dim=-1, keepdim=True)

    def _value(self, critics: Replicas, states: Tensor, moves: Tensor) -> Tensor:
        """Values of the two critics of every run, `r x 2 x T`."""
        inputs = torch.cat([states, moves], dim=-1).repeat_interleave(2, dim=0)
        return critics(inputs).reshape(len(states), 2, -1)

    def _critic_step(
        self, states: Tensor, moves: Tensor, next_states: Tensor, rewards: Tensor, noise: Tensor
    ) -> Tensor:
        with torch.no_grad():
            next_moves, cost = self._act(next_states, noise)
            ahead = self._value(self.targets, next_states, next_moves).amin(dim=1)
            ahead -= self.solver.temperature * cost[..., 0]
            goal = rewards[..., 0] + self.task.gamma * ahead
        losses = (self._value(self.critics, states, moves) - goal[:, None]).square().mean(dim=2)
        self._descend(1, losses.sum(), self.critics)
        return losses.detach().mean()

    def _actor_step(self, states: Tensor, noise: Tensor, weights: Tensor | None) -> None:
        moves, cost = self._act(states, noise)
        values = self._value(self.critics, states, moves).amin(dim=1)
        losses = (self.solver.temperature * cost[..., 0] - values).mean(dim=1)
        self._descend(0, losses.sum(), self.actor, weights)

    def _descend(
        self, which: int, loss: Tensor, network: Replicas, weights: Tensor | None = None
    ) -> None:
        gradients = torch.autograd.grad(loss, network.parameters)
        for parameter, gradient in zip(network.parameters, gradients, strict=True):
            parameter.grad = gradient if weights is None else gradient * weights
        self.optimisers[which].step()
