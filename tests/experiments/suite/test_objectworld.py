"""Objectworld: distances to colours, moves that go astray, and the original rule."""

import numpy as np
import pytest

from boirl.experiments.suite.catalogue import suite_problem
from boirl.experiments.suite.objectworld import Objects, grid_mdp, original_rule

OBJECTS = Objects(4, np.array([0, 15]), np.array([[0, 0], [1, 1]]))


def test_distances_are_to_the_next_object_of_a_colour():
    np.testing.assert_allclose(OBJECTS.distances(0, 0)[[0, 1, 5]], [0.0, 1.0, np.sqrt(2.0)])
    np.testing.assert_allclose(OBJECTS.distances(1, 1)[15], 0.0)
    assert (OBJECTS.distances(1, 2) == 8.0).all()


def test_moves_go_astray_and_end_at_walls():
    mdp = grid_mdp(3, 0.9)
    right_from_corner = mdp.transition[[0]].toarray()[0]
    assert right_from_corner[1] == pytest.approx(0.7 + 0.3 / 5)
    assert right_from_corner[3] == pytest.approx(0.3 / 5)
    assert right_from_corner[0] == pytest.approx(3 * 0.3 / 5)


def test_the_original_rule():
    rule = original_rule(OBJECTS).reshape(4, 4)
    assert rule[0, 0] == -1.0
    assert rule[2, 2] == 1.0
    assert rule[3, 3] == 0.0


def test_with_odd_seeds_the_demonstrator_is_in_no_family():
    assert suite_problem("objectworld", 1001).truth is None
    assert suite_problem("objectworld", 1000).truth is not None
