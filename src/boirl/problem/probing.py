"""What a reward family does all over the box, by asking for some rewards; nothing is solved."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.rewards import RewardFamily, Transitions
from boirl.rewards.jumps import jumping_parameters
from boirl.types import FloatArray

PROBE_THETAS = 16
"""Thetas at which a reward family is evaluated to distinguish it from another one."""


class Probed:
    """What every `Problem` knows of its reward family."""

    name: str
    reward: RewardFamily
    demonstrations: Demonstrations

    def check_reward_varies(self) -> None:
        """Refuse a reward family that pays the same for every theta.

        Raises:
            InvalidInputError: It does, along the demonstrations and wherever else it is asked.
        """
        rewards = self.probe_reward(self.probed_transitions())
        if (rewards == rewards[:1]).all():
            raise InvalidInputError(
                f"the reward of problem {self.name!r} does not depend on theta: it is the same for "
                f"{PROBE_THETAS} thetas all over the box; check that the family uses its "
                f"parameters ({', '.join(self.reward.box.names)})"
            )

    @cached_property
    def jumping_parameters(self) -> tuple[str, ...]:
        """Names of the parameters along which the reward jumps: gradients do not tell of it."""
        return jumping_parameters(self.reward, self.probed_transitions())

    def probed_transitions(self) -> Transitions:
        """Transitions that tell reward families apart, `T`: those demonstrated, or all."""
        shown = self.demonstrations
        if self.reward.depends_on != "transition":
            return Transitions(shown.states, shown.actions)
        known = ~shown.unknown_ends
        return Transitions(shown.states[known], shown.actions[known], shown.next_states[known])

    def probe_reward(self, transitions: Transitions) -> FloatArray:
        """Rewards of `T` transitions at some thetas all over the box, `n x T`.

        Two families that agree there are taken for the same.
        """
        box = self.reward.box
        drawn = np.random.default_rng(0).random((PROBE_THETAS, box.dimension))
        with torch.no_grad():
            rewards: FloatArray = self.reward(
                torch.tensor(box.from_unit(drawn)), transitions
            ).numpy()
        return rewards
