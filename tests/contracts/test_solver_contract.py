"""The solvers that come with boirl, held to the contract."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from boirl.domains.fetch import environment as fetch
from boirl.domains.fetch.replay_sac import ReplaySAC
from boirl.domains.fetch.transitions import GoalTransitions
from boirl.domains.maze.simulator import PointMassMaze, TargetReward
from boirl.policies.ppo import VectorPPO
from boirl.policies.solver import Task
from boirl.rewards import CallableReward
from tests.contracts.solver_contract import SolverContract

pytest.importorskip("sb3_contrib", reason="these need the extra boirl[rl]")
from boirl.environments.gym_simulator import GymSimulator
from boirl.policies import stable_baselines as sb3


class TestVectorPPO(SolverContract):
    solver = VectorPPO(steps=240, copies=8, rollout=10, hidden=8, epochs=2, minibatches=2)

    @pytest.fixture
    def task(self):
        return Task(PointMassMaze(), TargetReward(), np.array([0.3, 0.0]), 0.9, 20)


def near(theta, steps):
    return -(torch.as_tensor(steps.next_states)[:, 0] - theta[:, :1]).abs()


NEAR = CallableReward(near, {"place": (-1.0, 1.0)}, "transition")


class StableBaselinesContract(SolverContract):
    @pytest.fixture
    def task(self):
        return Task(GymSimulator("Pendulum-v1"), NEAR, np.array([0.5]), 0.95, 20)


class TestPPO(StableBaselinesContract):
    solver = sb3.PPO(64, n_epochs=1, n_steps=32, batch_size=16, policy_kwargs={"net_arch": [8, 6]})


class TestPPOOnChoices(SolverContract):
    solver = TestPPO.solver

    @pytest.fixture
    def task(self):
        return Task(GymSimulator("CartPole-v1"), NEAR, np.array([0.5]), 0.95, 20)


class TestTRPO(StableBaselinesContract):
    solver = sb3.TRPO(64, n_steps=32, batch_size=16, policy_kwargs={"net_arch": [8]})


class TestSAC(StableBaselinesContract):
    solver = sb3.SAC(
        30, learning_starts=20, buffer_size=100, batch_size=8, policy_kwargs={"net_arch": [8]}
    )


@dataclass(frozen=True)
class Wandering:
    """Transitions of a point that moves by its actions, in the shape of Fetch-Reach."""

    def load(self, report):
        rng = np.random.default_rng(1000)
        states = np.tile(fetch.CENTRE, (200, 1))
        states[:, fetch.ACHIEVED] += rng.uniform(-0.15, 0.15, (200, 3))
        actions = rng.uniform(-1.0, 1.0, (200, 4))
        following = states.copy()
        following[:, fetch.ACHIEVED] += 0.03 * actions[:, :3]
        return GoalTransitions(states, actions, following, np.arange(200))


class TestReplaySAC(SolverContract):
    solver = ReplaySAC(updates=10, batch=16, hidden=(8, 8), transitions=Wandering())
    side_by_side = 1e-4

    @pytest.fixture
    def task(self):
        return Task(None, fetch.FetchReachReward(), np.array([0.05, -1.0]), 0.95, 50)

    @pytest.fixture
    def observations(self):
        return Wandering().load(None).states[:20]

    @pytest.fixture
    def bounds(self):
        return np.full(4, -1.0), np.full(4, 1.0)
