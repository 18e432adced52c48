"""An actor and a critic whose gradients are written out."""

import numpy as np
import pytest
import torch

from boirl.errors import InvalidInputError
from boirl.policies.actions import Gaussian
from boirl.policies.actor_critic import ACTOR, CRITIC, ActorCritic, Parts
from boirl.policies.network import NetworkPolicy

SIZES = (3, 5, 4, 2)


def networks(seed=1000):
    return ActorCritic(SIZES, -0.5, np.random.default_rng(seed))


def observations(count=7):
    drawn = np.random.default_rng(1001).standard_normal((count, 3))
    return torch.from_numpy(drawn.astype(np.float32))


def test_all_numbers_are_views_into_one_vector():
    built = networks()
    assert len(built.vector) == Parts.length(SIZES)
    shapes = [tuple(weight.shape) for weight in built.parts.weights]
    assert shapes == [(2, 3, 5), (2, 5, 4), (2, 4, 2)]
    assert [tuple(bias.shape) for bias in built.parts.biases] == [(2, 1, 5), (2, 1, 4), (2, 1, 2)]
    counted = sum(part.numel() for part in (*built.parts.weights, *built.parts.biases))
    assert counted + built.parts.log_sd.numel() == len(built.vector)
    built.vector.fill_(3.0)
    assert all((weight == 3.0).all() for weight in built.parts.weights)


def test_weights_are_orthogonal_and_the_actor_starts_close_to_zero():
    built = networks()
    for network in (ACTOR, CRITIC):
        weight = built.parts.weights[0][network]
        np.testing.assert_allclose(weight @ weight.T, 2.0 * np.eye(3), atol=1e-5)
    assert float(built.forward(observations())[-1][ACTOR].abs().max()) < 0.1
    assert not built.parts.weights[-1][CRITIC, :, 1:].any()
    assert (built.parts.log_sd == -0.5).all()
    assert torch.equal(networks().vector, built.vector)
    assert not torch.equal(networks(1002).vector, built.vector)


def test_outputs_are_those_of_two_networks():
    built = networks()
    outputs = built.forward(observations())
    assert [tuple(layer.shape) for layer in outputs] == [(2, 7, 5), (2, 7, 4), (2, 7, 2)]
    for network in (ACTOR, CRITIC):
        values = observations()
        for layer, (weight, bias) in enumerate(
            zip(built.parts.weights, built.parts.biases, strict=True)
        ):
            values = values @ weight[network] + bias[network]
            values = values if layer == 2 else torch.tanh(values)
        torch.testing.assert_close(outputs[-1][network], values)


def test_slopes_are_those_of_automatic_differentiation():
    built = networks()
    built.vector.copy_(torch.randn(len(built.vector), generator=torch.Generator().manual_seed(1)))
    seen, slope = observations(), torch.randn(2, 7, 2, generator=torch.Generator().manual_seed(2))
    built.backward(seen, built.forward(seen), slope)
    vector = built.vector.double().requires_grad_()
    parts = Parts.of(vector, SIZES)
    values = seen.double().expand(2, 7, 3)
    for weight, bias in zip(parts.weights[:-1], parts.biases[:-1], strict=True):
        values = torch.tanh(values @ weight + bias)
    outputs = values @ parts.weights[-1] + parts.biases[-1]
    (outputs * slope.double()).sum().backward()
    torch.testing.assert_close(built.vector.grad.double(), vector.grad, rtol=1e-4, atol=1e-5)


def test_the_actor_in_numpy_is_the_actor():
    built = networks()
    found = built.actor_in_numpy()(observations().numpy())
    torch.testing.assert_close(torch.from_numpy(found), built.forward(observations())[-1][ACTOR])


def test_the_actor_becomes_a_policy_and_a_policy_the_actor():
    built, other = networks(), networks(1002)
    weights, biases = built.actor_arrays()
    policy = NetworkPolicy(weights, biases, "tanh", Gaussian(2), np.zeros(2))
    seen = observations().numpy()
    np.testing.assert_allclose(
        policy.outputs(seen)[:, :2], built.forward(observations())[-1][ACTOR], atol=1e-6
    )
    critic = other.forward(observations())[-1][CRITIC].clone()
    other.start_from(policy)
    actor, after = other.forward(observations())[-1]
    torch.testing.assert_close(actor, built.forward(observations())[-1][ACTOR])
    assert torch.equal(after, critic)
    assert (other.parts.log_sd == -0.5).all()


def test_a_policy_of_another_shape_is_refused():
    weights = (np.zeros((3, 2)),)
    narrow = NetworkPolicy(weights, (np.zeros(2),), "tanh", Gaussian(2), np.zeros(2))
    with pytest.raises(InvalidInputError, match="expected tanh layers of shapes"):
        networks().start_from(narrow)
