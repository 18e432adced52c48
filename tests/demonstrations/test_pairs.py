"""States and actions of a trajectory, and steps that are not taken for them."""

import pytest

from boirl.demonstrations import Demonstrations
from boirl.demonstrations.pairs import read_pairs
from boirl.errors import DemonstrationError


def test_pairs_of_lists_and_of_tuples_are_read():
    for pair in (([0, 1], [1, 1]), ((0, 1), (1, 1)), [[0, 1], [1, 1]]):
        assert read_pairs([pair]).parts[0].states.tolist() == [0, 1]


@pytest.mark.parametrize(
    "steps",
    [
        [(0, 1), (1, 1)],
        [(0, 1), (1, 1), (2, 0)],
        [(0, 1)],
        [(0, 1), (1, 1), (2, 0), (3, 1)],
        [{"state": 0, "action": 1}, {"state": 1, "action": 0}],
    ],
)
def test_steps_are_not_misread_as_states_and_actions(steps):
    with pytest.raises(DemonstrationError, match=r"trajectory 0 .*call Demonstrations\.from_steps"):
        Demonstrations.from_trajectories([steps])
    assert len(Demonstrations.from_steps([steps]).states) == len(steps)


def test_names_beside_numbers_are_refused():
    with pytest.raises(DemonstrationError, match="trajectory 1 holds something that is not a num"):
        read_pairs([([0], [0]), (["home"], [0])])
