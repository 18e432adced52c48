"""The gripper seen from above."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from boirl.domains.fetch import environment as fetch
from boirl.domains.fetch.plane import fetch_plane


def test_paths_are_positions_relative_to_the_goal_in_centimetres():
    states = np.zeros((2, fetch.OBSERVATION_SIZE))
    states[:, fetch.ACHIEVED] = [[1.0, 2.0, 3.0], [1.1, 2.0, 3.0]]
    states[:, fetch.DESIRED] = [1.0, 1.5, 9.0]
    np.testing.assert_allclose(fetch_plane().project(states), [[0.0, 50.0], [10.0, 50.0]])
    assert fetch_plane().labels == ("x from the goal, in cm", "y from the goal, in cm")


def test_the_threshold_of_the_reward_is_a_circle_around_the_goal():
    axes = Figure().subplots()
    fetch_plane().mark(axes, np.array([0.05, -1.0]), "tab:red")
    (circle,) = axes.patches
    assert isinstance(circle, Circle)
    assert circle.center == (0.0, 0.0)
    assert circle.radius == 5.0
