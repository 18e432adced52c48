"""The simulators that come with boirl, held to the contract."""

import numpy as np
import pytest

from boirl.domains.maze.simulator import PointMassMaze
from tests.contracts.simulator_contract import SimulatorContract, VectorSimulatorContract

gymnasium = pytest.importorskip("gymnasium", reason="these need the extra boirl[rl]")
from boirl.environments.gym_simulator import GymSimulator  # noqa: E402


class TestPointMassMaze(VectorSimulatorContract):
    @pytest.fixture
    def simulator(self):
        return PointMassMaze()


class TestGymSimulator(SimulatorContract):
    @pytest.fixture(params=["CartPole-v1", "Pendulum-v1"])
    def simulator(self, request):
        return GymSimulator(request.param)


class Sealed(gymnasium.Env):  # type: ignore[name-defined]
    """A number that nobody can set, and that ends at 2."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._place = self.np_random.uniform(size=1)
        return self._place.copy(), {}

    def step(self, action):
        self._place = self._place + 0.5 * (2 * action - 1)
        return self._place.copy(), 0.0, bool(self._place[0] >= 2.0), False, {}


class TestGymSimulatorThatCannotBeSet(SimulatorContract):
    sets_starts = False

    @pytest.fixture
    def simulator(self):
        return GymSimulator(Sealed)
