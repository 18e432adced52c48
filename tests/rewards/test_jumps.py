import numpy as np
import pytest
import torch

from boirl.rewards import CallableReward, LinearReward, LogisticReward, Transitions
from boirl.rewards.jumps import jumping_parameters

STATES = Transitions(np.arange(40))
PLACES = torch.linspace(0.0, 1.0, 40, dtype=torch.float64)
BOUNDS = {"threshold": (0.1, 0.9), "height": (-1.0, 5.0)}


def family(function):
    def reward(theta, transitions):
        return function(theta[:, :1], theta[:, 1:], PLACES[transitions.states])

    return CallableReward(reward, BOUNDS)


@pytest.mark.parametrize(
    ("function", "jumping"),
    [
        (lambda t, h, x: h * (x > t).double(), ("threshold",)),
        (lambda t, h, x: torch.where(x > t, h, 0.3 * t), ("threshold",)),
        (lambda t, h, x: torch.round(h) * x + t, ("height",)),
        (lambda t, h, x: torch.round(h) * (x > t), ("threshold", "height")),
        (lambda t, h, x: t.detach() * x + h * x**2, ("threshold",)),
        (lambda t, h, x: torch.sigmoid(60 * (x - t)) * h, ()),
        (lambda t, h, x: h * torch.relu(x - t), ()),
        (lambda t, h, x: h.abs() * x - (x - t).abs(), ()),
        (lambda t, h, x: (t - 0.1).sqrt() * x + h, ()),
        (lambda t, h, x: h * x + 0.0 * t, ()),
        (lambda t, h, x: (h * (x > t)).detach(), ()),
    ],
)
def test_a_derivative_that_leaves_a_change_out_is_noticed(function, jumping):
    assert jumping_parameters(family(function), STATES) == jumping


def test_families_of_the_package_do_not_jump():
    rng = np.random.default_rng(0)
    linear = LinearReward(rng.standard_normal((40, 3)), {"a": (-1, 1), "b": (0, 100), "c": (0, 1)})
    bounds = {"steepness": (-2, 2), "midpoint": (-10, 10), "translation": (-4, 4)}
    assert jumping_parameters(linear, STATES) == ()
    assert jumping_parameters(LogisticReward(rng.integers(0, 11, 40), bounds), STATES) == ()


def test_fixed_parameters_are_left_alone():
    reward = family(lambda t, h, x: h * (x > t).double())
    assert jumping_parameters(reward.fix(threshold=0.5), STATES) == ()


def test_a_reward_that_is_not_finite_is_not_said_to_jump():
    assert jumping_parameters(family(lambda t, h, x: h / (x - x) + t), STATES) == ()
