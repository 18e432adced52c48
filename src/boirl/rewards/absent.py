"""The reward of a method that has none: it finds a policy, and nothing may take it for a reward."""

from __future__ import annotations

from torch import Tensor

from boirl.errors import InvalidInputError
from boirl.rewards.family import RewardFamily, Transitions
from boirl.rewards.network import SCALE


class NoReward(RewardFamily):
    """Refuses to pay anything. Policies of such evaluations are kept, not solved for."""

    def __init__(self) -> None:
        super().__init__([SCALE])

    def evaluate(self, theta: Tensor, transitions: Transitions) -> Tensor:
        raise InvalidInputError(
            "there is no reward: the method found a policy alone; judge that by its NLL and its "
            "return (run.policy(index), problem.true_return)"
        )
