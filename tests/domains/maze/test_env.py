"""The maze on MuJoCo, as a Gymnasium environment."""

import numpy as np
import pytest

from boirl.domains.maze import simulator as maze
from boirl.errors import InvalidInputError

gymnasium = pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")
maze_env = pytest.importorskip("boirl.domains.maze.env")

SIMULATOR = maze.PointMassMaze()


@pytest.fixture(scope="module")
def env():
    made = gymnasium.make(maze_env.ENV_ID)
    yield made
    made.close()


# The checker finds observations without bounds unusual; the walls bound them.
@pytest.mark.filterwarnings("ignore:.*infinity:UserWarning")
def test_gymnasium_finds_nothing_wrong():
    from gymnasium.utils.env_checker import check_env

    env = maze_env.PointMassMazeEnv()
    env.spec = gymnasium.spec(maze_env.ENV_ID)
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
    env = gymnasium.make(maze_env.ENV_ID, target=(0.0, 0.1))
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
    np.testing.assert_array_equal(outcomes[0], outcomes[1])


def test_an_unknown_way_to_render_is_refused():
    with pytest.raises(InvalidInputError, match="render_mode is 'human'"):
        maze_env.PointMassMazeEnv(render_mode="human")
