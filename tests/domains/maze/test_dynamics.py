"""The dynamics of the maze agree with MuJoCo's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boirl.domains.maze import dynamics
from boirl.domains.maze import simulator as maze

gymnasium = pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")
maze_env = pytest.importorskip("boirl.domains.maze.env")

SIMULATOR = maze.PointMassMaze()
STEPS = 150

PUSHES = {
    "left": ((0.0, 0.1), (-1.0, 0.02)),
    "right": ((0.5, 0.1), (1.0, -0.03)),
    "down": ((0.2, 0.0), (0.05, -1.0)),
    "up against the barrier": ((0.1, 0.1), (0.04, 1.0)),
    "down on the barrier": ((0.2, 0.5), (-0.03, -1.0)),
    "lower left corner": ((0.0, 0.0), (-1.0, -0.9)),
    "lower right corner": ((0.5, 0.0), (0.8, -1.0)),
    "upper right corner": ((0.5, 0.5), (1.0, 1.0)),
    "upper left corner": ((0.0, 0.5), (-0.7, 1.0)),
    "corner below the barrier": ((0.0, 0.2), (-1.0, 1.0)),
    "corner above the barrier": ((0.0, 0.4), (-1.0, -0.8)),
    "the end of the barrier": ((0.5, 0.3), (-1.0, 0.0)),
    "the end, a little above": ((0.5, 0.31), (-1.0, 0.02)),
    "the end, a little below": ((0.47, 0.25), (-0.4, 0.3)),
    "gap": ((0.5, 0.1), (0.0, 1.0)),
}


@pytest.fixture(scope="module")
def env():
    made = gymnasium.make(maze_env.ENV_ID)
    yield made
    made.close()


def both(env, start, actions):
    """States of the two engines after each action, `L x 4` each, and MuJoCo's contacts, `L`."""
    inner = env.unwrapped
    inner.set_state(start[:2], start[2:])
    state, ours, theirs, contacts = start[None], [], [], []
    for action in actions:
        state = SIMULATOR.step(state, action[None])
        inner.step(action)
        ours.append(state[0])
        theirs.append(np.concatenate([inner.data.qpos, inner.data.qvel]))
        contacts.append(inner.data.ncon)
    return np.array(ours), np.array(theirs), np.array(contacts)


@pytest.mark.parametrize("name", PUSHES)
def test_long_pushes_end_as_in_mujoco(env, name):
    position, push = PUSHES[name]
    start = np.array([*position, 0.0, 0.0])
    rng = np.random.default_rng(0)
    # Pushed for long, then let go, then shaken.
    actions = np.vstack(
        [np.tile(push, (STEPS, 1)), np.zeros((20, 2)), rng.uniform(-1.0, 1.0, (40, 2))]
    )
    ours, theirs, contacts = both(env, start, actions)
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-12)
    assert 1 in contacts
    if "corner" in name:
        assert (contacts[50:STEPS] == 2).all()
    if "end" in name:
        beside = np.abs(ours[:, 1] - dynamics.BARRIER_Y) < dynamics.RADIUS
        assert contacts[beside & (ours[:, 0] < 0.5)].any()


def test_random_actions_lead_where_they_lead_in_mujoco(env):
    seen = set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        start = SIMULATOR.reset(1, rng)[0]
        # Bursts of one direction cross the whole maze; actions beyond the bounds are clipped.
        actions = np.repeat(rng.uniform(-1.5, 1.5, (60, 2)), 10, axis=0)
        ours, theirs, contacts = both(env, start, actions)
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-12)
        seen |= set(contacts)
    assert {0, 1, 2} <= seen


def test_fast_impacts_are_the_same(env):
    rng = np.random.default_rng(7)
    for _ in range(20):
        start = np.concatenate([SIMULATOR.reset(1, rng)[0, :2], rng.uniform(-3.0, 3.0, 2)])
        ours, theirs, _ = both(env, start, rng.uniform(-1.0, 1.0, (15, 2)))
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-12)


def test_balls_advance_on_their_own():
    rng = np.random.default_rng(0)
    states, actions = SIMULATOR.reset(30, rng), rng.uniform(-1.0, 1.0, (30, 2))
    kept = states.copy()
    together = SIMULATOR.step(states, actions)
    alone = [SIMULATOR.step(states[i : i + 1], actions[i : i + 1])[0] for i in range(30)]
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(states, kept)
    positions, velocities = dynamics.advance(states[:, :2], states[:, 2:], actions)
    np.testing.assert_array_equal(np.hstack([positions, velocities]), together)


def test_the_ball_stays_between_the_walls_and_passes_the_barrier_only_at_its_end():
    rng = np.random.default_rng(0)
    states = SIMULATOR.reset(1_000, rng)
    passed = 0
    for step in range(200):
        if step % 20 == 0:
            actions = rng.choice([-1.0, -0.3, 1.0], (1_000, 2))
        before, states = states, SIMULATOR.step(states, actions)
        assert (states[:, :2] > dynamics.LOW + dynamics.WALL_RADIUS).all()
        assert (states[:, :2] < dynamics.HIGH - dynamics.WALL_RADIUS).all()
        crossed = (before[:, 1] < dynamics.BARRIER_Y) != (states[:, 1] < dynamics.BARRIER_Y)
        assert (states[crossed, 0] > dynamics.BARRIER_END).all()
        passed += int(crossed.sum())
    assert passed > 50


@given(x=st.floats(0.0, 0.5), y=st.floats(0.0, 0.2))
def test_without_a_push_the_ball_comes_to_rest(x, y):
    state = np.array([[x, y, 0.2, -0.2]])
    for _ in range(100):
        state = SIMULATOR.step(state, np.zeros((1, 2)))
    np.testing.assert_allclose(state[0, 2:], 0.0, atol=1e-6)
