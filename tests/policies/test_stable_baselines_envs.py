"""Environments as stable-baselines3 sees them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from boirl.errors import InvalidInputError, SolverError
from boirl.policies.solver import Task
from boirl.rewards import CallableReward

gymnasium = pytest.importorskip("gymnasium", reason="these need the extra boirl[rl]")
from gymnasium import spaces  # noqa: E402

from boirl.environments.gym_simulator import GymSimulator  # noqa: E402
from boirl.policies.stable_baselines_envs import FlatEnv, GoalEnv  # noqa: E402

HORIZON = 5


class Reach(gymnasium.Env):  # type: ignore[name-defined]
    """A point on a line that is to reach a goal."""

    def __init__(self):
        box = spaces.Box(-4.0, 4.0, (1,), np.float64)
        self.observation_space = spaces.Dict(
            {
                "observation": spaces.Box(-np.inf, np.inf, (2,), np.float64),
                "desired_goal": box,
                "achieved_goal": box,
            }
        )
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def look(self):
        return {
            "observation": np.array([7.0, self.place]),
            "desired_goal": np.array([self.goal]),
            "achieved_goal": np.array([self.place]),
        }

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.goal = 0.5, 2.0
        return self.look(), {}

    def step(self, action):
        self.place = float(self.place + action[0])
        return self.look(), 123.0, False, False, {}


def gap(theta, steps):
    """Theta times the distance from the goal: flat observations are achieved, desired, others."""
    following = torch.as_tensor(steps.next_states)
    return theta[:, :1] * (following[:, 0] - following[:, 1]).abs()


TASK = Task(
    GymSimulator(Reach),
    CallableReward(gap, {"weight": (-1.0, 1.0)}, "transition"),
    np.array([-0.5]),
    0.9,
    HORIZON,
)


def test_flat_observations_are_scaled():
    env = FlatEnv(TASK)
    seen, _ = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    # Goals are bounded by 4, the rest is not bounded.
    np.testing.assert_allclose(seen, [0.5 / 4.0, 2.0 / 4.0, 7.0, 0.5])


def test_rewards_are_those_of_theta_and_episodes_end_at_the_horizon():
    env = FlatEnv(TASK)
    env.reset(seed=1)
    paid, ended = [], []
    for _ in range(HORIZON):
        _, reward, terminated, truncated, _ = env.step(np.array([0.25], dtype=np.float32))
        assert not terminated
        paid.append(reward)
        ended.append(truncated)
    np.testing.assert_allclose(paid, [-0.5 * abs(0.5 + 0.25 * t - 2.0) for t in range(1, 6)])
    assert ended == [False] * (HORIZON - 1) + [True]


def test_a_reward_that_is_not_finite_is_a_solver_error():
    def nowhere(theta, steps):
        return theta[:, :1] * torch.full((1, len(steps)), torch.inf)

    reward = CallableReward(nowhere, {"weight": (-1.0, 1.0)}, "transition")
    env = FlatEnv(replace(TASK, reward=reward))
    env.reset(seed=1)
    with pytest.raises(SolverError, match=r"the reward is -inf in observation \[0\.5"):
        env.step(np.array([0.25], dtype=np.float32))


def test_goals_are_apart_and_in_the_order_of_the_environment():
    env = GoalEnv(TASK)
    seen, _ = env.reset(seed=1)
    assert list(seen) == list(env.observation_space.spaces) == list(env.parts)
    assert env.observation_space.contains(seen)
    assert seen["desired_goal"].tolist() == [0.5]
    assert seen["achieved_goal"].tolist() == [0.125]


def test_rewards_of_goals_that_were_not_pursued():
    env = GoalEnv(TASK)
    # As the learner sees them: divided by 4.
    achieved, desired = np.array([[0.0], [0.5], [1.0]]), np.array([[0.5], [0.5], [0.5]])
    rewards = env.compute_reward(achieved, desired, [{}] * 3)
    np.testing.assert_allclose(rewards, [-0.5 * 2.0, 0.0, -0.5 * 2.0])
    assert env.compute_reward(achieved[0], desired[0], {}) == pytest.approx(-1.0)


def test_the_reward_of_a_step_is_that_of_its_goals():
    env = GoalEnv(TASK)
    env.reset(seed=1)
    seen, reward, *_ = env.step(np.array([0.25], dtype=np.float32))
    again = env.compute_reward(seen["achieved_goal"], seen["desired_goal"], {})
    assert again == pytest.approx(reward, rel=1e-6)


def test_rewards_that_need_more_than_goals_are_refused():
    def place(theta, steps):
        return theta[:, :1] * torch.as_tensor(steps.states)[:, 3]

    reward = CallableReward(place, {"weight": (-1.0, 1.0)}, "transition")
    env = GoalEnv(replace(TASK, reward=reward))
    with pytest.raises(SolverError, match="goals of the next observation alone"):
        env.compute_reward(np.zeros((2, 1)), np.zeros((2, 1)), [{}] * 2)


def test_environments_without_goals_are_refused():
    class Nameless(Reach):
        def __init__(self):
            super().__init__()
            self.observation_space = spaces.Dict({"observation": spaces.Box(-1.0, 1.0, (2,))})

    with pytest.raises(InvalidInputError, match="lack achieved_goal, desired_goal; hindsight"):
        GoalEnv(replace(TASK, simulator=GymSimulator(Nameless)))
    with pytest.raises(InvalidInputError, match="expected a Dict space"):
        GoalEnv(replace(TASK, simulator=GymSimulator("Pendulum-v1")))
