"""A reward that gradients change: theta of the problem's own family, or a network on states."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.problem import Problem, TabularProblem
from boirl.problem.simulated import GymProblem
from boirl.rewards import RewardFamily, Transitions
from boirl.rewards.family import as_float64
from boirl.rewards.network import NetworkReward, ScaledInputs, TableInputs, perceptron

RewardKind = Literal["theta", "network"]
START_STREAM = 21

JUMP_WIDTH = 0.1
"""How far to each side a parameter is moved, as a share of its range, for the slope of rewards that
only jump with it: a threshold has no derivative."""

TRIED_THETAS = 8


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
    check_stationary(problem, method)


def check_stationary(problem: Problem[Any], method: str) -> None:
    """Refuse problems whose policies depend on the steps left."""
    if isinstance(problem, TabularProblem) and problem.solver.horizon is not None:
        raise InvalidInputError(
            f"{method} knows policies of states alone, and those of problem {problem.name!r} "
            f"depend on the steps left (horizon {problem.solver.horizon}); leave the solver's "
            "horizon out, or use maxent or a search"
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
            self.jumping = _without_derivative(problem)
        else:
            inputs = state_inputs(problem)
            network = perceptron(inputs.size, hidden, torch.Generator().manual_seed(seed))
            self.family = NetworkReward(network, inputs, of_next=problem.is_model_free)
            self.parameters = list(network.parameters())

    def __call__(self, transitions: Transitions) -> Tensor:
        """Rewards `T`, differentiable in `parameters`."""
        if isinstance(self.family, NetworkReward):
            return self.family(torch.ones((1, 1), dtype=torch.float64), transitions)[0]
        rewards = self.family(self._theta(self.unit)[None], transitions)[0]
        for index in self.jumping:
            change = self.unit[index] - self.unit[index].detach()
            rewards = rewards + change * self._slope(index, transitions)
        return rewards

    def after_step(self) -> None:
        """Bring theta back into the box, where a step of the optimiser has left it."""
        if self.kind == "theta":
            with torch.no_grad():
                self.unit.clamp_(0.0, 1.0)

    def current(self) -> tuple[RewardFamily | None, tuple[float, ...]]:
        """The family of the reward, None for the problem's own, and theta.

        Further training does not change it.
        """
        if isinstance(self.family, NetworkReward):
            return self.family.frozen(), (1.0,)
        return None, tuple(self.box.from_unit(self.unit.detach().numpy()).tolist())

    def _theta(self, unit: Tensor) -> Tensor:
        low, high = as_float64(self.box.low), as_float64(self.box.high)
        return low + (high - low) * unit

    def _slope(self, index: int, transitions: Transitions) -> Tensor:
        """Slope of the rewards by one coordinate of the unit cube, across their jumps."""
        with torch.no_grad():
            ends = self.unit.repeat(2, 1)
            ends[0, index] -= JUMP_WIDTH
            ends[1, index] += JUMP_WIDTH
            ends.clamp_(0.0, 1.0)
            below, above = self.family(self._theta(ends), transitions)
            return (above - below) / (ends[1, index] - ends[0, index])


def _without_derivative(problem: Problem[Any]) -> list[int]:
    """Parameters by which the demonstrations' rewards have no derivative, at several thetas."""
    drawn = np.random.default_rng(0).random((TRIED_THETAS, problem.box.dimension))
    thetas = as_float64(problem.box.from_unit(drawn)).requires_grad_()
    rewards = problem.reward(thetas, as_transitions(problem.demonstrations))
    if not rewards.requires_grad:
        return list(range(problem.box.dimension))
    (slopes,) = torch.autograd.grad(rewards.square().sum(), thetas)
    return torch.nonzero(slopes.abs().sum(dim=0) == 0.0).flatten().tolist()
