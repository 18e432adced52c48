"""The reward families that come with boirl, held to the contract."""

import numpy as np
import pytest
import torch

import boirl.rewards
from boirl.domains.maze.simulator import TargetReward
from boirl.rewards import (
    CallableReward,
    LinearReward,
    LogisticReward,
    RewardFamily,
    ShapedReward,
    Transitions,
)
from boirl.rewards.network import NetworkReward, TableInputs, perceptron
from tests.contracts.reward_contract import N_ACTIONS, N_STATES, N_STEPS, RewardContract

RNG = np.random.default_rng(0)
WEIGHTS = {"a": (-2.0, 2.0), "b": (0.5, 3.0)}
SHAPE = {"steepness": (-2.0, 2.0), "midpoint": (-1.0, 1.0), "translation": (-4.0, 4.0)}
HEIGHT = torch.tensor(RNG.random(N_STATES))
ON_STATES = LinearReward(RNG.normal(size=(N_STATES, 2)), WEIGHTS)
LINEAR = {
    "states": ON_STATES,
    "state-actions": LinearReward(RNG.normal(size=(N_STATES, N_ACTIONS, 2)), WEIGHTS),
    "transitions": LinearReward(
        lambda steps: np.column_stack(
            [steps.next_states - steps.states, np.asarray(steps.actions)]
        ),
        WEIGHTS,
    ),
}


def power(theta, steps):
    return -theta[:, :1] * HEIGHT[steps.next_states] ** theta[:, 1:]


class TestLinearReward(RewardContract):
    @pytest.fixture(params=LINEAR)
    def family(self, request):
        return LINEAR[request.param]


class TestLogisticReward(RewardContract):
    @pytest.fixture
    def family(self):
        return LogisticReward(np.linspace(-1.0, 1.0, N_STATES), SHAPE, zero_states=[1])


class TestCallableReward(RewardContract):
    @pytest.fixture
    def family(self):
        return CallableReward(power, WEIGHTS, depends_on="transition")


class TestShapedReward(RewardContract):
    @pytest.fixture(params=LINEAR)
    def family(self, request):
        potentials = np.random.default_rng(1000).normal(size=(N_STATES, 3))
        return ShapedReward(LINEAR[request.param], potentials, gamma=0.9)


class TestNetworkReward(RewardContract):
    @pytest.fixture(params=[False, True])
    def family(self, request):
        inputs = TableInputs(np.random.default_rng(1000).normal(size=(N_STATES, 2)))
        network = perceptron(inputs.size, (4,), torch.Generator().manual_seed(1000))
        return NetworkReward(network, inputs, of_next=request.param).frozen()


class TestTargetReward(RewardContract):
    @pytest.fixture(params=[0.0, 0.3])
    def family(self, request):
        return TargetReward(request.param)

    @pytest.fixture
    def steps(self):
        rng = np.random.default_rng(1)
        return Transitions(*(rng.uniform(-1.0, 1.0, (N_STEPS, 2)) for _ in range(3)))


def test_every_public_family_is_held_to_the_contract():
    public = {getattr(boirl.rewards, name) for name in boirl.rewards.__all__}
    families = {one for one in public if issubclass(one, RewardFamily)} - {RewardFamily}
    assert families == {LinearReward, LogisticReward, CallableReward, ShapedReward}
