"""Rewards that gradients change."""

import numpy as np
import pytest
import torch

from boirl.baselines.learned_reward import JUMP_WIDTH, LearnedReward, as_transitions
from boirl.rewards import CallableReward


def jump(theta, transitions):
    """Pays `price` in the states above a threshold."""
    states = torch.as_tensor(transitions.states)
    return theta[:, 1:] * (states > theta[:, :1])


def test_a_threshold_has_the_slope_across_its_jumps(random_problem):
    family = CallableReward(jump, {"threshold": (0.0, 4.0), "price": (-1.0, 1.0)})
    problem = random_problem(0, reward=family)
    learned = LearnedReward(problem, "theta", 0, (4,))
    assert learned.jumping == [0]
    with torch.no_grad():
        learned.unit.copy_(torch.tensor([0.3, 0.75]))
    transitions = as_transitions(problem.demonstrations)
    rewards = learned(transitions)
    np.testing.assert_allclose(rewards.detach(), 0.5 * (transitions.states > 1.2))
    (slope,) = torch.autograd.grad(rewards[transitions.states == 1].mean(), learned.unit)
    np.testing.assert_allclose(slope, [-0.5 / (2 * JUMP_WIDTH), 0.0])
    (slope,) = torch.autograd.grad(
        learned(transitions)[transitions.states == 3].mean(), learned.unit
    )
    np.testing.assert_allclose(slope, [0.0, 2.0])


def test_rewards_that_torch_cannot_follow_have_slopes(random_problem):
    def untracked(theta, transitions):
        return jump(theta.detach(), transitions)

    family = CallableReward(untracked, {"threshold": (0.0, 4.0), "price": (-1.0, 1.0)})
    problem = random_problem(0, reward=family)
    learned = LearnedReward(problem, "theta", 0, (4,))
    assert learned.jumping == [0, 1]
    transitions = as_transitions(problem.demonstrations)
    (slope,) = torch.autograd.grad(
        learned(transitions)[transitions.states == 3].mean(), learned.unit
    )
    assert float(slope[1]) == pytest.approx(2.0)


def test_rewards_with_derivatives_are_left_alone(gridworld):
    assert LearnedReward(gridworld, "theta", 0, (4,)).jumping == []
