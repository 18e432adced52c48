"""A reward that gradients change: theta of the problem's own family, or a network on states."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.gym_problem import GymProblem
from boirl.problem import Problem, TabularProblem
from boirl.rewards import RewardFamily, Transitions
from boirl.rewards.family import as_float64
from boirl.rewards.network import NetworkReward, ScaledInputs, TableInputs, perceptron

RewardKind = Literal["theta", "network"]
START_STREAM = 21


def check_kind(kind: str) -> None:
    """Refuse what is neither kind of reward."""
    if kind not in ("theta", "network"):
        raise InvalidInputError(f"reward is {kind!r}; expected 'theta' or 'network'")


def check_environment(problem: Problem[Any], method: str) -> None:
    """Refuse problems that cannot be solved for rewards outside their family."""
    if not isinstance(problem, TabularProblem | GymProblem):
        raise InvalidInputError(
            f"{method} needs a tabular problem or a Gymnasium environment, and problem "
            f"{problem.name!r} is a {type(problem).__name__}"
        )


def state_inputs(problem: Problem[Any]) -> TableInputs | ScaledInputs:
    """What a network sees of the states of a problem."""
    if isinstance(problem, TabularProblem):
        return TableInputs(problem.reward.state_features(problem.mdp.n_states))
    assert isinstance(problem, GymProblem)
    simulator = problem.simulator
    return ScaledInputs(simulator.observation_centre, simulator.observation_scale)


def as_transitions(trajectories: Demonstrations) -> Transitions:
    """All steps of all trajectories."""
    return Transitions(trajectories.states, trajectories.actions, trajectories.next_states)


class LearnedReward:
    """Theta in the unit cube, or the weights of a network, as tensors that an optimiser changes.

    Args:
        problem: Whose family or states it is about.
        kind: `"theta"` or `"network"`.
        seed: Of the first theta, uniform in the box, or of the first weights.
        hidden: Widths of the network's layers.
    """

    def __init__(
        self, problem: Problem[Any], kind: RewardKind, seed: int, hidden: tuple[int, ...]
    ) -> None:
        self.kind, self.box = kind, problem.box
        if kind == "theta":
            start = np.random.default_rng([seed, START_STREAM]).random(self.box.dimension)
            self.unit = as_float64(start).requires_grad_()
            self.family: RewardFamily = problem.reward
            self.parameters = [self.unit]
        else:
            inputs = state_inputs(problem)
            network = perceptron(inputs.size, hidden, torch.Generator().manual_seed(seed))
            self.family = NetworkReward(network, inputs, of_next=problem.learns)
            self.parameters = list(network.parameters())

    def __call__(self, transitions: Transitions) -> Tensor:
        """Rewards `T`, differentiable in `parameters`."""
        return self.family(self._theta()[None], transitions)[0]

    def after_step(self) -> None:
        """Bring theta back into the box, where a step of the optimiser has left it."""
        if self.kind == "theta":
            with torch.no_grad():
                self.unit.clamp_(0.0, 1.0)

    def current(self) -> tuple[RewardFamily | None, tuple[float, ...]]:
        """The reward as an `Iterate` names it: its family, None for the problem's own, and theta.

        Further training does not change it.
        """
        if isinstance(self.family, NetworkReward):
            return self.family.frozen(), (1.0,)
        return None, tuple(self.box.from_unit(self.unit.detach().numpy()).tolist())

    def _theta(self) -> Tensor:
        if self.kind == "network":
            return torch.ones(1, dtype=torch.float64)
        low, high = as_float64(self.box.low), as_float64(self.box.high)
        return low + (high - low) * self.unit
