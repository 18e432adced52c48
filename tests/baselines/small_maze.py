"""A problem in the point-mass maze whose policies are learned at once."""

from dataclasses import dataclass

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.domains.maze import simulator as maze
from boirl.policies.actions import CensoredGaussian, UniformMixture
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Solver
from boirl.problem.simulated import GymProblem
from boirl.types import silent

TARGET = (0.3, 0.1)


def magnet(target, seed):
    """Pulls the ball towards a target, with small differences between seeds."""
    gain, jitter = 6.0, 0.01 * np.random.default_rng(seed).standard_normal(2)
    return NetworkPolicy(
        weights=(-gain * np.eye(2),),
        biases=(gain * (np.asarray(target) + jitter),),
        activation="tanh",
        actions=UniformMixture(CensoredGaussian((-1.0, -1.0), (1.0, 1.0)), 0.02),
        log_sd=np.full(2, -0.7),
    )


@dataclass(frozen=True)
class Magnet(Solver):
    """Pulls the ball to where the reward is highest, of some places below the barrier."""

    @property
    def environment_steps(self):
        return 1_000

    def solve(self, task, run, report=silent):
        x, y = np.meshgrid(np.linspace(-0.1, 0.6, 15), np.linspace(-0.1, 0.25, 8))
        places = np.column_stack([x.ravel(), y.ravel()])
        rewards = task.rewards(places, np.zeros_like(places), places)
        return magnet(places[rewards.argmax()], run.seed)


def small_maze(lengths=20):
    """Demonstrations that go to `TARGET`, of these lengths."""
    simulator = maze.PointMassMaze()
    shown = simulator.roll_out(magnet(TARGET, 0), 8, 20, np.random.default_rng(0))
    numbers = np.broadcast_to(lengths, 8)
    parts = [
        tuple(column[:steps] for column in one) for one, steps in zip(shown, numbers, strict=True)
    ]
    demonstrations = Demonstrations.from_trajectories(parts, shown.start_states)
    reward = maze.TargetReward()
    return GymProblem(simulator, reward, demonstrations, Magnet(), gamma=0.9, workers=0, name="m")
