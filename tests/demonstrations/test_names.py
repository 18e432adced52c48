"""Names of states and actions: numbers in their place, matched with those of the dynamics."""

import numpy as np
import pytest

from boirl.demonstrations import UNKNOWN, Demonstrations
from boirl.demonstrations.names import number_names
from boirl.errors import DemonstrationError

HOUSES, WAYS = ("green", "red", "blue"), ("left", "right")


@pytest.fixture
def walks():
    return Demonstrations.from_trajectories(
        [(["red", "blue", "red"], ["left", "right"]), (["blue"], ["left"])]
    )


def test_names_are_numbered_in_the_order_in_which_they_are_met(walks):
    assert walks.state_names == ("red", "blue")
    assert walks.states.tolist() == [0, 1, 1]
    assert walks.next_states.tolist() == [1, 0, UNKNOWN]
    assert number_names([[3, 1], [2]]) == ([[3, 1], [2]], ())


def test_dynamics_say_which_number_a_name_has(walks):
    numbered = walks.numbered(HOUSES, WAYS)
    assert [HOUSES[state] for state in numbered.states] == ["red", "blue", "blue"]
    assert [WAYS[action] for action in numbered.actions] == ["left", "right", "left"]
    assert numbered.next_states.tolist() == [2, 1, UNKNOWN]
    assert numbered.state_names == ()


def test_numbers_stay_as_they_are_whatever_the_dynamics_call_them():
    plain = Demonstrations.from_arrays([[2, 1]], [[0, 1]])
    assert plain.numbered(HOUSES, WAYS) is plain


def test_the_order_of_names_in_the_data_does_not_matter():
    one = Demonstrations.from_trajectories([(["red", "blue"], ["left", "left"])])
    other = Demonstrations.from_trajectories([(["blue", "red"], ["left", "left"])])
    both = Demonstrations.concatenate([one, other])
    assert both.state_names == ("red", "blue")
    numbered = both.numbered(HOUSES, WAYS)
    assert numbered.states.tolist() == [1, 2, 2, 1]


def test_names_survive_subsets_and_files(walks, tmp_path):
    walks.save(tmp_path / "walks.npz")
    for same in (walks.subset([0, 1]), Demonstrations.load(tmp_path / "walks.npz")):
        np.testing.assert_array_equal(
            same.numbered(HOUSES, WAYS).states, walks.numbered(HOUSES, WAYS).states
        )


def test_a_name_that_the_dynamics_do_not_have_is_found(walks):
    with pytest.raises(
        DemonstrationError, match=r"trajectory 0, step 1: the state is 'blue'.*mean 'bluish'\?"
    ):
        walks.numbered(("red", "bluish"), WAYS)
    with pytest.raises(DemonstrationError, match=r"step 0: the action is 'left'.*such as 'up'"):
        walks.numbered(HOUSES, ("up", "right"))


def test_names_need_dynamics_with_names(walks):
    with pytest.raises(DemonstrationError, match=r"with_names\(states=\[\.\.\.\]\)"):
        walks.numbered((), WAYS)


def test_named_and_numbered_ones_are_not_put_together(walks):
    numbered = Demonstrations.from_arrays([[0]], [[0]])
    with pytest.raises(DemonstrationError, match="some have state_names"):
        Demonstrations.concatenate([walks, numbered])
