"""Pictures of what policies do, with a policy that needs no learning."""

import numpy as np
import pytest

import boirl
from boirl.demonstrations import Demonstrations
from boirl.domains.maze import dynamics
from boirl.drawing import paths, paths_figure

from .conftest import STEPS, Homing

TRUTH, OTHER = (0.3, 0.1), (-0.5, 0.0)


@pytest.fixture(scope="module")
def found(maze_problem, result_of):
    return result_of(maze_problem(), [TRUTH, OTHER])


def drawn_paths(axes, colour):
    """The lines of more than one point that have a colour."""
    lines = [line for line in axes.lines if line.get_color() == colour]
    return [np.column_stack(line.get_data()) for line in lines if len(line.get_xdata()) > 1]


def test_there_are_paths_where_a_policy_acts_in_an_environment(found):
    assert paths.has_paths(found.problem)
    assert not paths.has_paths(boirl.load_problem("gridworld"))


def test_demonstrations_are_drawn_beside_the_paths_of_each_reward(found):
    figure = paths_figure(found, [0, 1])
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["demonstrations", "x = 0.3, y = 0.1", "x = -0.5, y = 0"]
    given = found.problem.demonstrations
    for one, path in zip(given, drawn_paths(figure.axes[0], "black"), strict=True):
        np.testing.assert_array_equal(path, np.vstack([one.states, one.next_states[-1:]]))
    for axes, colour, target in zip(figure.axes[1:], paths.COLOURS, (TRUTH, OTHER), strict=False):
        walked = np.array(drawn_paths(axes, colour))
        assert walked.shape == (4, STEPS + 1, 2)
        # From where demonstrations began, towards the target.
        np.testing.assert_array_equal(walked[:, 0], given.starts[:, :2])
        gap = np.linalg.norm(walked - target, axis=2)
        assert gap[:, -1].mean() < gap[:, 0].mean()
        marks = [line.get_xydata() for line in axes.lines if line.get_marker() == "X"]
        np.testing.assert_allclose(marks, [[target]])
    walls = drawn_paths(figure.axes[0], "dimgray")
    np.testing.assert_allclose(np.reshape(walls, (-1, 4)), dynamics.WALLS)


def test_nothing_is_trained_to_draw(found, monkeypatch):
    def refuse(*given):
        raise AssertionError("this trains")

    monkeypatch.setattr(Homing, "solve", refuse)
    assert len(paths_figure(found, [1]).axes) == 2


def test_the_same_seed_draws_the_same_paths(found):
    first, again, other = (
        drawn_paths(paths_figure(found, [0], seed).axes[1], paths.COLOURS[0]) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_no_more_is_drawn_than_can_be_seen(maze_problem, result_of):
    thetas = [(0.1 * number, 0.0) for number in range(paths.MOST_REWARDS + 2)]
    many = result_of(maze_problem(paths.EPISODES + 3), thetas)
    figure = paths_figure(many, range(len(thetas)))
    assert len(figure.axes) == 1 + paths.MOST_REWARDS
    assert len(drawn_paths(figure.axes[0], "black")) == paths.EPISODES
    assert len(drawn_paths(figure.axes[1], paths.COLOURS[0])) == paths.EPISODES


def test_an_end_that_was_not_recorded_is_left_out(found, maze_problem, result_of):
    plain = Demonstrations.from_trajectories(
        [(one.states, one.actions) for one in found.problem.demonstrations]
    )
    figure = paths_figure(result_of(maze_problem(demonstrations=plain), []), [])
    assert {len(path) for path in drawn_paths(figure.axes[0], "black")} == {STEPS}


def test_other_environments_show_their_first_two_observations(gym_problem, result_of):
    pole = gym_problem("CartPole-v1")
    figure = paths_figure(result_of(pole, [[0.5]]), [0])
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == (
        "observation 0",
        "observation 1",
    )
    path = drawn_paths(figure.axes[0], "black")[0]
    np.testing.assert_array_equal(path[0], pole.demonstrations.states[0, :2])


def test_a_search_is_drawn_by_its_behaviours(maze_problem, tmp_path):
    found = boirl.explore(
        maze_problem(), 4, seed=1000, n_demonstrations=4, n_initial=2, rollouts="uniform"
    )
    (picture,) = paths.save_paths(found, tmp_path / "pictures")
    assert picture == tmp_path / "pictures" / "paths.png"
    assert picture.stat().st_size > 10_000


def test_a_roll_out_starts_where_demonstrations_did(found):
    problem = found.problem
    rolled = paths.roll_out(problem, found.policy(0), seed=0, episodes=3)
    assert len(rolled) == 3
    np.testing.assert_array_equal(rolled.starts, problem.demonstrations.starts[:3])
    assert rolled.lengths.tolist() == [STEPS] * 3
