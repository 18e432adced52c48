"""Learned behaviour as paths, with what stands still behind them."""

import numpy as np
import pytest

from boirl.report.path_scene import PATH_POINTS, PathScene
from boirl.report.scenes import scene_of

from ..drawing.conftest import maze_problem  # noqa: F401

pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")


@pytest.fixture(scope="module")
def problem(maze_problem):  # noqa: F811
    return maze_problem(3)


def test_the_maze_has_walls_and_paths_from_the_starts(problem):
    scene = scene_of(problem)
    assert isinstance(scene, PathScene)
    still = scene.still()
    assert still["walls"]
    assert still["axes"] == ["x", "y"]
    shown = scene.demonstrated()["paths"]
    assert len(shown) == 3
    first = problem.demonstrations[0].states[0, :2]
    assert shown[0][:2] == pytest.approx(first, rel=1e-2, abs=1e-3)


def test_a_policy_has_its_paths_and_its_target(problem):
    theta = problem.box.from_unit(np.array([0.25, 0.75]))
    evaluation = problem.evaluate(theta, seed=0)
    frame = PathScene(problem).frame(problem.policy_of(evaluation), theta)
    assert len(frame["paths"]) == 3
    assert all(len(path) <= 2 * PATH_POINTS for path in frame["paths"])
    assert frame["marks"][0] == pytest.approx([*theta, 0], rel=1e-3, abs=1e-3)


def test_rewards_of_networks_mark_nothing(problem):
    evaluation = problem.evaluate(problem.box.low, seed=0)
    frame = PathScene(problem).frame(problem.policy_of(evaluation), np.zeros(7))
    assert "marks" not in frame


def test_observations_and_actions_have_words(problem):
    scene = PathScene(problem)
    assert scene.state_name(np.array([0.5, 1.0])) == "observation (0.5, 1)"
    assert scene.action_name(None, np.array([0.5, -1.0])) == "(0.5, -1)"
    assert scene.action_name(None, 2) == "action 2"
