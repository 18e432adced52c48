"""Features of states from a table."""

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.rewards import LinearReward
from boirl.rewards.feature_table import read_features

HOUSES = {"state": ["b", "a"], "shade": [0.1, 0.2], "noise": [1, 2], "street": ["x", "y"]}


def test_features_follow_the_order_of_states_and_parameters():
    found = read_features(HOUSES, ["noise", "shade"], ("a", "b"))
    np.testing.assert_array_equal(found, [[2.0, 0.2], [1.0, 0.1]])


def test_states_may_be_numbers():
    reward = LinearReward.from_table({"state": [1, 0], "shade": [5.0, 7.0]}, {"shade": (0, 1)})
    assert reward.table.tolist() == [[7.0], [5.0]]
    own = {"place": [1, 0], "shade": [5.0, 7.0]}
    named = LinearReward.from_table(own, {"shade": (0, 1)}, state="place")
    np.testing.assert_array_equal(named.table, reward.table)
    with pytest.raises(InvalidInputError, match=r"expected one called 'state'.*pass state="):
        LinearReward.from_table(own, {"shade": (0, 1)})
    arriving = LinearReward.from_table({"state": [0], "x": [1]}, {"x": (0, 1)}, of_next=True)
    assert arriving.of_next


def test_features_may_be_of_states_and_actions():
    table = {
        "state": ["b", "a", "a", "b"],
        "action": ["go", "stay", "go", "stay"],
        "x": [1.0, 2.0, 3.0, 4.0],
    }
    reward = LinearReward.from_table(table, {"x": (0, 1)}, ("a", "b"), actions=("go", "stay"))
    assert reward.table.tolist() == [[[3.0], [2.0]], [[1.0], [4.0]]]
    assert reward.depends_on == "state_action"


@pytest.mark.parametrize(
    ("changed", "states", "message"),
    [
        ({}, ("a", "b", "c"), "no row for the state 'c'"),
        ({}, ("a",), "row 0 of the table: 'b' is no state of the dynamics"),
        (
            {"state": ["a", "a"]},
            ("a", "b"),
            "row 1 of the table: the state 'a' stands in the table twice.*one called 'action'",
        ),
        ({}, (), r"'b' is no state of the dynamics.*pass states=mdp\.state_names"),
        ({"action": ["go", "go"]}, ("a", "b"), r"'go' is no action.*actions=mdp\.action_names"),
        ({"action": [0, 1]}, ("a", "b"), "no row for the state 'a' and action '0'; .* each of 4"),
        ({"shade": [0.1, None]}, ("a", "b"), "row 1 of the table: found nothing in the column sha"),
    ],
)
def test_what_is_wrong_is_named(changed, states, message):
    with pytest.raises(InvalidInputError, match=message):
        read_features({**HOUSES, **changed}, ["shade"], states)


def test_a_parameter_without_a_column_is_named():
    with pytest.raises(InvalidInputError, match=r"expected one called 'light': rename it$"):
        LinearReward.from_table(HOUSES, {"light": (0, 1)}, ("a", "b"))
