"""Fetch-Reach: the environment, its reward and what counts as success."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from boirl.domains.fetch import environment as fetch
from boirl.errors import InvalidInputError
from boirl.rewards import Transitions

pytest.importorskip("gymnasium_robotics", reason="Fetch-Reach needs the extra boirl[rl]")

REWARD = fetch.FetchReachReward()
GOAL = fetch.START + np.array([0.1, -0.12, 0.05])
START = np.concatenate([fetch.START, GOAL, np.zeros(10)])


class Straight:
    """Heads for the goal; a draw from it does so with a little noise."""

    def __init__(self, direction=1.0):
        self.direction = direction

    def mode(self, states):
        gap = states[:, fetch.DESIRED] - states[:, fetch.ACHIEVED]
        return np.hstack([np.clip(20.0 * self.direction * gap, -1, 1), np.zeros((len(gap), 1))])

    def sample(self, states, rng):
        return np.clip(self.mode(states) + rng.normal(0.0, 0.1, (len(states), 4)), -1, 1)


class Still(Straight):
    """Stays where it is."""

    def mode(self, states):
        return np.zeros((len(states), 4))


@pytest.fixture
def env():
    made = fetch.make_fetch_reach()
    yield made
    made.close()


def at_distances(distances, rng):
    """Observations with the gripper so far from random goals."""
    count = len(distances)
    states = rng.normal(size=(count, 16))
    direction = rng.normal(size=(count, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    states[:, fetch.DESIRED] = states[:, fetch.ACHIEVED] + direction * np.array(distances)[:, None]
    return states


def rewards(theta, states):
    start = np.zeros_like(states)
    return REWARD(torch.tensor(theta, dtype=torch.float64), Transitions(start, None, states))


@given(
    threshold=st.floats(0.0, 0.25),
    penalty=st.floats(-1.5, 1.5),
    distance=st.floats(0.0, 0.5),
    seed=st.integers(0, 99),
)
def test_a_reward_is_zero_near_the_goal_and_the_penalty_elsewhere(
    threshold, penalty, distance, seed
):
    if abs(distance - threshold) < 1e-9:
        return
    found = rewards([threshold, penalty], at_distances([distance], np.random.default_rng(seed)))
    assert found.item() == (0.0 if distance < threshold else penalty)


def test_rewards_of_many_thetas_and_steps_and_their_gradient():
    theta = torch.tensor([[0.05, -1.0], [0.2, 0.5]], dtype=torch.float64, requires_grad=True)
    ends = at_distances([0.01, 0.1, 0.3], np.random.default_rng(0))
    found = REWARD(theta, Transitions(ends, None, ends))
    torch.testing.assert_close(
        found.detach(), torch.tensor([[0, -1, -1], [0, 0, 0.5]], dtype=torch.float64)
    )
    found.sum().backward()
    assert theta.grad is not None
    assert theta.grad[:, 1].tolist() == [2.0, 1.0]


def test_a_reward_does_not_depend_on_where_a_step_began():
    ends = at_distances([0.01, 0.1], np.random.default_rng(0))
    theta = torch.tensor([0.05, -1.0], dtype=torch.float64)
    first = REWARD(theta, Transitions(ends, None, ends))
    assert torch.equal(first, REWARD(theta, Transitions(np.ones_like(ends), None, ends)))
    assert REWARD.depends_on == "transition"


def test_rewards_of_other_observations_are_refused():
    with pytest.raises(InvalidInputError, match="expected T x 16"):
        rewards([0.05, -1.0], np.zeros((3, 10)))


def test_the_truth_is_inside_the_box_and_the_environments_own_reward(env):
    truth = REWARD.box.check_one([fetch.TRUTH[name] for name in REWARD.box.names])
    states = at_distances([0.0, 0.049, 0.051, 0.2], np.random.default_rng(1))
    own = env.unwrapped.compute_reward(states[:, fetch.ACHIEVED], states[:, fetch.DESIRED], {})
    assert rewards(truth, states).tolist() == own.tolist()


def test_constants_are_those_of_the_environment(env):
    from gymnasium import spaces

    observation, _ = env.reset(seed=4)
    flat = fetch.flatten(observation)
    np.testing.assert_array_equal(flat, spaces.flatten(env.observation_space, observation))
    np.testing.assert_allclose(flat[fetch.ACHIEVED], fetch.START, atol=1e-6)
    np.testing.assert_array_equal(flat[fetch.DESIRED], observation["desired_goal"])
    np.testing.assert_array_equal(flat[fetch.OBSERVATION], observation["observation"])
    assert env.spec.max_episode_steps == fetch.HORIZON
    assert env.unwrapped.target_range == fetch.GOAL_RANGE
    assert env.unwrapped.distance_threshold == fetch.SUCCESS_DISTANCE
    assert env.action_space.shape == (fetch.ACTION_SIZE,)


def test_a_roll_out_starts_where_a_demonstration_did(env):
    env.reset(seed=5)
    env.step(np.ones(4, dtype=np.float32))
    begun = fetch.flatten(fetch.set_start(env, START))
    np.testing.assert_allclose(begun[fetch.ACHIEVED], fetch.START, atol=1e-6)
    np.testing.assert_array_equal(begun[fetch.DESIRED], GOAL)
    observation, _, _, _, info = env.step(np.zeros(4, dtype=np.float32))
    np.testing.assert_array_equal(observation["desired_goal"], GOAL)
    assert not info["is_success"]
    again = fetch.flatten(fetch.set_start(env, begun, seed=9))
    np.testing.assert_array_equal(again, begun)


@pytest.mark.parametrize("start", [np.zeros(3), np.full(16, np.nan)])
def test_a_start_that_is_none_is_refused(env, start):
    with pytest.raises(InvalidInputError, match="expected 16 finite numbers"):
        fetch.set_start(env, start)


@pytest.mark.parametrize("act", ["sample", "mode"])
def test_going_straight_succeeds_and_running_away_fails(act):
    assert fetch.success_rate(Straight(), 3, act=act) == fetch.SuccessRate(1.0, 1.0)
    assert fetch.success_rate(Straight(-1.0), 3, act=act).at_end == 0.0


def test_passing_the_goal_is_ever_and_not_at_the_end():
    class Passing(Straight):
        """Heads straight for the goal, then far away, as soon as it is there."""

        left = False

        def mode(self, states):
            self.left |= fetch.goal_distance(states)[0] < 0.04
            return -np.ones((1, 4)) if self.left else super().mode(states)

    assert fetch.success_rate(Passing(), 1, act="mode") == fetch.SuccessRate(0.0, 1.0)


def test_success_is_the_same_for_the_same_seed():
    assert fetch.success_rate(Still(), 4, seed=7) == fetch.success_rate(Still(), 4, seed=7)


def test_success_rates_of_nothing_are_refused():
    with pytest.raises(InvalidInputError, match="expected one or more"):
        fetch.success_rate(Still(), 0)
    with pytest.raises(InvalidInputError, match="'sample' or 'mode'"):
        fetch.success_rate(Still(), 1, act="mean")


def test_gymnasium_is_imported_once_an_environment_is_made_and_quietly():
    code = (
        "import sys, boirl.domains.fetch.replay_sac; "
        "assert not {'gymnasium', 'gymnasium_robotics', 'mujoco'} & set(sys.modules); "
        "from boirl.domains.fetch.environment import make_fetch_reach; make_fetch_reach().close()"
    )
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]
    done = subprocess.run(command, capture_output=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, b"")


def test_at_goal_is_within_the_distance_of_success():
    rows = np.zeros((2, fetch.OBSERVATION_SIZE))
    rows[1, fetch.ACHIEVED] = [fetch.SUCCESS_DISTANCE, 0.0, 0.01]
    np.testing.assert_array_equal(fetch.at_goal(rows), [True, False])
