"""The contract of a solver that learns: from a reward to a policy, by reinforcement learning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from boirl.policies.network import NetworkPolicy
from boirl.rewards import RewardFamily, Transitions
from boirl.types import FloatArray, Report, silent

__all__ = ["Report", "Run", "Solver", "Task", "silent"]


@dataclass(frozen=True)
class Run:
    """One training run: its seed, and a policy to start from, if any."""

    seed: int
    warm_start: NetworkPolicy | None = None


@dataclass(frozen=True, eq=False)
class Task:
    """What to learn: a reward of a family, in an environment.

    Args:
        simulator: The environment; see `boirl.environments.simulator`.
        reward: The family.
        theta: Its parameters, `d`.
        gamma: Discount.
        horizon: Steps of an episode at most.
    """

    simulator: Any
    reward: RewardFamily
    theta: FloatArray
    gamma: float
    horizon: int

    def rewards(self, states: Any, actions: Any, next_states: Any) -> FloatArray:
        """Rewards `T` of transitions."""
        theta = torch.as_tensor(np.array(self.theta, dtype=np.float64))[None]
        with torch.no_grad():
            rewards = self.reward(theta, Transitions(states, actions, next_states))
        return rewards[0].numpy()


class Solver(ABC):
    """Learns policies. A frozen dataclass: its `repr` identifies its settings.

    A training budget is the same for every theta: the NLL drifts with the length of training, so
    that budgets which depend on theta would be taken for a property of the reward.
    """

    @property
    def environment_steps(self) -> int:
        """Steps in the environment that a training run takes."""
        return 0

    @abstractmethod
    def solve(self, task: Task, run: Run, report: Report = silent) -> NetworkPolicy:
        """The policy that a training run ends with; the same for the same seed.

        Raises:
            SolverError: Training failed, and why.
        """

    def solve_all(
        self, task: Task, runs: Sequence[Run], report: Report = silent
    ) -> list[NetworkPolicy]:
        """The policies of several runs, one after another unless a solver knows better."""
        return [
            self.solve(task, run, _part(report, done, len(runs))) for done, run in enumerate(runs)
        ]


def _part(report: Report, done: int, total: int) -> Report:
    """Reports the progress of one of several runs as a part of them all."""
    return lambda share, message: report((done + share) / total, message)
