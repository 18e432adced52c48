"""Small results to draw: a search on Gridworld, and policies that need no learning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import boirl
from boirl.baselines import BaselineRun
from boirl.domains.maze import simulator as maze
from boirl.policies.actions import Categorical, CensoredGaussian, UniformMixture
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Solver
from boirl.problem.simulated import GymProblem
from boirl.types import silent

STEPS = 8
"""Steps of an episode in the maze of these tests."""


@pytest.fixture(scope="session")
def found() -> boirl.RewardSet:
    """A search with two parameters and a known truth; treat it as read-only."""
    return boirl.explore(boirl.load_problem("gridworld2d"), evaluations=8, seed=1001)


@pytest.fixture(scope="session")
def held() -> boirl.RewardSet:
    """A search whose constraint rules out what explains the demonstrations best."""
    problem = boirl.load_problem("gridworld2d")
    initial = [(2.0, 7.3), (0.88, 9.77), (1.0, 9.9), (0.5, 3.0), (0.3, 8.0)]
    constraints = boirl.constraints.reaches([7], at_most=0.75)
    return boirl.explore(problem, 5, seed=1001, initial=initial, constraints=constraints)


@pytest.fixture(scope="session")
def two_states() -> boirl.TabularProblem:
    """A problem with two parameters and no known truth."""
    mdp = boirl.TabularMDP.from_next_states(np.array([[0, 1], [1, 0]]), gamma=0.9)
    reward = boirl.LinearReward(np.eye(2), {"stay": (-1.0, 1.0), "go": (-1.0, 1.0)})
    demonstrations = boirl.Demonstrations.from_arrays([[0, 1, 1]], [[1, 0, 0]])
    return boirl.TabularProblem(mdp, reward, demonstrations, name="two states")


@dataclass(frozen=True)
class Homing(Solver):
    """Heads for the target; where there are choices, takes any."""

    def solve(self, task: Any, run: Any, report: Any = silent) -> NetworkPolicy:
        inputs, choices = task.simulator.observation_size, task.simulator.n_actions
        if choices is not None:
            zeros = (np.zeros((inputs, choices)),), (np.zeros(choices),)
            return NetworkPolicy(*zeros, "tanh", Categorical(choices))
        count = len(task.simulator.action_low)
        bounds = (-1.0,) * count, (1.0,) * count
        return NetworkPolicy(
            weights=(-6.0 * np.eye(inputs, count),),
            biases=(6.0 * np.resize(task.theta, count),),
            activation="tanh",
            actions=UniformMixture(CensoredGaussian(*bounds)),
            log_sd=np.full(count, -2.0),
        )


@pytest.fixture(scope="session")
def maze_problem() -> Callable[..., GymProblem]:
    """Builds a problem in the maze, with so many demonstrations of random actions."""

    def build(count: int = 4, **options: Any) -> GymProblem:
        simulator = maze.PointMassMaze()
        drawn = simulator.roll_out(None, count, STEPS, np.random.default_rng(0))
        given = {"demonstrations": drawn, "horizon": STEPS, "workers": 0, **options}
        return GymProblem(simulator, maze.TargetReward(), solver=Homing(), name="maze", **given)

    return build


@pytest.fixture(scope="session")
def gym_problem() -> Callable[..., GymProblem]:
    """Builds a problem in a Gymnasium environment, with a reward that does not matter."""
    gymnasium = pytest.importorskip("gymnasium", reason="these need the extra boirl[rl]")
    assert gymnasium is not None
    from boirl.environments.gym_simulator import GymSimulator

    def build(env: Any, count: int = 3, steps: int = STEPS) -> GymProblem:
        drawn = GymSimulator(env).roll_out(None, count, steps, np.random.default_rng(0))
        reward = boirl.CallableReward(
            lambda theta, seen: theta[:, :1].expand(-1, len(seen)), {"weight": (0.0, 1.0)}
        )
        return GymProblem(env, reward, drawn, Homing(), horizon=steps, workers=0)

    return build


@pytest.fixture(scope="session")
def result_of() -> Callable[..., BaselineRun]:
    """Evaluates some thetas of a problem and makes a result of them."""

    def build(problem: GymProblem, thetas: Sequence[Any]) -> BaselineRun:
        evaluations = tuple(problem.evaluate(theta, seed=0) for theta in thetas)
        return BaselineRun(problem, evaluations, "given")

    return build
