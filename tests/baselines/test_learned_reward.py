"""Rewards that gradients change."""

import numpy as np
import pytest
import torch

from boirl.baselines.learned_reward import (
    JUMP_WIDTH,
    LearnedReward,
    as_transitions,
    check_environment,
    check_kind,
)
from boirl.errors import InvalidInputError
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


@pytest.mark.parametrize("kind", ["theta", "network"])
def test_the_first_reward_follows_from_the_seed(gridworld, kind):
    transitions = as_transitions(gridworld.demonstrations)
    one, same, other = (LearnedReward(gridworld, kind, seed, (4,)) for seed in (3, 3, 4))
    torch.testing.assert_close(one(transitions), same(transitions), rtol=0.0, atol=0.0)
    assert not torch.equal(one(transitions), other(transitions))


def test_a_theta_pays_what_its_family_pays(gridworld):
    learned = LearnedReward(gridworld, "theta", 0, (4,))
    family, theta = learned.current()
    assert family is None
    transitions = as_transitions(gridworld.demonstrations)
    expected = gridworld.reward(torch.tensor([theta], dtype=torch.float64), transitions)[0]
    torch.testing.assert_close(learned(transitions), expected)


def test_steps_that_leave_the_box_are_taken_back(gridworld):
    learned = LearnedReward(gridworld, "theta", 0, (4,))
    with torch.no_grad():
        learned.unit.copy_(torch.tensor([-0.3, 0.4, 1.7]))
    learned.after_step()
    np.testing.assert_allclose(learned.unit.detach(), [0.0, 0.4, 1.0])


def test_training_does_not_change_a_network_that_was_returned(gridworld):
    learned = LearnedReward(gridworld, "network", 0, (4,))
    transitions = as_transitions(gridworld.demonstrations)
    family, theta = learned.current()
    scale = torch.tensor([theta], dtype=torch.float64)
    before = family(scale, transitions)  # type: ignore[misc]
    torch.testing.assert_close(before[0], learned(transitions).detach())
    with torch.no_grad():
        for values in learned.parameters:
            values.add_(1.0)
    learned.after_step()
    torch.testing.assert_close(family(scale, transitions), before, rtol=0.0, atol=0.0)  # type: ignore[misc]
    assert not torch.allclose(learned(transitions), before[0])


def test_unknown_kinds_and_problems_are_refused():
    with pytest.raises(InvalidInputError, match="reward is 'table'; expected 'theta' or 'net"):
        check_kind("table")

    class Routes:
        name = "routes"

    with pytest.raises(InvalidInputError, match="'routes' is a Routes"):
        check_environment(Routes(), "airl")
