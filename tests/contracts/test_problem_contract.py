"""The problems that come with boirl, held to the contract."""

import numpy as np
import pytest
import torch

import boirl
from boirl.domains.roads.files import Trips
from boirl.domains.roads.recursive_logit import recursive_logit_problem
from boirl.domains.roads.town import generate_town
from boirl.rewards import CallableReward, LinearReward
from tests.contracts.problem_contract import ProblemContract
from tests.problem import learned

WEIGHTS = {"a": (-2.0, 2.0), "b": (-2.0, 2.0)}


class TestTabularProblem(ProblemContract):
    @pytest.fixture(scope="class", params=["max", "boltzmann", "logsumexp"])
    @classmethod
    def problem(cls, request, random_problem):
        return random_problem(1000, request.param)


class TestDeterministicTabularProblem(ProblemContract):
    @pytest.fixture(scope="class", params=["max", "boltzmann", "logsumexp"])
    @classmethod
    def problem(cls, request, random_problem):
        features = np.random.default_rng(1000).normal(size=(4, 3, 2))
        return random_problem(1001, request.param, True, LinearReward(features, WEIGHTS))


def crooked(theta, steps):
    return torch.tanh(theta[:, :1] * torch.as_tensor(steps.next_states)) + theta[:, 1:]


class TestTabularProblemOfTransitions(ProblemContract):
    @pytest.fixture(scope="class")
    @classmethod
    def problem(cls, random_problem):
        reward = CallableReward(crooked, WEIGHTS, "transition")
        return random_problem(1002, "logsumexp", reward=reward)


def without_slopes(theta, steps):
    return torch.tensor(theta.detach().numpy()[:, :1] * np.asarray(steps.states))


class TestTabularProblemWithoutSlopes(ProblemContract):
    @pytest.fixture(scope="class")
    @classmethod
    def problem(cls, random_problem):
        return random_problem(1003, reward=CallableReward(without_slopes, {"a": (-2.0, 2.0)}))


class TestRoads(ProblemContract):
    @pytest.fixture(scope="class")
    @classmethod
    def problem(cls):
        return boirl.load_problem("road-network", n_links=60, n_demonstrations=6, seed=3)


class TestRecursiveLogitProblem(ProblemContract):
    @pytest.fixture(scope="class")
    @classmethod
    def problem(cls):
        network = generate_town(60, 0)
        ((destination, feeders),) = network.destinations.items()
        turns = network.turns[np.isin(network.turns[:, 1], feeders)][:4]
        trips = Trips(np.full(len(turns), destination), tuple(turns))
        return recursive_logit_problem(network, trips)


class TestGymProblem(ProblemContract):
    @pytest.fixture(scope="class", params=[1, 3])
    @classmethod
    def problem(cls, request):
        return learned.build(repeats=request.param)


class TestGymProblemThatKeepsTheBest(ProblemContract):
    @pytest.fixture(scope="class")
    @classmethod
    def problem(cls):
        anchor = learned.magnet(learned.TRUTH, seed=99)
        solver = learned.Magnet(weak=0.3, jitter=0.05)
        return learned.build(solver, keep="best", anchors=(anchor, anchor))
