"""What rewards would do from a start, in words."""

import numpy as np

from boirl.decisions.behaviours import (
    _shortened,
    behaviour_lines,
    behaviours_from,
    describe_path,
    describe_paths,
)


def test_two_ways_are_two_behaviours(two):
    found = behaviours_from(two, 4, 3, np.random.default_rng(0))
    assert [one.weight for one in found] == [0.5, 0.5]
    ends = {int(one.path[-1]) for one in found}
    assert len(ends) == 1 or {one.words for one in found}
    assert found[0].words != found[1].words
    assert str(found[0]).startswith("50%: state 4 → ")


def test_one_way_is_one_behaviour(two):
    found = behaviours_from(two, 0, 1, np.random.default_rng(0))
    assert len(found) == 1
    assert found[0].weight == 1.0
    np.testing.assert_array_equal(found[0].path, [0, 1])


def test_groups_with_the_same_likeliest_way_are_one_behaviour(two, monkeypatch):
    apart = np.ones((2, 2)) - np.eye(2)
    groups = [np.array([0]), np.array([1])]
    monkeypatch.setattr("boirl.decisions.behaviours.alike_from", lambda *given: (apart, groups))
    (one,) = behaviours_from(two, 0, 2, np.random.default_rng(0))
    assert one.weight == 1.0
    assert sorted(one.members.tolist()) == [0, 1]


def test_only_the_most_probable_behaviours_are_put_into_words(two):
    (one, other) = behaviours_from(two, 4, 3, np.random.default_rng(0))
    assert len(behaviour_lines([one, other])) == 2
    lines = behaviour_lines([one] * 5 + [other] * 2)
    assert len(lines) == 6
    assert lines[-1].endswith("2 other ways")


def test_words_that_all_names_share_are_said_once():
    assert _shortened("state 4", "state 3") == "4"
    assert _shortened("link 4 on the way to 9", "link 3 on the way to 9") == "4"
    assert _shortened("the end", "link 3 on the way to 9") == "the end"
    assert _shortened("kitchen door", "kitchen") == "kitchen door"


def test_words_are_short(two):
    assert describe_path(two, np.array([3, 3])) == "stays where it is"
    assert describe_path(two, np.array([3, 4, 4])) == "state 3 → 4 and stays there"
    assert describe_path(two, np.arange(9)).count("→") == 7
    assert describe_path(two, np.array([3, 4, 3, 4])) == "state 3 → 4 → 3 → 4"
    assert "after 1 steps" in describe_path(two, np.zeros((2, 3)))


def test_words_tell_ways_apart_that_part_late(two):
    one = np.array([0, 1] * 6 + [2, 3, 4])
    other = np.array([0, 1] * 6 + [2, 5, 4])
    early = np.array([0, 2] * 6 + [2, 3, 4])
    words = describe_paths(two, [one, other, early])
    assert words[0] == "state 0 → ... → 2 → 3 → 4"
    assert words[1] == "state 0 → ... → 2 → 5 → 4"
    assert words[2] == describe_path(two, early) == "state 0 → 2 → 0 → 2 → 0 → 2 → ... → 4"
    longer = [np.concatenate([way, np.full(9, 6), [7]]) for way in (one, other)]
    assert describe_paths(two, longer) == [
        "state 0 → ... → 2 → 3 → 4 → 6 → ... → 7",
        "state 0 → ... → 2 → 5 → 4 → 6 → ... → 7",
    ]
