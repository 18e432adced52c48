"""Groups of things that are all alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boirl.results.grouping import group_alike

LIMITS = st.floats(0.01, 1.0)


@st.composite
def distance_matrices(draw):
    """Distances between up to twelve things: of points on a plane, or of any size at all."""
    count, rng = draw(st.integers(0, 12)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        points = rng.random((count, 2))
        return np.linalg.norm(points[:, None] - points[None], axis=-1)
    upper = np.triu(rng.random((count, count)), 1)
    return upper + upper.T


@given(distance_matrices(), LIMITS)
def test_everything_is_in_one_group(distances, limit):
    groups = group_alike(distances, limit)
    assert all(len(group) > 0 for group in groups)
    assert sorted(np.concatenate([[], *groups]).tolist()) == list(range(len(distances)))


@given(distance_matrices(), LIMITS)
def test_no_two_members_are_farther_apart_than_the_limit(distances, limit):
    for group in group_alike(distances, limit):
        assert distances[np.ix_(group, group)].max() <= limit


@given(distance_matrices(), LIMITS)
def test_no_two_groups_could_be_one(distances, limit):
    groups = group_alike(distances, limit)
    for number, group in enumerate(groups):
        for other in groups[:number]:
            assert distances[np.ix_(group, other)].max() > limit


@given(distance_matrices(), LIMITS)
def test_groups_and_their_members_come_in_order(distances, limit):
    groups = [group.tolist() for group in group_alike(distances, limit)]
    assert groups == sorted(map(sorted, groups))


def test_nothing_has_no_group_and_one_thing_has_one():
    assert group_alike(np.zeros((0, 0)), 0.1) == []
    assert [group.tolist() for group in group_alike(np.zeros((1, 1)), 0.1)] == [[0]]


@pytest.mark.parametrize(
    ("limit", "expected"), [(0.9, [[0], [1], [2]]), (1.0, [[0, 1], [2]]), (3.0, [[0, 1, 2]])]
)
def test_three_points_on_a_line(limit, expected):
    places = np.array([0.0, 1.0, 3.0])
    groups = group_alike(np.abs(places[:, None] - places), limit)
    assert [group.tolist() for group in groups] == expected
