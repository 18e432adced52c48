"""Rewards for which the sum over routes diverges, by what one theta says of others."""

from __future__ import annotations

from boirl.domains.roads.turn_rewards import TurnUtilities
from boirl.types import FloatArray, HalfSpace


class DivergingRewards:
    """Half-spaces of rewards without a policy, see `boirl.domains.roads.divergence`.

    What is known by a theta is kept: a search asks again after every evaluation.

    Args:
        utilities: Of turns, by theta.
    """

    def __init__(self, utilities: TurnUtilities) -> None:
        self._utilities = utilities
        self._known: dict[bytes, HalfSpace | None] = {}

    def __call__(self, theta: FloatArray) -> HalfSpace | None:
        """Where the tangent at a theta, `d`, says that the sum diverges; None where rewards are not
        linear in theta, or there is no tangent."""
        if not self._utilities.linear:
            return None
        key = theta.tobytes()
        if key not in self._known:
            self._known[key] = self._tangent(theta)
        return self._known[key]

    def _tangent(self, theta: FloatArray) -> HalfSpace | None:
        growth = self._utilities.choice.log_growth(self._utilities(theta))
        if growth is None:
            return None
        slope = self._utilities.gradient(theta, growth[1])
        assert slope is not None
        return HalfSpace(slope, float(slope @ theta) - growth[0])
