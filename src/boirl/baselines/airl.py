"""Adversarial IRL (Fu and others 2018): a discriminator with a shaping term.

With a reward `g` and a potential `h` on states, `f(s, a, s') = g + gamma h(s') - h(s)` is the
advantage of an action once both are right. A discriminator separates demonstrated steps from
those of the current policy `pi_k` by the odds

    exp(f - f_k),

where `f_k` is `f` at the beginning of an iteration, whose advantages `pi_k` follows by then. (As
published, the odds are `exp(f) / pi_k(a|s)`, which is the same where policies are of maximum
entropy and `h` has settled.) Steps count by the discount that they have in returns.

`h` is a table where states are numbered, else a network. It learns at a rate of its own: a
potential that learns fast explains what the reward should. It is asked at all states alike,
absorbing ones and the last of a trajectory included, for demonstrations as for roll-outs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import softplus

from boirl.baselines.adversarial import AdversarialBaseline, Learner, Sample
from boirl.baselines.learned_reward import LearnedReward, state_inputs
from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.problem import Problem, TabularProblem
from boirl.rewards import Transitions
from boirl.rewards.network import Inputs, perceptron


class TablePotential(nn.Module):
    """One number per state, at first 0."""

    def __init__(self, n_states: int) -> None:
        super().__init__()
        self.values = nn.Parameter(torch.zeros(n_states, dtype=torch.float64))

    def forward(self, states: NDArray[Any]) -> Tensor:
        return self.values[torch.as_tensor(states)]


class NetworkPotential(nn.Module):
    """A network on what `inputs` shows of states."""

    def __init__(self, network: nn.Module, inputs: Inputs) -> None:
        super().__init__()
        self.network, self.inputs = network, inputs

    def forward(self, states: NDArray[Any]) -> Tensor:
        return self.network(self.inputs(states))[:, 0]


class Discriminator(Learner):
    """A reward with a potential, and one optimiser for both."""

    def __init__(
        self, reward: LearnedReward, optimiser: torch.optim.Optimizer, potential: nn.Module
    ) -> None:
        super().__init__(reward, optimiser)
        self.potential = potential

    def advantages(self, transitions: Transitions, gamma: float) -> Tensor:
        """`f` of every step, `T`."""
        assert transitions.next_states is not None
        ahead = gamma * self.potential(transitions.next_states)
        return self.reward(transitions) + ahead - self.potential(transitions.states)


class Steps:
    """Demonstrated steps and those of roll-outs, with a weight for each that sums to 1 for both.

    Those whose end nobody recorded are left out.
    """

    def __init__(self, demonstrations: Demonstrations, samples: list[Sample], gamma: float) -> None:
        rolled_out = [sample.trajectories for sample in samples]
        every = Demonstrations.concatenate([demonstrations, *rolled_out])
        known = ~every.unknown_ends
        self.transitions = Transitions(
            every.states[known], every.actions[known], every.next_states[known]
        )
        discounts = torch.as_tensor(gamma ** every.step_numbers[known])
        demonstrated = torch.as_tensor(every.trajectory_numbers[known] < len(demonstrations))
        self.demonstrated = _shares(discounts * demonstrated)
        self.rolled_out = _shares(discounts * ~demonstrated)

    def loss(self, logits: Tensor) -> Tensor:
        """Of a discriminator with these log odds that steps are demonstrated."""
        return self.demonstrated @ softplus(-logits) + self.rolled_out @ softplus(logits)

    def accuracy(self, logits: Tensor) -> float:
        """How much it gets right."""
        right = self.demonstrated @ (logits > 0).double() + self.rolled_out @ (logits < 0).double()
        return 0.5 * float(right)


@dataclass(frozen=True)
class AIRL(AdversarialBaseline):
    """Adversarial IRL; see `AdversarialBaseline` for further settings.

    Args:
        potential_rate: Learning rate of the potential.
    """

    potential_rate: float = 0.003

    name: ClassVar[str] = "airl"
    summary: ClassVar[str] = "adversarial IRL: a discriminator with a shaping term"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.potential_rate >= 0.0:
            raise InvalidInputError(
                f"potential_rate is {self.potential_rate}; expected 0 or a positive number"
            )

    def learner(self, problem: Problem[Any], seed: int) -> Discriminator:
        reward = LearnedReward(problem, self.reward, seed, self.hidden)
        potential = self._potential(problem, seed)
        optimiser = self.optimiser(reward)
        optimiser.add_param_group(
            {"params": list(potential.parameters()), "lr": self.potential_rate, "weight_decay": 0.0}
        )
        return Discriminator(reward, optimiser, potential)

    def improve(
        self, problem: Problem[Any], learner: Learner, samples: list[Sample]
    ) -> dict[str, float]:
        assert isinstance(learner, Discriminator)
        steps = Steps(problem.demonstrations, samples, problem.gamma)
        transitions, gamma = steps.transitions, problem.gamma
        with torch.no_grad():
            before = learner.advantages(transitions, gamma)
        if not self.relative:
            assert transitions.actions is not None
            policy = samples[-1].policy
            before = torch.as_tensor(policy.log_prob(transitions.states, transitions.actions))
        for _ in range(self.steps):
            logits = learner.advantages(transitions, gamma) - before
            loss = steps.loss(logits)
            learner.optimiser.zero_grad()
            loss.backward()
            learner.optimiser.step()
            learner.reward.after_step()
        return {"loss": float(loss.detach()), "accuracy": steps.accuracy(logits.detach())}

    def _potential(self, problem: Problem[Any], seed: int) -> nn.Module:
        if isinstance(problem, TabularProblem):
            return TablePotential(problem.mdp.n_states)
        inputs = state_inputs(problem)
        generator = torch.Generator().manual_seed(seed + 1)
        return NetworkPotential(perceptron(inputs.size, self.hidden, generator), inputs)


def _shares(weights: Tensor) -> Tensor:
    return weights / weights.sum()
