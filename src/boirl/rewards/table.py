"""A reward that is a table: what a method pays that is bound to no family of parameters."""

from __future__ import annotations

from boirl.rewards.linear import LinearReward
from boirl.rewards.network import SCALE
from boirl.types import FloatArray

ONE = (1.0,)
"""Theta of the table itself."""


def table_reward(paid: FloatArray, of_next: bool = False) -> LinearReward:
    """The family of one parameter, the scale, that pays a table, `S x A` or `S x 1`.

    Args:
        paid: What is paid at scale 1.
        of_next: Whether `S x 1` is paid for the state that a step leads to.
    """
    features = paid if paid.shape[1] == 1 else paid[..., None]
    return LinearReward(features, [SCALE], of_next=of_next)
