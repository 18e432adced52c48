"""The maze seen from above."""

import numpy as np
import pytest
from matplotlib.figure import Figure

pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")
from boirl.domains.maze import dynamics
from boirl.domains.maze.plane import maze_plane


@pytest.fixture
def axes():
    return Figure().subplots()


def test_paths_are_positions():
    states = np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(maze_plane().project(states), states)
    assert maze_plane().labels == ("x", "y")
    assert maze_plane().aspect == "equal"


def test_walls_stand_behind_the_paths(axes):
    maze_plane().backdrop(axes)
    walls = [np.column_stack(line.get_data()).reshape(-1) for line in axes.lines]
    np.testing.assert_allclose(walls, dynamics.WALLS)


def test_the_target_of_the_reward_is_marked(axes):
    maze_plane().mark(axes, np.array([0.3, 0.5]), "tab:red")
    (mark,) = axes.lines
    assert (mark.get_marker(), mark.get_color()) == ("X", "tab:red")
    np.testing.assert_array_equal(mark.get_xydata(), [[0.3, 0.5]])
