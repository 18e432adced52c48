"""Nodes of the labyrinth for reports."""

import numpy as np
import pytest

from boirl.domains.labyrinth.scene import LabyrinthScene
from boirl.report.scenes import scene_of


def test_nodes_and_passages_are_drawn(problem):
    scene = scene_of(problem)
    assert isinstance(scene, LabyrinthScene)
    still = scene.still()
    assert len(still["discs"]) == problem.maze.n_nodes
    assert len(still["walls"]) == problem.maze.n_nodes - 1
    assert [label[2] for label in still["labels"]] == ["water", "entrance"]


def test_visits_are_shares_of_steps(problem):
    policy = problem.policy(problem.box.from_unit(np.full(problem.box.dimension, 0.5)))
    for frame in (
        LabyrinthScene(problem).frame(policy, None),
        LabyrinthScene(problem).demonstrated(),
    ):
        assert sum(frame["visits"]) == pytest.approx(1.0, abs=0.02)


def test_states_and_actions_have_words(problem):
    scene = LabyrinthScene(problem)
    assert scene.state_name(0) == "node 0, coming from home"
    assert scene.action_name(0, 2) == "home"
    assert scene.action_name(0, 1).startswith("on to node ")
    end = int(np.flatnonzero(~problem.maze.decides)[0])
    assert scene.action_name(end, 0).startswith("back to node ")
    policy = problem.policy(problem.box.low)
    assert scene.chances(policy, 0).sum() == pytest.approx(1.0)
