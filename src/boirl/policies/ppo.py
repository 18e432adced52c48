"""Proximal policy optimisation for vectorised simulators, many runs at once.

Small networks on small batches spend their time between the sums, not in them. All runs of a theta
are therefore trained together: their weights are stacked along a first axis and every operation
works on all of them. Nothing else is shared, so that each run is what it would be alone, up to
rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from boirl.environments.simulator import VectorSimulator
from boirl.errors import InvalidInputError, SolverError
from boirl.policies.actions import CensoredGaussian, UniformMixture
from boirl.policies.network import NetworkPolicy
from boirl.policies.replicas import Float32, Replicas
from boirl.policies.solver import Report, Run, Solver, Task, silent
from boirl.threads import single_thread

ADAM_EPSILON = 1e-5


@dataclass(frozen=True)
class VectorPPO(Solver):
    """PPO on a `VectorSimulator`. Defaults solve the point mass maze in two to three seconds.

    Args:
        steps: Of the environment, in all; the budget is the same for every theta.
        copies: Of the environment that advance together.
        rollout: Steps of each copy between updates.
        hidden: Units of each of two hidden layers, tanh.
        learning_rate: Falls to 0 over the training.
        epochs: Passes over each batch of experience.
        minibatches: In each pass.
        trace: Lambda of the generalised advantage.
        clip: How far a policy may move from the one that gathered the experience.
        value_weight: Weight of the critic's loss.
        gradient_norm: Gradients are scaled down to this norm.
        initial_log_sd: Log standard deviation of actions to begin with.
        uniform_share: Of the mixture that guards the likelihood.
    """

    steps: int = 50_000
    copies: int = 64
    rollout: int = 25
    hidden: int = 64
    learning_rate: float = 3e-3
    epochs: int = 10
    minibatches: int = 4
    trace: float = 0.9
    clip: float = 0.2
    value_weight: float = 0.5
    gradient_norm: float = 0.5
    initial_log_sd: float = 0.0
    uniform_share: float = 0.02

    def __post_init__(self) -> None:
        for name in ("steps", "copies", "rollout", "hidden", "epochs", "minibatches"):
            if getattr(self, name) < 1:
                raise InvalidInputError(f"{name} is {getattr(self, name)}; expected at least 1")

    @property
    def environment_steps(self) -> int:
        return self.steps

    def solve(self, task: Task, run: Run, report: Report = silent) -> NetworkPolicy:
        return self.solve_all(task, [run], report)[0]

    def solve_all(
        self, task: Task, runs: Sequence[Run], report: Report = silent
    ) -> list[NetworkPolicy]:
        if not isinstance(task.simulator, VectorSimulator):
            raise InvalidInputError(
                f"VectorPPO learns on vectorised simulators, found "
                f"{type(task.simulator).__name__}; for a Gymnasium environment use boirl.PPO"
            )
        with single_thread():
            return self._train(task, runs, report)

    def _train(self, task: Task, runs: Sequence[Run], report: Report) -> list[NetworkPolicy]:
        learner = _Learner(self, task.simulator, runs)
        experience = _Experience(self, task, [run.seed for run in runs])
        iterations = max(1, self.steps // (self.copies * self.rollout))
        for iteration in range(iterations):
            learner.set_rate(self.learning_rate * (1.0 - iteration / iterations))
            batch = experience.gather(learner)
            learner.update(batch, experience.generators)
            mean = float(batch.mean_reward)
            report((iteration + 1) / iterations, f"mean reward {mean:.3f}")
            if not math.isfinite(mean):
                raise SolverError(
                    f"training diverged: the mean reward is {mean} after "
                    f"{(iteration + 1) * self.copies * self.rollout} steps; check that the "
                    "reward is finite wherever the environment goes"
                )
        return learner.policies()


class _Batch(NamedTuple):
    """Experience of `E` runs, `N` steps each."""

    observations: Tensor
    actions: Tensor
    advantages: Tensor
    returns: Tensor
    mean_reward: float


class _Experience:
    """Copies of the environment, `E x copies`, and the steps they make."""

    def __init__(self, settings: VectorPPO, task: Task, seeds: Sequence[int]) -> None:
        self.settings = settings
        self.task = task
        self.generators = [np.random.default_rng(seed) for seed in seeds]
        # Copies begin at different ages, so that a batch holds all parts of an episode.
        copies = settings.copies
        self.ages = np.tile(np.arange(copies) * task.horizon // copies, (len(seeds), 1))
        self.states = np.stack([task.simulator.reset(copies, rng) for rng in self.generators])

    def gather(self, learner: _Learner) -> _Batch:
        settings, simulator = self.settings, self.task.simulator
        runs, copies, steps = len(self.generators), settings.copies, settings.rollout
        actor, critic = learner.actor.in_numpy(), learner.critic.in_numpy()
        sd = np.exp(learner.log_sd.detach().numpy())
        shape = (steps, runs, copies)
        observed = np.empty((*shape, simulator.observation_size))
        acted = np.empty((*shape, len(simulator.action_low)), dtype=np.float32)
        followed = np.empty_like(observed)
        ended = np.zeros(shape, dtype=bool)
        for t in range(steps):
            observed[t] = self._observe()
            mean = actor(learner.scaled(observed[t]))
            noise = np.stack([rng.standard_normal(mean.shape[1:]) for rng in self.generators])
            acted[t] = mean + sd * noise.astype(np.float32)
            flat = self.states.reshape(runs * copies, -1)
            moved = simulator.step(flat, acted[t].reshape(runs * copies, -1))
            self.states = moved.reshape(self.states.shape)
            followed[t] = self._observe()
            ended[t] = self._restart_old()
        rewards = self._rewards(observed, acted, followed)
        values = critic(learner.scaled(_by_run(observed)))[..., 0]
        next_values = critic(learner.scaled(_by_run(followed)))[..., 0]
        differences = rewards + self.task.gamma * _by_step(next_values, steps)
        advantages = self._advantages(differences - _by_step(values, steps), ended)
        return _Batch(
            observations=torch.from_numpy(learner.scaled(_by_run(observed))),
            actions=torch.from_numpy(_by_run(acted)),
            advantages=torch.from_numpy(_by_run(advantages.astype(np.float32))),
            returns=torch.from_numpy(_by_run(advantages.astype(np.float32)) + values),
            mean_reward=float(rewards.mean()),
        )

    def _observe(self) -> NDArray[np.float64]:
        runs, copies = self.ages.shape
        seen = self.task.simulator.observe(self.states.reshape(runs * copies, -1))
        return np.asarray(seen).reshape(runs, copies, -1)

    def _restart_old(self) -> NDArray[np.bool_]:
        self.ages += 1
        old = self.ages >= self.task.horizon
        for run, rng in enumerate(self.generators):
            if old[run].any():
                self.states[run, old[run]] = self.task.simulator.reset(int(old[run].sum()), rng)
        self.ages[old] = 0
        return old

    def _rewards(
        self, observed: NDArray[np.float64], acted: Float32, followed: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        simulator = self.task.simulator
        # The reward is of the action that the environment executes.
        executed = np.clip(acted, simulator.action_low, simulator.action_high)
        flat = (part.reshape(-1, part.shape[-1]) for part in (observed, executed, followed))
        return self.task.rewards(*flat).reshape(observed.shape[:-1])

    def _advantages(
        self, differences: NDArray[np.float64], ended: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Generalised advantages, `steps x E x copies`. The horizon cuts traces, not values."""
        decay = self.task.gamma * self.settings.trace
        advantages = np.empty_like(differences)
        trace = np.zeros_like(differences[0])
        for t in reversed(range(len(differences))):
            trace = differences[t] + decay * np.where(ended[t], 0.0, trace)
            advantages[t] = trace
        return advantages


class _Learner:
    """Actors and critics of `E` runs, stacked, with one optimiser for all."""

    def __init__(
        self, settings: VectorPPO, simulator: VectorSimulator, runs: Sequence[Run]
    ) -> None:
        self.settings, self.simulator = settings, simulator
        self.centre, self.scale = simulator.observation_centre, simulator.observation_scale
        sizes = (simulator.observation_size, settings.hidden, settings.hidden)
        # A stream of its own, so that a warm start changes nothing but the actor.
        generators = [np.random.default_rng([run.seed, 1]) for run in runs]
        outputs = len(simulator.action_low)
        self.actor = Replicas.orthogonal((*sizes, outputs), 0.01, generators)
        self.critic = Replicas.orthogonal((*sizes, 1), 1.0, generators)
        for number, run in enumerate(runs):
            if run.warm_start is not None:
                self.actor.overwrite(number, run.warm_start)
        # Also where the actor is not new: it has to explore what another reward calls for.
        self.log_sd = torch.full((len(runs), 1, outputs), settings.initial_log_sd)
        self.log_sd.requires_grad_()
        self.parameters = [*self.actor.parameters, *self.critic.parameters, self.log_sd]
        self.optimiser = torch.optim.Adam(
            self.parameters, lr=settings.learning_rate, eps=ADAM_EPSILON, fused=True
        )

    def set_rate(self, rate: float) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = rate

    def scaled(self, observations: NDArray[np.float64]) -> Float32:
        return ((observations - self.centre) / self.scale).astype(np.float32)

    def update(self, batch: _Batch, generators: Sequence[np.random.Generator]) -> None:
        with torch.no_grad():
            before = self._log_prob(batch.observations, batch.actions)
        count = batch.actions.shape[1]
        rows = torch.arange(len(generators))[:, None]
        for _ in range(self.settings.epochs):
            order = torch.from_numpy(np.stack([rng.permutation(count) for rng in generators]))
            for part in order.chunk(self.settings.minibatches, dim=1):
                chosen = (rows, part)
                loss = self._loss(
                    batch.observations[chosen],
                    batch.actions[chosen],
                    batch.advantages[chosen],
                    batch.returns[chosen],
                    before[chosen],
                )
                self.optimiser.zero_grad()
                loss.backward()
                self._clip_gradients()
                self.optimiser.step()

    def _loss(
        self,
        observations: Tensor,
        actions: Tensor,
        advantages: Tensor,
        returns: Tensor,
        before: Tensor,
    ) -> Tensor:
        settings = self.settings
        centred = advantages - advantages.mean(dim=1, keepdim=True)
        normalised = centred / (advantages.std(dim=1, keepdim=True) + 1e-8)
        ratio = torch.exp(self._log_prob(observations, actions) - before)
        clipped = ratio.clamp(1.0 - settings.clip, 1.0 + settings.clip)
        gain = torch.minimum(ratio * normalised, clipped * normalised)
        values = self.critic(observations)[..., 0]
        error = (returns - values).square()
        # A mean over steps and a sum over runs: no run sees another's gradient.
        return (settings.value_weight * error - gain).mean(dim=1).sum()

    def _log_prob(self, observations: Tensor, actions: Tensor) -> Tensor:
        mean = self.actor(observations)
        deviation = (actions - mean) * torch.exp(-self.log_sd)
        return (-0.5 * deviation.square() - self.log_sd).sum(dim=-1)

    def _clip_gradients(self) -> None:
        gradients = [p.grad for p in self.parameters if p.grad is not None]
        squares = torch.stack([g.square().flatten(1).sum(dim=1) for g in gradients]).sum(dim=0)
        share = (self.settings.gradient_norm / (squares.sqrt() + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(share[:, None, None])

    def policies(self) -> list[NetworkPolicy]:
        simulator = self.simulator
        actions = UniformMixture(
            CensoredGaussian(tuple(simulator.action_low), tuple(simulator.action_high)),
            self.settings.uniform_share,
        )
        log_sd = self.log_sd.detach().numpy().astype(np.float64)
        return [
            NetworkPolicy(
                *self.actor.arrays(run),
                activation=self.actor.activation,
                actions=actions,
                log_sd=log_sd[run, 0],
                centre=self.centre,
                scale=self.scale,
            )
            for run in range(len(log_sd))
        ]


def _by_run(values: NDArray[Any]) -> NDArray[Any]:
    """From `steps x E x copies x ...` to `E x (steps copies) x ...`."""
    swapped = np.swapaxes(values, 0, 1)
    return np.ascontiguousarray(swapped.reshape(swapped.shape[0], -1, *swapped.shape[3:]))


def _by_step(values: NDArray[Any], steps: int) -> NDArray[Any]:
    """From `E x (steps copies)` to `steps x E x copies`."""
    return np.swapaxes(values.reshape(len(values), steps, -1), 0, 1)
