"""Several networks of one shape, side by side."""

import numpy as np
import pytest
import torch
from torch import nn

from boirl.errors import InvalidInputError
from boirl.policies.actions import Gaussian
from boirl.policies.network import NetworkPolicy
from boirl.policies.replicas import Replicas

SIZES = (3, 5, 4)


def create(*seeds):
    return Replicas.create(SIZES, [torch.Generator().manual_seed(seed) for seed in seeds])


def inputs(count, replicas):
    return torch.randn(replicas, count, 3, generator=torch.Generator().manual_seed(7))


def test_a_replica_follows_from_its_own_generator():
    together, alone, other = create(1, 2), create(2), create(3)
    for index, weight in enumerate(alone.weights):
        assert torch.equal(together.weights[index][1], weight[0])
        assert not torch.equal(other.weights[index][0], weight[0])
    largest = float(together.weights[0].detach().abs().max())
    assert 0.5 * 3**-0.5 < largest <= 3**-0.5


def test_outputs_are_those_of_torch_for_each_replica():
    networks, values = create(1, 2), inputs(6, 2)
    found = networks(values)
    assert found.shape == (2, 6, 4)
    for replica in range(2):
        modules = []
        for weight, bias in zip(networks.weights, networks.biases, strict=True):
            linear = nn.Linear(*weight.shape[1:])
            linear.weight.data, linear.bias.data = weight[replica].data.T, bias[replica, 0].data
            modules += [linear, nn.ReLU()]
        torch.testing.assert_close(found[replica], nn.Sequential(*modules[:-1])(values[replica]))


def test_replicas_do_not_influence_each_other():
    networks, values = create(1, 2), inputs(6, 2)
    networks(values)[0].square().sum().backward()
    for parameter in networks.parameters:
        assert parameter.grad[0].any()
        assert not parameter.grad[1].any()


def test_a_copy_follows_at_its_own_rate():
    networks = create(1, 2)
    target = networks.copy()
    before = [parameter.clone() for parameter in target.parameters]
    with torch.no_grad():
        for parameter in networks.parameters:
            parameter += 1.0
    assert not any(parameter.requires_grad for parameter in target.parameters)
    target.follow(networks, 0.25)
    for parameter, old in zip(target.parameters, before, strict=True):
        torch.testing.assert_close(parameter, old + 0.25)


def policy(weights, biases, activation="relu"):
    return NetworkPolicy(weights, biases, activation, Gaussian(2))


def test_one_replica_becomes_a_policy_and_a_policy_one_replica():
    networks, other = create(1, 2), create(3, 4)
    made = policy(*networks.arrays(1))
    values = inputs(6, 2)
    np.testing.assert_allclose(
        made.outputs(values[1].numpy()), networks(values)[1].detach(), atol=1e-5
    )
    kept = other.weights[0][0].clone()
    other.overwrite(1, made)
    assert torch.equal(other.weights[0][0], kept)
    torch.testing.assert_close(other(values)[1], networks(values)[1])


@pytest.mark.parametrize("change", ["shape", "activation"])
def test_a_policy_of_another_kind_is_refused(change):
    networks = create(1)
    wrong = (
        policy((np.zeros((3, 4)),), (np.zeros(4),))
        if change == "shape"
        else policy(*networks.arrays(0), activation="tanh")  # type: ignore[misc]
    )
    with pytest.raises(InvalidInputError, match="expected relu layers of shapes"):
        networks.overwrite(0, wrong)
