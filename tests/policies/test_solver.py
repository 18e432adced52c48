"""The contract of a solver that learns."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from boirl.policies.actions import Categorical
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Run, Solver, Task
from boirl.rewards import CallableReward
from boirl.types import silent


def pay(theta, steps):
    """Theta times state, less the action, plus the next state."""
    states, actions, following = (
        torch.as_tensor(part, dtype=torch.float64)
        for part in (steps.states[:, 0], steps.actions, steps.next_states[:, 0])
    )
    return theta[:, :1] * states - actions + theta[:, 1:] * following


REWARD = CallableReward(pay, {"a": (0.0, 5.0), "b": (0.0, 5.0)}, "transition")
TASK = Task(None, REWARD, np.array([2.0, 3.0]), 0.9, 10)


@dataclass(frozen=True)
class Constant(Solver):
    """Its policy is its seed."""

    def solve(self, task, run, report=silent):
        report(0.5, f"half of {run.seed}")
        report(1.0, f"all of {run.seed}")
        weights = (np.full((1, 2), float(run.seed)),)
        return NetworkPolicy(weights, (np.zeros(2),), "tanh", Categorical(2))


def test_a_task_pays_the_reward_of_its_theta():
    states, actions, following = np.array([[1.0], [2.0]]), np.array([0, 1]), np.array([[5.0], [6]])
    paid = TASK.rewards(states, actions, following)
    assert paid.tolist() == [2.0 * 1.0 + 3.0 * 5.0, 2.0 * 2.0 - 1.0 + 3.0 * 6.0]
    assert paid.dtype == np.float64


def test_runs_are_solved_one_after_another_by_default():
    policies = Constant().solve_all(TASK, [Run(3), Run(5)])
    assert [float(policy.weights[0][0, 0]) for policy in policies] == [3.0, 5.0]
    assert Constant().solve_all(TASK, []) == []


def test_the_progress_of_a_run_is_a_part_of_that_of_all():
    reports = []
    Constant().solve_all(TASK, [Run(3), Run(5)], lambda *report: reports.append(report))
    assert [message for _, message in reports] == ["half of 3", "all of 3", "half of 5", "all of 5"]
    assert [share for share, _ in reports] == pytest.approx([0.25, 0.5, 0.75, 1.0])


def test_a_solver_takes_no_steps_unless_it_says_so():
    assert Constant().environment_steps == 0


def test_a_run_starts_without_a_policy_by_default():
    assert Run(3).warm_start is None
    assert Run(3) == Run(3)
