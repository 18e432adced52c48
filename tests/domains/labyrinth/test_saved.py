"""A saved result on mice opens with its maze."""

import numpy as np

import boirl
from boirl.domains.labyrinth.problem import LabyrinthProblem


def test_a_saved_search_opens_with_its_problem(problem, tmp_path):
    found = boirl.explore(problem, evaluations=2, seed=1000)
    found.save(tmp_path / "rewards.npz")
    opened = boirl.load_result(tmp_path / "rewards.npz")
    assert type(opened.problem) is LabyrinthProblem
    assert opened.problem.fingerprint() == problem.fingerprint()
    assert opened.problem.maze.water == problem.maze.water
    np.testing.assert_array_equal(opened.problem.maze.places, problem.maze.places)
    np.testing.assert_array_equal(opened.thetas, found.thetas)
