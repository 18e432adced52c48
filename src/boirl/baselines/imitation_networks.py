"""Imitation in a simulator: PPO on the odds of a network that sees states and actions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import softplus

from boirl.baselines.imitation import Imitator
from boirl.baselines.plain import pack_optimiser, unpack_optimiser
from boirl.policies.network import NetworkPolicy
from boirl.policies.ppo import Experience, PPOLearner, VectorPPO
from boirl.policies.solver import Run, Task
from boirl.problem.simulated import GymProblem
from boirl.rewards import RewardFamily, Transitions
from boirl.rewards.network import SCALE, perceptron
from boirl.rewards.table import ONE


class Odds(RewardFamily):
    """Log odds that steps were demonstrated, as a reward for the policy."""

    def __init__(self, network: nn.Module, centre: NDArray[Any], scale: NDArray[Any]) -> None:
        super().__init__([SCALE], "state_action")
        self.network, self.centre, self.scale = network, centre, scale

    def inputs(self, states: NDArray[Any], actions: NDArray[Any]) -> Tensor:
        """What the network sees of `T` steps."""
        return torch.as_tensor(np.hstack([(states - self.centre) / self.scale, actions]))

    def evaluate(self, theta: Tensor, transitions: Transitions) -> Tensor:
        assert transitions.actions is not None
        seen = self.inputs(transitions.states, transitions.actions)
        return theta[..., :1] * self.network(seen)[:, 0]


class NetworkImitator(Imitator):
    """See `GAIL` for the settings; PPO has those of the problem's solver, if that is `VectorPPO`.

    The networks, the optimisers and the copies of the environment live on between iterations.
    """

    def __init__(
        self,
        problem: GymProblem,
        seed: int,
        steps: int,
        hidden: tuple[int, ...],
        policy_rate: float = 1e-3,
        odds_rate: float = 1e-3,
        penalty: float = 0.1,
    ) -> None:
        given = problem.solver if isinstance(problem.solver, VectorPPO) else VectorPPO()
        settings = replace(given, learning_rate=policy_rate)
        simulator: Any = problem.simulator
        self.problem, self.steps, self.penalty = problem, steps, penalty
        size = simulator.observation_size + len(simulator.action_low)
        network = perceptron(size, hidden, torch.Generator().manual_seed(seed))
        self.odds = Odds(network, simulator.observation_centre, simulator.observation_scale)
        self.optimiser = torch.optim.Adam(network.parameters(), lr=odds_rate)
        task = Task(simulator, self.odds, np.array(ONE), problem.gamma, problem.steps)
        with torch.no_grad():
            self.learner = PPOLearner(settings, simulator, Run(seed))
            self.experience = Experience(settings, task, seed)
        shown = problem.demonstrations
        self.demonstrated = self.odds.inputs(shown.states, shown.actions)

    def policy(self) -> NetworkPolicy:
        policy = self.learner.policy()
        own = replace(
            policy,
            weights=tuple(one.copy() for one in policy.weights),
            biases=tuple(one.copy() for one in policy.biases),
            log_sd=None if policy.log_sd is None else policy.log_sd.copy(),
        )
        likelihood = self.problem.likelihood
        return own if likelihood is None else own.with_actions(likelihood)

    def improve(self, rng: np.random.Generator) -> tuple[int, dict[str, float]]:
        with torch.no_grad():
            batch, mean = self.experience.gather(self.learner)
            self.learner.update(batch, self.experience.rng)
        simulator = self.experience.task.simulator
        executed = np.clip(batch.actions.numpy(), simulator.action_low, simulator.action_high)
        seen = batch.observations.numpy().astype(np.float64)
        own = torch.as_tensor(np.hstack([seen, executed]))
        for _ in range(self.steps):
            rows = torch.as_tensor(rng.integers(len(self.demonstrated), size=len(own)))
            shown = self.demonstrated[rows].requires_grad_()
            odds, others = self.odds.network(shown)[:, 0], self.odds.network(own)[:, 0]
            (slopes,) = torch.autograd.grad(odds.sum(), shown, create_graph=True)
            loss = softplus(-odds).mean() + softplus(others).mean()
            penalised = loss + self.penalty * slopes.square().sum(dim=1).mean()
            self.optimiser.zero_grad()
            penalised.backward()
            self.optimiser.step()
        right = (odds.detach() > 0.0).double().mean() + (others.detach() < 0.0).double().mean()
        facts = {"loss": float(loss.detach()), "accuracy": 0.5 * float(right), "mean odds": mean}
        return len(own), facts

    def pack(self) -> dict[str, Any]:
        return {
            "odds": pack_optimiser(self.optimiser),
            "policy": pack_optimiser(self.learner.optimiser),
            "states": self.experience.states,
            "ages": self.experience.ages,
            "rng": self.experience.rng,
        }

    def unpack(self, packed: dict[str, Any]) -> None:
        unpack_optimiser(self.optimiser, packed["odds"])
        unpack_optimiser(self.learner.optimiser, packed["policy"])
        for name in ("states", "ages"):
            if packed[name].shape != getattr(self.experience, name).shape:
                raise ValueError(f"{name} have shape {packed[name].shape}")
        self.experience.states = packed["states"].copy()
        self.experience.ages = packed["ages"].copy()
        self.experience.rng = packed["rng"]
