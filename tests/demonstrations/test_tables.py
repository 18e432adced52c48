"""Tables of steps: every form gives the same, gaps are split or refused, errors say where."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boirl.demonstrations import UNKNOWN, Demonstrations
from boirl.errors import DemonstrationError, InvalidInputError

COLUMNS = {
    "episode": ["b", "b", "a", "b"],
    "step": [1, 0, 5, 2],
    "state": ["home", "shop", "park", "park"],
    "action": ["left", "right", "left", "left"],
}


def pandas_table(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def polars_table(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def arrow_table(columns):
    return pytest.importorskip("pyarrow").table(columns)


def rows_of(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@pytest.mark.parametrize("build", [dict, pandas_table, polars_table, arrow_table, rows_of])
def test_every_form_of_table_gives_the_same(build):
    read = Demonstrations.from_table(build(COLUMNS))
    assert [[read.state_names[s] for s in one.states] for one in read] == [
        ["shop", "home", "park"],
        ["park"],
    ]
    assert [read.action_names[a] for a in read[0].actions] == ["right", "left", "left"]
    assert read.unknown_ends.tolist() == [False, False, True, True]


@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=1), min_size=1))
def test_steps_pairs_and_tables_agree(episodes):
    steps = Demonstrations.from_steps(episodes)
    pairs = Demonstrations.from_trajectories(
        tuple(list(part) for part in zip(*episode, strict=True)) for episode in episodes
    )
    rows = [
        {"episode": number, "step": step, "state": state, "action": action}
        for number, episode in enumerate(episodes)
        for step, (state, action) in enumerate(episode)
    ]
    table = Demonstrations.from_table(rows[::-1] if len(episodes) == 1 else rows)
    for other in (pairs, table):
        for name, array in steps.to_dict().items():
            np.testing.assert_array_equal(other.to_dict()[name], array, err_msg=name)


def test_rows_are_in_order_where_steps_have_no_number():
    columns = {name: cells for name, cells in COLUMNS.items() if name != "step"}
    read = Demonstrations.from_table(columns)
    assert [read.state_names[s] for s in read[0].states] == ["home", "shop", "park"]


def test_a_table_may_be_one_episode():
    read = Demonstrations.from_table({"state": [0, 1], "action": [0, 0]}, episode=None)
    assert read.lengths.tolist() == [2]


def test_lists_and_several_columns_are_vectors():
    lists = {"episode": [0, 0], "state": [[0.5, 1.0], [1.5, 2.0]], "action": [[0.1], [0.2]]}
    several = {"episode": [0, 0], "x": [0.5, 1.5], "y": [1.0, 2.0], "push": [0.1, 0.2]}
    one = Demonstrations.from_table(lists)
    other = Demonstrations.from_table(several, state=("x", "y"), action=["push"])
    np.testing.assert_array_equal(one.states, [[0.5, 1.0], [1.5, 2.0]])
    np.testing.assert_array_equal(one.states, other.states)
    np.testing.assert_array_equal(one.actions, other.actions)


def test_the_columns_of_lerobot_are_found():
    read = Demonstrations.from_table(
        {
            "episode_index": [0, 0],
            "frame_index": [1, 0],
            "observation.state": [[1.0], [0.0]],
            "action": [[0.3], [0.2]],
            "next.reward": [0.0, 1.0],
        }
    )
    assert read.states.tolist() == [[0.0], [1.0]]


def test_a_last_row_without_an_action_is_the_end():
    columns = {"episode": [0, 0, 0], "state": [4, 5, 6], "action": [1, 0, None]}
    read = Demonstrations.from_table(columns)
    assert read.next_states.tolist() == [5, 6]
    assert Demonstrations.from_steps([[(4, 1), (5, 0), (6, None)]]).next_states.tolist() == [5, 6]


def test_the_state_that_followed_is_used_at_the_end():
    columns = {"episode": [0, 0], "state": [4, 5], "action": [1, 0], "next_state": [5, 9]}
    assert Demonstrations.from_table(columns).next_states.tolist() == [5, 9]


GAPS: dict[str, tuple[dict[str, list[int | None]], str]] = {
    "a number left out": ({"step": [0, 1, 3, 4]}, "goes from step 1 to step 3"),
    "a state left out": ({"state": [0, None, 2, 3]}, "has no state here"),
    "an action left out": ({"action": [1, 1, None, 1]}, "has no action here"),
    "a jump": ({"next_state": [1, 7, 3, 0]}, "leads to 7, and the next step is in 2"),
}


@pytest.mark.parametrize("gap", GAPS)
def test_gaps_are_refused_or_split_by_choice(gap):
    changed, message = GAPS[gap]
    whole: dict[str, list[int | None]] = {
        "episode": [0] * 4,
        "step": [0, 1, 2, 3],
        "state": [0, 1, 2, 3],
        "action": [1] * 4,
    }
    table = {**whole, **changed}
    with pytest.raises(DemonstrationError, match=f"{message}.*gaps='split'"):
        Demonstrations.from_table(table)
    split = Demonstrations.from_table(table, gaps="split")
    assert len(split) == 2
    assert set(zip(split.states.tolist(), split.actions.tolist(), strict=True)) <= {
        (state, 1) for state in range(4)
    }


def test_a_state_before_a_gap_is_the_end_of_what_was():
    table = {"episode": [0] * 4, "state": [0, 1, 2, 3], "action": [1, None, 1, 1]}
    split = Demonstrations.from_table(table, gaps="split")
    assert split.next_states.tolist() == [1, 3, UNKNOWN]


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"episode": [0], "house": [1], "action": [0]}, {}, r"columns episode, house, action; "),
        ({"episode": [0], "State": [1], "action": [0]}, {}, "or pass state='State'"),
        ({"walk": [0], "state": [1], "action": [0]}, {}, "expected one called 'episode'"),
        ({**COLUMNS, "step": [0, 0, 0, 1]}, {}, "row 1 of the table: episode 'b' has step 0 twice"),
        ({**COLUMNS, "step": [0, 1.5, 0, 1]}, {}, "row 1 of the table: the step is 1.5"),
        ({**COLUMNS, "episode": ["b", None, "a", "b"]}, {}, "row 1 of the table: found nothing"),
        ({name: [] for name in COLUMNS}, {}, "has no rows"),
        (COLUMNS, {"gaps": "ignore"}, "gaps is 'ignore'"),
        (COLUMNS, {"step": "time"}, "expected one called 'time'"),
        ({**COLUMNS, "state": [None] * 4}, {"gaps": "split"}, "no step with a state and an action"),
        (3, {}, "the table is a int"),
        (
            {"states": [[0, 1], 1], "actions": [[0], 0]},
            {},
            "row 1 of the table: found 1 in the col",
        ),
        ({"states": [[0, 1]], "act": [[0]]}, {}, "expected one called 'episode'"),
        (
            {"walk": [[[0.0], [1.0, 2.0]]], "act": [[0, 1]]},
            {"episode": None, "state": "walk", "action": "act"},
            "trajectory 0 holds something that is not a number",
        ),
    ],
)
def test_what_does_not_fit_is_named(table, options, message):
    with pytest.raises(InvalidInputError, match=message):
        Demonstrations.from_table(table, **options)


@pytest.mark.parametrize("build", [dict, pandas_table, polars_table, arrow_table, rows_of])
@pytest.mark.parametrize(("states", "actions"), [("observations", "actions"), ("obs", "acts")])
def test_a_row_may_be_an_episode(build, states, actions):
    columns = {
        states: [[[0.0, 1.0], [1.0, 2.0]], [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]],
        actions: [[[0.5], [1.0]], [[0.0], [1.0]]],
        "rewards": [[0.0, 0.0], [0.0, 1.0]],
    }
    read = Demonstrations.from_table(build(columns))
    assert read.lengths.tolist() == [2, 2]
    assert read[1].states.tolist() == [[0.0, 1.0], [1.0, 2.0]]
    assert read[1].actions.tolist() == [[0.0], [1.0]]
    assert read.unknown_ends.tolist() == [False, True, False, False]


def test_names_in_rows_that_are_episodes_are_kept():
    read = Demonstrations.from_table([{"states": ["shop", "home"], "actions": ["go"]}])
    assert (read.state_names, read.action_names) == (("shop", "home"), ("go",))


@pytest.mark.parametrize(
    ("episodes", "message"),
    [
        ([[(0, 1)], [(0,)]], r"episode 1, step 0 is \(0,\)"),
        ([[(0, 1), 3]], "episode 0, step 1 is 3"),
        ([[{"state": 1, "act": 0}]], "has state, act and no action"),
        ([], "no episodes with steps"),
        ([([0, 1, 2], [1, 1, 1])], "tuple of 2 lists.*call Demonstrations.from_trajectories"),
        ([[(0, 1, 5), (2, 1)]], "episode 0, step 0: episode 0 leads to 5"),
    ],
)
def test_steps_that_are_none_are_named(episodes, message):
    with pytest.raises(DemonstrationError, match=message):
        Demonstrations.from_steps(episodes)
