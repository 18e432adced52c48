"""The maze as a vectorised simulator, and the reward for being near a target."""

from typing import Any

import numpy as np
import pytest
import torch

from boirl.domains.maze import simulator as maze
from boirl.rewards import Transitions

pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")

SIMULATOR = maze.PointMassMaze()

POSITIONS = np.random.default_rng(3).uniform(-0.1, 0.6, (7, 2))
FORCES = np.random.default_rng(4).uniform(-1.0, 1.0, (7, 2))
THETAS = torch.tensor([[0.3, 0.5], [-1.0, 0.0]], dtype=torch.float64)


def test_the_reward_is_minus_the_distance_from_the_target():
    family = maze.TargetReward()
    assert family.depends_on == "state"
    assert family.box.names == ("x", "y")
    found = family(THETAS, Transitions(POSITIONS)).numpy()
    expected = -np.linalg.norm(POSITIONS - THETAS.numpy()[:, None], axis=-1)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_force_costs_something_where_asked_for():
    family = maze.TargetReward(maze.ACTION_COST)
    assert family.depends_on == "state_action"
    assert family.box.dimension == 2
    free = maze.TargetReward()(THETAS, Transitions(POSITIONS)).numpy()
    found = family(THETAS, Transitions(POSITIONS, FORCES)).numpy()
    np.testing.assert_allclose(free - found, np.tile(0.001 * (FORCES**2).sum(axis=1), (2, 1)))


@pytest.mark.parametrize("cost", [0.0, 0.5])
def test_the_gradient_is_right_and_finite_at_the_target_itself(cost):
    family = maze.TargetReward(cost)
    steps = Transitions(POSITIONS, FORCES)
    theta = THETAS.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda given: family(given, steps), theta)
    there = torch.tensor(POSITIONS[:1]).requires_grad_()
    family(there, steps).sum().backward()
    assert there.grad is not None
    assert torch.isfinite(there.grad).all()


class Left:
    """Pushes to the left with a little noise."""

    def sample(self, states, rng):
        assert states.shape[1:] == (2,)
        return np.tile([-1.0, 0.0], (len(states), 1)) + 0.1 * rng.normal(size=(len(states), 2))


@pytest.mark.parametrize("policy", [None, Left()])
def test_roll_outs_have_so_many_trajectories_of_so_many_steps(policy):
    drawn = SIMULATOR.roll_out(policy, 5, 12, np.random.default_rng(0))
    assert drawn.states.shape == drawn.next_states.shape == drawn.actions.shape == (60, 2)
    assert drawn.lengths.tolist() == [12] * 5
    assert drawn.start_states is not None
    assert drawn.start_states.shape == (5, 4)
    # Every step is one of the simulator.
    first = SIMULATOR.step(drawn.start_states, drawn.actions[::12])
    np.testing.assert_array_equal(drawn.next_states[::12], first[:, :2])


def test_roll_outs_start_where_they_are_asked_to():
    starts = SIMULATOR.reset(6, np.random.default_rng(1))
    drawn = SIMULATOR.roll_out(Left(), starts, 8, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn.starts, starts)
    np.testing.assert_array_equal(drawn.states[::8], starts[:, :2])


def test_the_same_seed_gives_the_same_roll_outs():
    for policy in (None, Left()):
        first, second, third = (
            SIMULATOR.roll_out(policy, 3, 9, np.random.default_rng(seed)) for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(first.next_states, second.next_states)
        assert not np.array_equal(first.next_states, third.next_states)


def test_random_actions_are_uniform_between_the_bounds():
    actions = SIMULATOR.roll_out(None, 200, 20, np.random.default_rng(0)).actions
    assert np.abs(actions).max() <= 1.0
    np.testing.assert_allclose(actions.mean(axis=0), 0.0, atol=0.05)
    np.testing.assert_allclose(actions.std(axis=0), np.sqrt(1.0 / 3.0), atol=0.02)


def test_a_number_of_trajectories_may_be_one_of_numpy():
    count: Any = np.int64(3)
    assert len(SIMULATOR.roll_out(None, count, 4, np.random.default_rng(0))) == 3


def test_the_camera_shows_the_target_of_the_reward():
    gymnasium = pytest.importorskip("gymnasium")
    env = SIMULATOR.camera_env(np.array([0.1, 0.2]))
    assert isinstance(env, gymnasium.Env)
    assert env.render_mode == "rgb_array"
    assert env.unwrapped.target == (0.1, 0.2)
    env.close()


def test_the_maze_is_written_for_mujoco():
    text = maze.maze_xml()
    assert text.count('type="capsule"') == 5
    assert 'name="target"' in text
