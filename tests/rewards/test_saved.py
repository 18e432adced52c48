"""Reward families that are written to a file and read again."""

import functools
import json

import numpy as np
import pytest
import torch

from boirl.errors import CodeNeededError
from boirl.files import read_arrays, write_arrays
from boirl.rewards import (
    CallableReward,
    LinearReward,
    LogisticReward,
    RewardFamily,
    ShapedReward,
    Transitions,
)
from boirl.rewards.saved import reward_from_parts, reward_parts

RNG = np.random.default_rng(1000)
WEIGHTS = {"a": (-2.0, 2.0), "b": (0.5, 3.0)}
SHAPE = {"steepness": (-2.0, 2.0), "midpoint": (-1.0, 1.0), "translation": (-4.0, 4.0)}
STEPS = Transitions(RNG.integers(4, size=9), RNG.integers(3, size=9), RNG.integers(4, size=9))

STATES = LinearReward(RNG.normal(size=(4, 2)), WEIGHTS)
ACTIONS = LinearReward(RNG.normal(size=(4, 3, 2)), WEIGHTS)
LOGISTIC = LogisticReward(RNG.normal(size=4), SHAPE, height=3.0, zero_states=[1])
SAVED = {
    "states": STATES,
    "state-actions": ACTIONS,
    "one fixed": STATES.fix(a=0.3),
    "logistic": LOGISTIC,
    "logistic, one fixed": LOGISTIC.fix(translation=1.5),
    "shaped": ShapedReward(ACTIONS, RNG.normal(size=(4, 3)), gamma=0.9, weight=2.0),
    "shaped, some fixed": ShapedReward(LOGISTIC, RNG.normal(size=(4, 2)), 0.8).fix(
        midpoint=0.2, potential1=0.7
    ),
}


def through_a_file(family, folder):
    facts, arrays = reward_parts(family)
    write_arrays(folder / "reward.npz", arrays)
    return reward_from_parts(
        json.loads(json.dumps(facts)), read_arrays(folder / "reward.npz", "a reward")
    )


@pytest.mark.parametrize("family", SAVED.values(), ids=SAVED)
def test_a_family_survives_a_file(family, tmp_path):
    again = through_a_file(family, tmp_path)
    assert type(again) is type(family)
    assert again.parameters == family.parameters
    assert again.depends_on == family.depends_on
    assert again.table_shape == family.table_shape
    unit = np.random.default_rng(1001).random((5, family.box.dimension))
    thetas = torch.tensor(family.box.from_unit(unit))
    assert torch.equal(again(thetas, STEPS), family(thetas, STEPS))


def price(theta, steps):
    return theta[:, :1] * torch.as_tensor(steps.states)


def distance(steps):
    return np.stack([steps.states, steps.next_states], axis=1)


class Priced:
    def __call__(self, theta, steps):
        return price(theta, steps)

    def pay(self, theta, steps):
        return price(theta, steps)


class OwnFamily(RewardFamily):
    def evaluate(self, theta, transitions):
        return theta[..., :1] * torch.as_tensor(transitions.states)


class OwnLinear(LinearReward):
    """Looks like a table, and may compute anything."""


NEEDS_CODE = {
    "function": (CallableReward(price, {"a": (0.0, 1.0)}), "price"),
    "partial function": (CallableReward(functools.partial(price), {"a": (0.0, 1.0)}), "price"),
    "object": (CallableReward(Priced(), {"a": (0.0, 1.0)}), "Priced"),
    "method": (CallableReward(Priced().pay, {"a": (0.0, 1.0)}), "Priced"),
    "features": (LinearReward(distance, WEIGHTS), "distance"),
    "class": (OwnFamily(STATES.parameters), "OwnFamily"),
    "subclass": (OwnLinear(RNG.normal(size=(4, 2)), WEIGHTS), "OwnLinear"),
    "base": (ShapedReward(CallableReward(price, {"a": (0.0, 1.0)}), np.eye(4), 0.9), "price"),
}


@pytest.mark.parametrize(("family", "name"), NEEDS_CODE.values(), ids=NEEDS_CODE)
def test_a_family_that_is_code_names_the_import(family, name):
    with pytest.raises(CodeNeededError, match=f"from {__name__} import {name}$"):
        reward_parts(family)


def test_a_function_within_a_function_names_what_is_around_it():
    def inner(theta, steps):
        return price(theta, steps)

    around = "test_a_function_within_a_function_names_what_is_around_it"
    with pytest.raises(CodeNeededError, match=f"import {around}$"):
        reward_parts(CallableReward(inner, {"a": (0.0, 1.0)}))
