"""Rewards with directions that change nothing: potential shaping as part of a family."""

from __future__ import annotations

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from boirl.errors import InvalidInputError
from boirl.rewards.family import RewardFamily, Transitions, as_float64
from boirl.types import FloatArray, Parameter


class ShapedReward(RewardFamily):
    """`R(s, a, s') + sum_k w_k (gamma Phi_k(s') - Phi_k(s))`: a family and weights of potentials.

    The optimal policy is the same whatever the weights are. Families of rewards on next states
    often contain such directions without saying so.

    Args:
        base: The family to shape.
        potentials: `Phi`, one number per state and potential, `S x k`.
        gamma: Discount of the problem.
        weight: The weights lie between minus this and this.
    """

    def __init__(
        self, base: RewardFamily, potentials: ArrayLike, gamma: float, weight: float = 1.0
    ) -> None:
        self._potentials = as_float64(potentials)
        if self._potentials.ndim != 2 or not torch.isfinite(self._potentials).all():
            raise InvalidInputError(
                f"potentials have shape {tuple(self._potentials.shape)}; expected finite numbers, "
                "one row per state and one column per potential"
            )
        self.base = base
        self.gamma = gamma
        count = self._potentials.shape[1]
        weights = [Parameter(f"potential{k}", -weight, weight) for k in range(1, count + 1)]
        super().__init__([*base.parameters, *weights], "transition")

    @property
    def potentials(self) -> FloatArray:
        """`Phi`, `S x k`."""
        return self._potentials.numpy()

    @property
    def table_shape(self) -> tuple[int, ...]:
        return (len(self._potentials),)

    def evaluate(self, theta: Tensor, transitions: Transitions) -> Tensor:
        own = len(self.base.parameters)
        states = torch.as_tensor(transitions.states)
        following = torch.as_tensor(transitions.next_states)
        gain = self.gamma * self._potentials[following] - self._potentials[states]
        return self.base.evaluate(theta[..., :own], transitions) + theta[..., own:] @ gain.T
