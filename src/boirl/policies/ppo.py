"""Proximal policy optimisation for vectorised simulators.

Small networks on small batches spend their time between the sums, not in them. Gradients are
therefore written out: those of the networks in `actor_critic`, those of the loss here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from boirl.environments.simulator import VectorSimulator
from boirl.errors import InvalidInputError, SolverError
from boirl.policies.actions import CensoredGaussian, UniformMixture
from boirl.policies.actor_critic import ACTIVATION, ACTOR, CRITIC, ActorCritic, Float32
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Report, Run, Solver, Task, silent
from boirl.threads import single_thread

ADAM_EPSILON = 1e-5


@dataclass(frozen=True)
class VectorPPO(Solver):
    """PPO on a `VectorSimulator`. Defaults solve the point mass maze in about two seconds.

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
        if not isinstance(task.simulator, VectorSimulator):
            raise InvalidInputError(
                f"VectorPPO learns on vectorised simulators, found "
                f"{type(task.simulator).__name__}; for a Gymnasium environment use boirl.PPO"
            )
        with single_thread(), torch.no_grad():
            return self._train(task, run, report)

    def _train(self, task: Task, run: Run, report: Report) -> NetworkPolicy:
        learner = PPOLearner(self, task.simulator, run)
        experience = Experience(self, task, run.seed)
        iterations = max(1, self.steps // (self.copies * self.rollout))
        for iteration in range(iterations):
            learner.set_rate(self.learning_rate * (1.0 - iteration / iterations))
            batch, mean = experience.gather(learner)
            learner.update(batch, experience.rng)
            report((iteration + 1) / iterations, f"mean reward {mean:.3f}")
            if not math.isfinite(mean):
                raise SolverError(
                    f"training diverged: the mean reward is {mean} after "
                    f"{(iteration + 1) * self.copies * self.rollout} steps; check that the "
                    "reward is finite wherever the environment goes"
                )
        return learner.policy()


class Batch(NamedTuple):
    """Experience of `N` steps: what was seen and done, and what came of it, `N` first."""

    observations: Tensor
    actions: Tensor
    advantages: Tensor
    returns: Tensor
    log_prob: Tensor

    def parts(self, order: Tensor, n: int) -> list[Batch]:
        """So many parts of the steps in an order."""
        columns = (column[order].chunk(n) for column in self)
        return [Batch(*part) for part in zip(*columns, strict=True)]


class Experience:
    """Copies of the environment, and the steps they make."""

    def __init__(self, settings: VectorPPO, task: Task, seed: int) -> None:
        self.settings = settings
        self.task = task
        self.rng = np.random.default_rng(seed)
        # Copies begin at different ages, so that a batch holds all parts of an episode.
        self.ages = np.arange(settings.copies) * task.horizon // settings.copies
        self.states = task.simulator.reset(settings.copies, self.rng)

    def gather(self, learner: PPOLearner) -> tuple[Batch, float]:
        """A batch, and the mean reward in it."""
        simulator, steps = self.task.simulator, self.settings.rollout
        actor = learner.networks.actor_in_numpy()
        shape = (steps, self.settings.copies)
        observed = np.empty((*shape, simulator.observation_size))
        followed = np.empty_like(observed)
        noise = self.rng.standard_normal((*shape, len(simulator.action_low)), dtype=np.float32)
        acted = noise * learner.networks.parts.log_sd.exp().numpy()
        ended = np.empty(shape, dtype=bool)
        for t in range(steps):
            observed[t] = simulator.observe(self.states)
            acted[t] += actor(learner.scaled(observed[t]))
            self.states = simulator.step(self.states, acted[t])
            followed[t] = simulator.observe(self.states)
            ended[t] = self._restart_old()
        rewards = self._rewards(observed, acted, followed)
        seen = torch.from_numpy(learner.scaled(observed).reshape(-1, observed.shape[-1]))
        actions = torch.from_numpy(acted.reshape(len(seen), -1))
        outputs = learner.networks.forward(seen)[-1]
        values = outputs[CRITIC, :, 0].numpy().reshape(shape)
        next_values = learner.values(followed)
        differences = rewards + self.task.gamma * next_values - values
        advantages = self._advantages(differences, ended).astype(np.float32)
        batch = Batch(
            observations=seen,
            actions=actions,
            advantages=torch.from_numpy(advantages.reshape(-1)),
            returns=torch.from_numpy((advantages + values).reshape(-1)),
            log_prob=learner.log_prob(outputs[ACTOR], actions),
        )
        return batch, float(rewards.mean())

    def _restart_old(self) -> NDArray[np.bool_]:
        self.ages += 1
        old = self.ages >= self.task.horizon
        if old.any():
            self.states[old] = self.task.simulator.reset(int(old.sum()), self.rng)
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
        """Generalised advantages, `steps x copies`. The horizon cuts traces, not values."""
        decay = self.task.gamma * self.settings.trace
        advantages = np.empty_like(differences)
        trace = np.zeros_like(differences[0])
        for t in reversed(range(len(differences))):
            trace = differences[t] + decay * np.where(ended[t], 0.0, trace)
            advantages[t] = trace
        return advantages


class PPOLearner:
    """The networks, and what changes them."""

    def __init__(self, settings: VectorPPO, simulator: VectorSimulator, run: Run) -> None:
        self.settings, self.simulator = settings, simulator
        self.centre, self.scale = simulator.observation_centre, simulator.observation_scale
        hidden, actions = settings.hidden, len(simulator.action_low)
        sizes = (simulator.observation_size, hidden, hidden, actions)
        # A stream of its own, so that a warm start changes nothing but the actor.
        rng = np.random.default_rng([run.seed, 1])
        self.networks = ActorCritic(sizes, settings.initial_log_sd, rng)
        if run.warm_start is not None:
            # Not its standard deviations: it has to explore what another reward calls for.
            self.networks.start_from(run.warm_start)
        self.optimiser = torch.optim.Adam(
            [self.networks.vector], lr=settings.learning_rate, eps=ADAM_EPSILON, fused=True
        )

    def set_rate(self, rate: float) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = rate

    def scaled(self, observations: NDArray[np.float64]) -> Float32:
        return ((observations - self.centre) / self.scale).astype(np.float32)

    def values(self, observations: NDArray[np.float64]) -> Float32:
        """What the critic expects at observations `... x k`."""
        seen = torch.from_numpy(self.scaled(observations).reshape(-1, observations.shape[-1]))
        outputs = self.networks.forward(seen)[-1]
        return outputs[CRITIC, :, 0].numpy().reshape(observations.shape[:-1])

    def log_prob(self, mean: Tensor, actions: Tensor) -> Tensor:
        """Log density of actions `N x m`, up to a constant, `N`."""
        log_sd = self.networks.parts.log_sd
        deviation = (actions - mean) * torch.exp(-log_sd)
        return -0.5 * deviation.square().sum(dim=-1) - log_sd.sum()

    def update(self, batch: Batch, rng: np.random.Generator) -> None:
        gradient = self.networks.vector.grad
        assert gradient is not None
        for _ in range(self.settings.epochs):
            order = torch.from_numpy(rng.permutation(len(batch.actions)))
            for part in batch.parts(order, self.settings.minibatches):
                self.differentiate(part)
                norm = float(torch.linalg.vector_norm(gradient))
                gradient.mul_(min(1.0, self.settings.gradient_norm / (norm + 1e-6)))
                self.optimiser.step()

    def differentiate(self, batch: Batch) -> None:
        """Write the slopes of the loss on a batch by all parameters.

        With the ratio `r` of the densities of an action now and then, and advantages `A` of mean 0
        and deviation 1, the loss is the mean of `-min(r A, clip(r) A)`, and of the critic's squared
        error times its weight.
        """
        count, log_sd = len(batch.actions), self.networks.parts.log_sd
        outputs = self.networks.forward(batch.observations)
        precision = torch.exp(-log_sd)
        deviation = (batch.actions - outputs[-1][ACTOR]).mul_(precision)
        squares = deviation.square()
        ratio = (-0.5 * squares.sum(dim=-1) - log_sd.sum()).sub_(batch.log_prob).exp_()
        advantages = batch.advantages - batch.advantages.mean()
        advantages = advantages / (advantages.std() + 1e-8)
        gain = ratio * advantages
        # Beyond the clip, nothing is gained by going further.
        bounded = ratio.clamp(1.0 - self.settings.clip, 1.0 + self.settings.clip)
        counts = gain <= bounded.mul_(advantages)
        push = gain.mul_(counts).mul_(-1.0 / count).unsqueeze(-1)
        slope = torch.zeros_like(outputs[-1])
        torch.mul(push * precision, deviation, out=slope[ACTOR])
        error = outputs[-1][CRITIC, :, 0] - batch.returns
        slope[CRITIC, :, 0] = error.mul_(2.0 * self.settings.value_weight / count)
        torch.sum(push * squares.sub_(1.0), dim=0, out=self.networks.slopes.log_sd)
        self.networks.backward(batch.observations, outputs, slope)

    def policy(self) -> NetworkPolicy:
        simulator = self.simulator
        return NetworkPolicy(
            *self.networks.actor_arrays(),
            activation=ACTIVATION,
            actions=UniformMixture(
                CensoredGaussian(tuple(simulator.action_low), tuple(simulator.action_high)),
                self.settings.uniform_share,
            ),
            log_sd=self.networks.parts.log_sd.double().numpy(),
            centre=self.centre,
            scale=self.scale,
        )
