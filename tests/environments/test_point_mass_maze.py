import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from boirl.environments import maze_dynamics as dynamics
from boirl.environments import point_mass_maze as maze
from boirl.errors import InvalidInputError
from boirl.rewards import Transitions

gymnasium = pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")
point_mass_maze_env = pytest.importorskip("boirl.environments.point_mass_maze_env")

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
    made = gymnasium.make(point_mass_maze_env.ENV_ID)
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


# The checker finds observations without bounds unusual; the walls bound them.
@pytest.mark.filterwarnings("ignore:.*infinity:UserWarning")
def test_gymnasium_finds_nothing_wrong():
    from gymnasium.utils.env_checker import check_env

    env = point_mass_maze_env.PointMassMazeEnv()
    env.spec = gymnasium.spec(point_mass_maze_env.ENV_ID)
    check_env(env, skip_render_check=True)


def test_episodes_have_a_hundred_steps(env):
    env.reset(seed=0)
    ends = [env.step(np.zeros(2))[2:4] for _ in range(maze.HORIZON)]
    assert ends[:-1] == [(False, False)] * (maze.HORIZON - 1)
    assert ends[-1] == (False, True)


def test_resets_start_in_the_box_and_follow_the_seed(env):
    starts = np.array([env.reset(seed=seed)[0] for seed in range(200)])
    assert (starts >= maze.START_LOW).all()
    assert (starts <= maze.START_HIGH).all()
    assert (starts.max(axis=0) - starts.min(axis=0) > [0.55, 0.26]).all()
    assert (np.abs(env.unwrapped.data.qvel) <= maze.START_SPEED).all()
    np.testing.assert_array_equal(env.reset(seed=17)[0], starts[17])


def test_resets_of_both_engines_are_alike(env):
    ours = SIMULATOR.reset(400, np.random.default_rng(0))
    theirs = []
    for seed in range(400):
        env.reset(seed=seed)
        theirs.append(np.concatenate([env.unwrapped.data.qpos, env.unwrapped.data.qvel]))
    np.testing.assert_allclose(ours.mean(axis=0), np.mean(theirs, axis=0), atol=0.03)
    np.testing.assert_allclose(ours.std(axis=0), np.std(theirs, axis=0), rtol=0.1)


def test_the_reward_is_for_where_the_action_was_taken(env):
    inner = env.unwrapped
    inner.set_state(np.array([0.1, 0.1]), np.array([0.0, 0.0]))
    before = inner.data.qpos.copy()
    after, reward, *_ = inner.step(np.array([1.0, 0.0]))
    assert reward == pytest.approx(-np.hypot(0.1 - 0.3, 0.1 - 0.5))
    assert np.abs(after - before).max() > 1e-3
    _, reward, *_ = inner.step(np.zeros(2))
    assert reward == pytest.approx(-np.linalg.norm(after - inner.target))


def test_the_target_can_be_chosen():
    env = gymnasium.make(point_mass_maze_env.ENV_ID, target=(0.0, 0.1))
    env.reset(seed=0)
    env.unwrapped.set_state(np.array([0.0, 0.2]), np.zeros(2))
    assert env.step(np.zeros(2))[1] == pytest.approx(-0.1)
    env.close()


def test_a_state_that_is_set_forgets_what_was_before(env):
    inner = env.unwrapped
    outcomes = []
    for warm_up in (0, 25):
        inner.reset(seed=1)
        for _ in range(warm_up):
            inner.step(np.array([-1.0, 1.0]))
        inner.set_state(np.array([0.0, 0.2]), np.array([0.1, 0.0]))
        outcomes.append([inner.step(np.array([0.5, 1.0]))[0] for _ in range(30)])
    np.testing.assert_array_equal(*outcomes)


def test_an_unknown_way_to_render_is_refused():
    with pytest.raises(InvalidInputError, match="render_mode is 'human'"):
        point_mass_maze_env.PointMassMazeEnv(render_mode="human")


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
    assert drawn.start_states.shape == (5, 4)
    # Every step is one of the simulator.
    first = SIMULATOR.step(drawn.start_states, drawn.actions[::12])
    np.testing.assert_array_equal(drawn.next_states[::12], first[:, :2])


def test_roll_outs_start_where_they_are_told_to():
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
    assert len(SIMULATOR.roll_out(None, np.int64(3), 4, np.random.default_rng(0))) == 3
