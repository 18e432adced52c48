"""What is known of a reward family by asking for some rewards."""

import numpy as np
import pytest
import torch

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.rewards import CallableReward, LinearReward
from tests.problem import learned

WEIGHT = {"weight": (-2.0, 2.0)}


def constant(theta, steps):
    return torch.full((len(theta), len(steps)), 0.7, dtype=torch.float64)


@pytest.mark.parametrize(
    "reward",
    [
        LinearReward(np.zeros((4, 1)), WEIGHT),
        CallableReward(constant, WEIGHT),
        CallableReward(lambda *given: constant(*given) * torch.inf, WEIGHT),
    ],
    ids=["zero features", "no parameter used", "infinite"],
)
def test_a_reward_that_does_not_vary_is_refused(random_problem, reward):
    problem = random_problem(1000, reward=reward)
    with pytest.raises(InvalidInputError, match=r"does not depend on theta.*\(weight\)"):
        problem.check_reward_varies()


def test_a_reward_that_varies_where_nobody_went_is_accepted(random_problem):
    features = np.zeros((4, 1))
    features[3] = 1.0
    problem = random_problem(1000, reward=LinearReward(features, WEIGHT))
    elsewhere = Demonstrations.from_arrays([[0, 1], [1, 0]], [[0, 0], [0, 0]])
    problem.with_demonstrations(elsewhere).check_reward_varies()


@pytest.mark.parametrize("worst", [np.nan, np.inf])
def test_a_reward_that_is_not_finite_somewhere_varies(random_problem, worst):
    def reward(theta, steps):
        paid = theta[:, :1] * torch.as_tensor(steps.states)
        return torch.where(theta[:, :1] > 0.0, paid, torch.full_like(paid, worst))

    random_problem(1000, reward=CallableReward(reward, WEIGHT)).check_reward_varies()


def test_learned_rewards_are_checked_along_the_demonstrations():
    learned.build().check_reward_varies()
    blind = CallableReward(constant, {"x": (-1.0, 1.0), "y": (-1.0, 1.0)})
    with pytest.raises(InvalidInputError, match="does not depend on theta"):
        learned.build(reward=blind).check_reward_varies()


def test_demonstrations_of_a_single_step_are_enough_to_check_a_reward():
    """Their ends are unknown, and the reward does not look at them."""
    shown = Demonstrations.from_trajectories(
        [(np.zeros((1, 2)), np.zeros((1, 2))), (np.ones((1, 2)) * 0.1, np.zeros((1, 2)))]
    )
    assert shown.unknown_ends.all()
    learned.build(demonstrations=shown).check_reward_varies()


def test_rewards_are_probed_all_over_the_box(random_problem):
    problem = random_problem(1000)
    steps = problem.mdp.paid_transitions("state")
    first, again = problem.probe_reward(steps), problem.probe_reward(steps)
    np.testing.assert_array_equal(first, again)
    assert first.shape == (16, 4)
    assert np.ptp(first, axis=0).min() > 0.0


def test_parameters_along_which_a_reward_jumps_are_named_once(random_problem):
    asked = []

    def reward(theta, steps):
        asked.append(len(theta))
        return (theta[:, :1] > 0.3) * torch.as_tensor(steps.states) + theta[:, :1]

    problem = random_problem(1000, reward=CallableReward(reward, WEIGHT))
    asked.clear()
    assert problem.jumping_parameters == ("weight",)
    calls = len(asked)
    assert problem.jumping_parameters == ("weight",)
    assert len(asked) == calls
    assert random_problem(1000).jumping_parameters == ()
