"""The worlds in which demonstrators act."""

from boirl.environments.gridworld import gridworld_mdp, gridworld_reward
from boirl.environments.tabular import TabularMDP

__all__ = ["TabularMDP", "gridworld_mdp", "gridworld_reward"]
