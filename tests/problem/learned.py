"""A problem in the maze whose policies are "learned" in no time, for tests of what is around."""

import os
import signal
from dataclasses import dataclass
from typing import Any

import numpy as np

from boirl.domains.maze import simulator as maze
from boirl.errors import SolverError
from boirl.policies.actions import CensoredGaussian, UniformMixture
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Solver
from boirl.problem.simulated import GymProblem
from boirl.types import silent

SIMULATOR = maze.PointMassMaze()
TRUTH = (0.3, 0.1)
HORIZON = 20

trained: list[Any] = []
"""Runs that were trained in this process; tests clear it."""

fuse = [-1]
"""Runs after which this process is to die."""


@dataclass(frozen=True)
class Magnet(Solver):
    """Pulls the ball towards the target, from one run to the next not quite the same.

    `weak` is the gain of runs without a warm start where it differs, `fate` what becomes of them.
    """

    gain: float = 6.0
    jitter: float = 0.3
    weak: float | None = None
    fate: str = "well"

    @property
    def environment_steps(self):
        return 70

    def solve(self, task, run, report=silent):
        trained.append(run)
        fuse[0] -= 1
        if fuse[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        cold = run.warm_start is None
        if cold and self.fate == "fails":
            raise SolverError("the critic diverged")
        if cold and self.fate == "crashes":
            raise ZeroDivisionError("nothing to divide by")
        if cold and self.fate == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        gain = self.weak if cold and self.weak is not None else self.gain
        report(1.0, "pulled")
        return magnet(task.theta, run.seed, gain, self.jitter)


def magnet(theta, seed=0, gain=6.0, jitter=0.3):
    """The policy that pulls towards theta."""
    rng = np.random.default_rng(seed)
    target = np.asarray(theta) + jitter * 0.1 * rng.standard_normal(2)
    return NetworkPolicy(
        weights=(-gain * np.eye(2),),
        biases=(gain * target,),
        activation="tanh",
        actions=UniformMixture(CensoredGaussian((-1.0, -1.0), (1.0, 1.0)), 0.02),
        log_sd=-0.7 + jitter * rng.standard_normal(2),
    )


def demonstrations(count=6, seed=0, horizon=HORIZON):
    """Of the magnet at `TRUTH`."""
    rng = np.random.default_rng(seed)
    return SIMULATOR.roll_out(magnet(TRUTH), count, horizon, rng)


def build(solver=None, **options):
    """A model-free problem that is solved in this process."""
    given: dict[str, Any] = {
        "reward": maze.TargetReward(),
        "demonstrations": demonstrations(),
        "solver": solver or Magnet(),
        "gamma": 0.9,
        "horizon": HORIZON,
        "workers": 0,
        **options,
    }
    return GymProblem(SIMULATOR, **given)
