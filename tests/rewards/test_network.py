"""Rewards that a neural network computes."""

import numpy as np
import pytest
import torch

from boirl.rewards import Transitions
from boirl.rewards.network import NetworkReward, ScaledInputs, TableInputs, perceptron

RNG = np.random.default_rng(1000)
STEPS = Transitions(RNG.integers(4, size=6), RNG.integers(2, size=6), RNG.integers(4, size=6))


def generator(seed=1000):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def inputs():
    return TableInputs(RNG.normal(size=(4, 2)))


@pytest.fixture
def network(inputs):
    return perceptron(inputs.size, (5, 3), generator())


def test_a_reward_is_the_scaled_output_for_the_state(network, inputs):
    family = NetworkReward(network, inputs)
    assert family.depends_on == "state"
    assert family.box.names == ("scale",)
    rewards = family(torch.tensor([[1.0], [0.5]], dtype=torch.float64), STEPS)
    expected = network(inputs(STEPS.states))[:, 0]
    torch.testing.assert_close(rewards, torch.stack([expected, 0.5 * expected]))


def test_a_step_may_be_paid_for_the_state_it_leads_to(network, inputs):
    family = NetworkReward(network, inputs, of_next=True)
    assert family.depends_on == "transition"
    rewards = family(torch.ones(1, 1, dtype=torch.float64), STEPS)[0]
    torch.testing.assert_close(rewards, network(inputs(STEPS.next_states))[:, 0])


def test_a_frozen_reward_stays_as_it_is(network, inputs):
    family = NetworkReward(network, inputs, of_next=True)
    frozen = family.frozen()
    theta = torch.ones(1, 1, dtype=torch.float64)
    before = frozen(theta, STEPS).clone()
    torch.testing.assert_close(before, family(theta, STEPS))
    with torch.no_grad():
        for values in network.parameters():
            values += 1.0
    assert torch.equal(frozen(theta, STEPS), before)
    assert not torch.equal(family(theta, STEPS), before)
    assert not any(values.requires_grad for values in frozen.network.parameters())
    assert frozen.of_next


def test_features_are_scaled_and_those_that_never_change_are_left_out():
    table = np.array([[1.0, 7.0, -2.0], [3.0, 7.0, 2.0], [5.0, 7.0, 0.0]])
    inputs = TableInputs(table)
    assert inputs.size == 2
    rows = inputs(np.array([0, 1, 2])).numpy()
    np.testing.assert_allclose(rows.mean(axis=0), 0.0, atol=1e-15)
    np.testing.assert_allclose(rows.std(axis=0), 1.0)
    np.testing.assert_array_equal(inputs(np.array([2, 2])), rows[[2, 2]])


def test_observations_are_centred_and_scaled():
    inputs = ScaledInputs(np.array([1.0, -1.0]), np.array([2.0, 0.5]))
    assert inputs.size == 2
    found = inputs(np.array([[3.0, 0.0], [1.0, -1.0]]))
    assert found.tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert found.dtype == torch.float64


def test_a_perceptron_follows_from_its_generator():
    first, again, other = (perceptron(2, (5, 3), generator(seed)) for seed in (1, 1, 2))
    shapes = [tuple(values.shape) for values in first.parameters()]
    assert shapes == [(5, 2), (5,), (3, 5), (3,), (1, 3), (1,)]
    values = torch.ones(4, 2, dtype=torch.float64)
    assert torch.equal(first(values), again(values))
    assert not torch.equal(first(values), other(values))
    for name, own in first.named_parameters():
        assert own.dtype == torch.float64
        assert own.any() == (not name.endswith("bias"))


def test_global_random_numbers_are_left_alone():
    state = torch.get_rng_state()
    perceptron(2, (5,), generator())
    assert torch.equal(torch.get_rng_state(), state)
