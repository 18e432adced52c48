"""Values as JSON and arrays: what comes back equals what went in, and nothing else is taken."""

import json

import numpy as np
import pytest
import torch

from boirl.baselines.learned_reward import state_inputs
from boirl.baselines.plain import from_plain, pack_optimiser, to_plain, unpack_optimiser
from boirl.evaluation import Evaluation
from boirl.rewards.network import NetworkReward, perceptron
from boirl.rewards.table import table_reward


def there_and_back(value, problem):
    arrays: dict = {}
    return from_plain(json.loads(json.dumps(to_plain(value, arrays))), arrays, problem)


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 2**100, 0.1, float("inf"), "array", [1, [2.5, None]], {}, {"array": {"a": 1}}],
)
def test_plain_values_return(value, gridworld):
    assert there_and_back(value, gridworld) == value


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool", "U5"])
def test_arrays_return_with_their_type(dtype, gridworld):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    found = there_and_back([array], gridworld)[0]
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_generators_go_on_where_they_were(bits, gridworld):
    rng = np.random.Generator(bits(11))
    rng.random(3)
    found = there_and_back(rng, gridworld)
    np.testing.assert_array_equal(found.random(5), rng.random(5))


def test_evaluations_return_with_their_network(gridworld):
    inputs = state_inputs(gridworld)
    network = perceptron(inputs.size, (4, 3), torch.Generator().manual_seed(1))
    family = NetworkReward(network, inputs).frozen()
    given = Evaluation((1.0,), 2.0, log_likelihoods=np.arange(3.0), seed=4, reward=family)
    found = there_and_back(given, gridworld)
    assert (found.theta, found.nll, found.seed) == ((1.0,), 2.0, 4)
    np.testing.assert_array_equal(found.log_likelihoods, given.log_likelihoods)
    theta = np.ones((1, 1))
    np.testing.assert_array_equal(
        gridworld.mdp.expected_rewards(found.reward, theta),
        gridworld.mdp.expected_rewards(family, theta),
    )


@pytest.mark.parametrize("of_next", [False, True])
def test_evaluations_return_with_their_table(of_next, gridworld):
    paid = np.arange(gridworld.mdp.n_states, dtype=np.float64)[:, None]
    given = Evaluation((1.0,), 2.0, reward=table_reward(paid, of_next))
    found = there_and_back(given, gridworld)
    assert found.reward.of_next == of_next
    np.testing.assert_array_equal(found.reward.table, paid)


@pytest.mark.parametrize(
    "value", [object(), {1: 2}, np.array([object()]), Evaluation((1.0,), 2.0, reward=object())]
)
def test_nothing_else_is_taken(value):
    with pytest.raises(TypeError, match="it holds a"):
        to_plain([value], {})


@pytest.mark.parametrize("plain", [{"call": "os.system"}, {}, {"array": "1", "mapping": {}}])
def test_unknown_kinds_are_refused(plain, gridworld):
    with pytest.raises(ValueError, match=r"kind of value|to unpack"):
        from_plain(plain, {}, gridworld)


def test_generators_are_made_by_name_from_a_list(gridworld):
    state = {"mapping": {"bit_generator": "BitGenerator"}}
    with pytest.raises(KeyError):
        from_plain({"generator": state}, {}, gridworld)


def test_an_optimiser_goes_on_where_it_was(gridworld):
    def started():
        values = torch.ones(3, dtype=torch.float64, requires_grad=True)
        return values, torch.optim.Adam([values], lr=0.1)

    def step(values, optimiser):
        optimiser.zero_grad()
        (values**4).sum().backward()
        optimiser.step()

    values, optimiser = started()
    for _ in range(3):
        step(values, optimiser)
    again, other = started()
    unpack_optimiser(other, there_and_back(pack_optimiser(optimiser), gridworld))
    for _ in range(3):
        step(values, optimiser)
        step(again, other)
    np.testing.assert_array_equal(again.detach(), values.detach())


def test_parameters_of_another_shape_are_refused():
    values = torch.ones(3, requires_grad=True)
    optimiser = torch.optim.Adam([values])
    with pytest.raises(ValueError, match="shape"):
        unpack_optimiser(optimiser, {"parameters": [np.ones(1)], "memory": {}})
