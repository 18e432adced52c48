"""What rewards would do from a start, in words."""

import numpy as np

from boirl.decisions.behaviours import behaviours_from, describe_path


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


def test_words_are_short(two):
    assert describe_path(two, np.array([3, 3])) == "stays where it is"
    assert describe_path(two, np.array([3, 4, 4])) == "state 3 → 4 and stays there"
    assert describe_path(two, np.arange(9)).count("→") == 7
    assert "after 1 steps" in describe_path(two, np.zeros((2, 3)))
