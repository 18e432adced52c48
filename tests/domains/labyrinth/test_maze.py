"""The maze: where steps lead, and which of them turn back."""

import numpy as np
import pytest

from boirl.domains.labyrinth.maze import BACK, HOME, Maze
from boirl.errors import InvalidInputError

CHILDREN = np.array([[1, 2], [4, 3], [5, 6]])


@pytest.fixture(scope="module")
def maze():
    return Maze(CHILDREN, 6)


def test_states_are_all_that_can_be_reached(maze):
    # Two directions of 6 passages, home, and those that can be entered by turning back: 6 leading
    # on, 2 leading back (not from end nodes) and home.
    assert maze.n_states == 12 + 1 + 6 + 2 + 1
    assert len({tuple(row) for row in maze.places.tolist()}) == maze.n_states
    assert repr(maze) == "Maze(7 nodes, water in node 6)"


def test_steps_lead_to_neighbours_and_remember_where_they_come_from(maze):
    for place, row in zip(maze.places, maze.next_states, strict=True):
        node, before, _ = place.tolist()
        for action, reached in enumerate(row):
            onto, came, turned = maze.places[reached].tolist()
            if node == 0 and action == BACK:
                assert (onto, came, turned) == (0, HOME, before == HOME)
                continue
            assert came == node
            assert {onto, node} in [{child, (child - 1) // 2} for child in range(1, 7)]
            assert turned == (onto == before and not maze.is_end(node))


def test_in_an_end_node_there_is_nothing_to_decide(maze):
    ends = maze.places[:, 0] >= 3
    np.testing.assert_array_equal(maze.decides, ~ends)
    assert (maze.next_states[ends] == maze.next_states[ends][:, :1]).all()


def test_a_path_is_followed(maze):
    nodes = np.array([0, 1, 4, 1, 4, 1, 0, 0, 0, 2])
    states, actions = maze.follow(nodes)
    assert actions.tolist() == [0, 2, 0, 2, 2, 2, 2, 1]
    np.testing.assert_array_equal(maze.next_states[states[:-1], actions], states[1:])
    expected = [
        (1, 0, 0),
        (4, 1, 0),
        (1, 4, 0),
        (4, 1, 1),
        (1, 4, 0),
        (0, 1, 0),
        (0, HOME, 0),
        (0, HOME, 1),
        (2, 0, 0),
    ]
    assert [tuple(row) for row in maze.places[states].tolist()] == expected


def test_nodes_lie_apart(maze):
    large = Maze(np.stack([2 * np.arange(63) + 1, 2 * np.arange(63) + 2], axis=1), 116)
    for one in (maze, large):
        gaps = np.linalg.norm(one.layout[:, None] - one.layout[None], axis=2)
        assert gaps[~np.eye(one.n_nodes, dtype=bool)].min() > 0.1
    assert large.n_states == 442
    assert large.depths[[0, 1, 62, 63, 126]].tolist() == [0, 1, 5, 6, 6]


@pytest.mark.parametrize("water", [2, 7, -1])
def test_water_is_in_an_end_node(water):
    with pytest.raises(InvalidInputError, match=f"in node {water}; expected an end node, 3 to 6"):
        Maze(CHILDREN, water)
