"""The worlds in which demonstrators act: tables, or simulators that are sampled."""

from boirl.environments.tabular import TabularMDP

__all__ = ["TabularMDP"]
