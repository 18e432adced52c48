import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from boirl.errors import InvalidInputError, SolverError, StorageError
from boirl.files import read_arrays, write_arrays
from boirl.policies.actions import Categorical, CensoredGaussian, Gaussian, UniformMixture
from boirl.policies.network import NetworkPolicy

SIZES = (3, 5, 7, 4)


def random_policy(seed=0, activation="tanh", actions=None, log_sd=None, sizes=SIZES, **scaling):
    rng = np.random.default_rng(seed)
    return NetworkPolicy(
        weights=tuple(rng.normal(size=pair) for pair in pairwise(sizes)),
        biases=tuple(rng.normal(size=size) for size in sizes[1:]),
        activation=activation,
        actions=actions or Categorical(sizes[-1] + (0 if log_sd is None else len(log_sd))),
        log_sd=log_sd,
        **scaling,
    )


@pytest.mark.parametrize(("activation", "layer"), [("tanh", nn.Tanh), ("relu", nn.ReLU)])
def test_outputs_are_those_of_torch(activation, layer):
    centre, scale = np.array([1.0, -2.0, 0.5]), np.array([2.0, 0.1, 3.0])
    policy = random_policy(activation=activation, centre=centre, scale=scale)
    modules = []
    for weight, bias in zip(policy.weights, policy.biases, strict=True):
        linear = nn.Linear(*weight.shape, dtype=torch.float64)  # type: ignore[misc]
        linear.weight.data, linear.bias.data = torch.tensor(weight.T), torch.tensor(bias)
        modules += [linear, layer()]
    observations = np.random.default_rng(1).normal(size=(20, 3))
    scaled = torch.tensor((observations - centre) / scale)
    expected = nn.Sequential(*modules[:-1])(scaled).detach().numpy()
    np.testing.assert_allclose(policy.outputs(observations), expected, rtol=1e-12, atol=1e-12)


def test_standard_deviations_that_are_the_same_everywhere_follow_the_means():
    policy = random_policy(actions=Gaussian(4), log_sd=np.array([0.0, -1.0, -2.0, -3.0]))
    outputs = policy.outputs(np.zeros((6, 3)))
    assert outputs.shape == (6, 8)
    np.testing.assert_array_equal(outputs[:, 4:], np.tile([0.0, -1.0, -2.0, -3.0], (6, 1)))


def test_it_acts_and_explains_by_its_outputs():
    policy = random_policy()
    states = np.random.default_rng(1).normal(size=(30, 3))
    outputs, actions = policy.outputs(states), policy.sample(states, np.random.default_rng(2))
    np.testing.assert_array_equal(actions, policy.actions.sample(outputs, np.random.default_rng(2)))
    np.testing.assert_array_equal(policy.mode(states), outputs.argmax(axis=1))
    np.testing.assert_array_equal(
        policy.log_prob(states, actions), policy.actions.log_prob(outputs, actions)
    )


def test_other_actions_on_the_same_network():
    policy = random_policy()
    guarded = policy.with_actions(UniformMixture(Categorical(4), 0.5))
    states = np.zeros((4, 3))
    np.testing.assert_array_equal(guarded.outputs(states), policy.outputs(states))
    assert (guarded.log_prob(states, np.arange(4)) >= np.log(0.5 / 4)).all()


@pytest.mark.parametrize(
    "policy",
    [
        random_policy(activation="relu"),
        random_policy(actions=Gaussian(2), centre=np.arange(3.0), scale=np.full(3, 2.0)),
        random_policy(
            actions=UniformMixture(CensoredGaussian((-1.0,) * 4, (2.0,) * 4), 0.05),
            log_sd=np.linspace(-1.0, 0.5, 4),
        ),
    ],
    ids=["relu", "scaled", "constant sd"],
)
def test_round_trip_through_a_file(policy, tmp_path):
    write_arrays(tmp_path / "policy.npz", policy.to_dict())
    again = NetworkPolicy.from_dict(read_arrays(tmp_path / "policy.npz", "a policy"))
    states = np.random.default_rng(3).normal(size=(10, 3))
    np.testing.assert_array_equal(again.outputs(states), policy.outputs(states))
    assert again.actions == policy.actions
    first, second = (one.sample(states, np.random.default_rng(4)) for one in (policy, again))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("part", ["weights", "biases", "log_sd"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_mean_that_training_diverged(part, value):
    policy = random_policy(actions=Gaussian(4), log_sd=np.zeros(4))
    given = {name: getattr(policy, name) for name in ("weights", "biases", "log_sd")}
    if part == "log_sd":
        given[part] = np.array([0.0, 0.0, value, 0.0])
    else:
        given[part] = tuple(np.where(array == array.max(), value, array) for array in given[part])
    with pytest.raises(SolverError, match="training diverged"):
        NetworkPolicy(**given, activation="tanh", actions=Gaussian(4))


@pytest.mark.parametrize("log_sd", [None, np.zeros(3)])
def test_outputs_are_counted(log_sd):
    found = 4 if log_sd is None else 7
    with pytest.raises(InvalidInputError, match=f"{found} outputs; Categorical expects 9"):
        random_policy(actions=Categorical(9), log_sd=log_sd)


def damaged(**changes):
    arrays = random_policy(actions=Gaussian(4), log_sd=np.zeros(4)).to_dict()
    for name, value in changes.items():
        if value is None:
            del arrays[name]
        else:
            arrays[name] = value
    return arrays


def facts(**changes):
    known = json.loads(str(damaged()["network"]))
    return np.array(json.dumps({**known, **changes}))


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        damaged(weight_1=None),
        damaged(log_sd=None),
        damaged(scale=None),
        damaged(network=np.array("no json")),
        damaged(network=np.array("[1, 2]")),
        damaged(network=facts(layers="three")),
        damaged(network=facts(actions={"kind": "Unheard"})),
        damaged(network=facts(actions={"kind": "Gaussian", "dimension": 4, "extra": 1})),
        damaged(network=facts(actions={"kind": "Gaussian", "dimension": 3})),
        damaged(network=facts(actions={"kind": "Gaussian"})),
        damaged(network=facts(activation="unheard")),
        damaged(network=facts(layers=0)),
        damaged(weight_2=np.zeros(4)),
        damaged(weight_0=np.full((3, 5), np.nan)),
        damaged(weight_1=np.zeros((6, 7))),
    ],
)
def test_what_is_no_policy_is_a_storage_error(arrays):
    with pytest.raises(StorageError, match="no policy that boirl wrote"):
        NetworkPolicy.from_dict(arrays)
