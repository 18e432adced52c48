"""Rewards on turns: weighted sums of attributes, and other families that pay for turns alone.

A recursive logit has one utility per turn, wherever the traveller goes, and 0 for a trip's end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from boirl.demonstrations import Demonstrations
from boirl.domains.roads.attributes import utility_features
from boirl.domains.roads.route_choice import RouteChoice
from boirl.errors import InvalidInputError, SolverError
from boirl.rewards import LinearReward, RewardFamily, Transitions
from boirl.types import FloatArray, IntArray, Parameter

PROBES = 4
"""Thetas at which a family is asked whether it pays for turns alone."""

SAME = 1e-9
"""Relative difference up to which two rewards count as the same."""


class TurnReward(LinearReward):
    """A weighted sum of attributes of turns; the end of a trip has none.

    Args:
        choice: States and actions.
        parameters: One for each attribute or product, by whose name it is known.
    """

    def __init__(self, choice: RouteChoice, parameters: Sequence[Parameter]) -> None:
        names = [parameter.name for parameter in parameters]
        self.choice = choice
        self.turn_features = utility_features(choice.network, names)
        self._with_end = np.concatenate([self.turn_features, np.zeros((1, len(names)))])
        super().__init__(self._of_steps, parameters, "state_action")

    def _of_steps(self, transitions: Transitions) -> FloatArray:
        states, actions = np.asarray(transitions.states), np.asarray(transitions.actions)
        return self._with_end[self.choice.turns_of(states, actions)]


class TurnUtilities:
    """The utility of each turn under any family that pays for turns alone.

    Args:
        choice: States and actions.
        reward: The family.
    """

    def __init__(self, choice: RouteChoice, reward: RewardFamily) -> None:
        self.choice, self.reward = choice, reward
        self.linear = type(reward) is TurnReward and reward.choice.network is choice.network

    def check(self, demonstrations: Demonstrations) -> None:
        """Refuse a family that pays for more than turns, by what it pays for demonstrated steps.

        Raises:
            InvalidInputError: The reward depends on where a trip goes, or is paid for its end.
        """
        if not self.linear:
            self._check_table()
            self._check_steps(demonstrations)

    @property
    def _possible(self) -> IntArray:
        """The turns that some traveller may take; no utility is asked for the others."""
        return np.flatnonzero(self.choice.turn_steps[0] >= 0)

    @property
    def transitions(self) -> Transitions:
        """A step over each possible turn."""
        return Transitions(*(steps[self._possible] for steps in self.choice.turn_steps))

    def __call__(self, theta: FloatArray) -> FloatArray:
        """The utility of each turn, `T`; minus infinity where nobody may take it."""
        chosen = torch.tensor(theta)
        if self.linear:
            full: FloatArray = self.turn_features @ self.reward.with_fixed(chosen).numpy()
            return full
        with torch.no_grad():
            paid = self.reward(chosen[None], self.transitions)[0].numpy()
        if not np.isfinite(paid).all():
            raise SolverError("the reward is not finite on all turns")
        utilities = np.full(len(self.choice.network.turns), -np.inf)
        utilities[self._possible] = paid
        return utilities

    def gradient(self, theta: FloatArray, slopes: FloatArray) -> FloatArray | None:
        """Derivative by theta, `d`, from that by utilities, `T`; None where there is none."""
        if self.linear:
            free = [parameter.fixed is None for parameter in self.reward.parameters]
            by_theta: FloatArray = (slopes @ self.turn_features)[free]
            return by_theta
        chosen = torch.tensor(theta, requires_grad=True)
        paid = self.reward(chosen[None], self.transitions)[0]
        if not paid.requires_grad:
            return None
        total = paid @ torch.as_tensor(slopes[self._possible])
        (gradient,) = torch.autograd.grad(total, chosen)
        return np.asarray(gradient.numpy())

    @property
    def turn_features(self) -> FloatArray:
        assert isinstance(self.reward, TurnReward)
        return self.reward.turn_features

    def _check_table(self) -> None:
        shape = self.reward.table_shape
        expected = (self.choice.n_states, self.choice.n_actions)
        if shape is not None and tuple(shape) != expected[: len(shape)]:
            raise InvalidInputError(
                f"the features of {type(self.reward).__name__} are for {shape} states and actions; "
                f"expected {expected}, or utilities={{name: (low, high)}} on attributes of turns"
            )

    def _check_steps(self, demonstrations: Demonstrations) -> None:
        """Ask for demonstrated steps, and for all turns on the way to the last destination."""
        states, actions, following = self.choice.turn_steps
        n_links = self.choice.network.n_links
        further = (len(self.choice.destinations) - 1) * n_links
        last = Demonstrations(
            further + self.choice.network.turns[:, 0],
            actions,
            further + following % n_links,
            np.ones(len(actions), dtype=np.int64),
        )
        every = Demonstrations.concatenate([demonstrations, last])
        taken = self.choice.turns_of(every.states, every.actions)
        ends = every.next_states == self.choice.end
        asked = ends | ((taken >= 0) & (states[taken] >= 0))
        steps = Transitions(
            *(values[asked] for values in (every.states, every.actions, every.next_states))
        )
        drawn = np.random.default_rng(0).random((PROBES, self.reward.box.dimension))
        thetas = self.reward.box.from_unit(drawn)
        with torch.no_grad():
            paid = self.reward(torch.tensor(thetas), steps).numpy()
        utilities = np.stack([self(theta) for theta in thetas])
        for at_end, expected in ((True, 0.0), (False, utilities[:, taken[asked]])):
            differs = ~np.isclose(paid, expected, rtol=SAME, atol=SAME) & (ends[asked] == at_end)
            if differs.any():
                raise self._refusal(at_end, paid, expected, differs)

    def _refusal(
        self, at_end: bool, paid: FloatArray, expected: Any, differs: np.ndarray
    ) -> InvalidInputError:
        row, column = np.argwhere(differs)[0]
        family = type(self.reward).__name__
        if at_end:
            return InvalidInputError(
                f"{family} pays {paid[row, column]:g} for the end of a trip; expected 0 there, and "
                "a reward for turns alone"
            )
        return InvalidInputError(
            f"{family} pays {paid[row, column]:g} for a turn on the way to one destination and "
            f"{expected[row, column]:g} to another; expected a reward that depends on the link "
            "left and the link entered alone"
        )
