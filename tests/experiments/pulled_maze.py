"""A problem in the point-mass maze whose policies pull the ball to the target of theta."""

from dataclasses import dataclass

import numpy as np

from boirl.domains.maze import simulator as maze
from boirl.policies.actions import CensoredGaussian, UniformMixture
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Solver
from boirl.problem.simulated import GymProblem
from boirl.types import silent

TRUTH = (maze.TRUTH["x"], maze.TRUTH["y"])


@dataclass(frozen=True)
class Pull(Solver):
    """Pulls the ball towards the target.

    Targets with an `x` above `fails_above` cannot be learned; runs differ by `jitter`.
    """

    fails_above: float = 2.0
    jitter: float = 0.0

    def solve(self, task, run, report=silent):
        if task.theta[0] > self.fails_above:
            raise ZeroDivisionError("not this one")
        away = self.jitter * np.random.default_rng(run.seed).standard_normal(2)
        return NetworkPolicy(
            weights=(-6.0 * np.eye(2),),
            biases=(6.0 * (np.asarray(task.theta) + away),),
            activation="tanh",
            actions=UniformMixture(CensoredGaussian((-1.0,) * 2, (1.0,) * 2)),
            log_sd=np.full(2, -1.0),
        )


def pulled_maze(solver=None):
    """Ten demonstrations of random actions."""
    simulator = maze.PointMassMaze()
    drawn = simulator.roll_out(None, 10, 20, np.random.default_rng(0))
    return GymProblem(
        simulator,
        maze.TargetReward(),
        drawn,
        solver or Pull(),
        gamma=maze.GAMMA,
        horizon=20,
        workers=0,
        truth=TRUTH,
        name="pulled-maze",
    )
