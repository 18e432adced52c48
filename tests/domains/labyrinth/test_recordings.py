"""Reading recordings of mice: what is right is read, what is wrong is named with its step."""

import numpy as np
import pytest

from boirl.domains.labyrinth.recordings import Recordings, read_recordings
from boirl.errors import InvalidInputError, StorageError

from .conftest import ACTIONS, NEXT_STATES, STATES, write


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


def test_steps_become_nodes(folder):
    recordings = read_recordings(folder)
    assert recordings.nodes.tolist() == [
        [0, 1, 4, 1, 0, 0],
        [0, 0, 2, 6, 2, 5],
        [5, 2, 5, 2, 0, 2],
    ]
    assert recordings.children.tolist() == [[1, 2], [4, 3], [5, 6]]
    assert repr(recordings) == "Recordings(3 stretches of 5 steps, 7 nodes)"


def test_stretches_that_go_on_are_of_one_run():
    nodes = np.array([[0, 1, 0], [0, 2, 0], [2, 0, 1], [1, 0, 1]])
    assert Recordings(nodes, np.array([[1, 2]])).runs.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"actions": None}, "holds states, next_states and lacks actions; expected whole numbers"),
        ({"states": STATES * 1.0}, r"states has shape \(3, 5\) and type float64; expected whole"),
        ({"states": STATES[0]}, r"states has shape \(5,\)"),
        ({"states": STATES[:, :4]}, r"states have shape \(3, 4\) and actions \(3, 5\); expected"),
        (
            {"states": STATES[:, :1], "actions": ACTIONS[:, :1]},
            "expected the same, one row of at least 2 steps per stretch",
        ),
        ({"next_states": NEXT_STATES[:6]}, r"next_states has shape \(6, 4\); expected 4 actions"),
        ({"next_states": NEXT_STATES[:, :3]}, r"next_states has shape \(7, 3\); expected 4"),
        (
            {"next_states": changed(NEXT_STATES, (1, 0), 5)},
            r"from node 1 the actions lead to \[5, 3, 1, 0\]; expected \[3, 4\] for actions 0",
        ),
        (
            {"states": changed(STATES, (1, 2), 7)},
            "stretch 1, step 2: state is 7; expected a number from 0 to 6",
        ),
        (
            {"actions": changed(ACTIONS, (2, 4), -1)},
            "stretch 2, step 4: action is -1; expected a number from 0 to 3",
        ),
        (
            {"actions": changed(ACTIONS, (0, 1), 1)},
            "stretch 0, step 1: action 1 in node 1 leads to node 3, and the next state is 4; "
            "expected 3",
        ),
        (
            {"states": np.array([[4, 4, 1]]), "actions": np.array([[2, 3, 3]])},
            "stretch 0, step 0: action 2 stays in node 4; expected steps that lead to another",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_step(tmp_path, arrays, message):
    write(tmp_path, **arrays)
    with pytest.raises(InvalidInputError, match=message) as raised:
        read_recordings(tmp_path)
    assert str(tmp_path / "labyrinth.npz") in str(raised.value)
    assert "\n" not in str(raised.value)


def test_files_that_are_none_are_named(tmp_path):
    with pytest.raises(InvalidInputError, match=r"no file '.*labyrinth.npz'; expected a folder"):
        read_recordings(tmp_path)
    (tmp_path / "labyrinth.npz").write_bytes(b"no archive")
    with pytest.raises(StorageError, match=r"cannot be read as an \.npz file"):
        read_recordings(tmp_path)


def test_the_recorded_mice(recorded):
    recordings = read_recordings(recorded)
    assert repr(recordings) == "Recordings(238 stretches of 500 steps, 127 nodes)"
    assert recordings.runs[-1] == 48
    assert ((recordings.nodes == 116).sum(axis=1) >= 7).all()
