"""Reward families: what the demonstrator may have been after."""

from boirl.rewards.family import CallableReward, RewardFamily, Transitions
from boirl.rewards.linear import LinearReward
from boirl.rewards.logistic import LogisticReward
from boirl.rewards.shaped import ShapedReward

__all__ = [
    "CallableReward",
    "LinearReward",
    "LogisticReward",
    "RewardFamily",
    "ShapedReward",
    "Transitions",
]
