"""Rewards sorted by how they make the demonstrator behave."""

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.results import groups as module
from boirl.results.groups import limit_above

ALIKE_AND_OTHER = [(1.25, 5.0, 0.0), (1.25, 5.0, 3.0), (-1.0, 3.0, 0.0), (1.25, 5.0, -4.0)]


def test_groups_part_rewards_that_behave_differently_and_join_those_alike(made_up):
    result = made_up([10.0, 10.1, 10.2, 10.3], ALIKE_AND_OTHER)
    groups = result.groups(tolerance=0.10)
    assert [group.indices.tolist() for group in groups] == [[0, 1, 3], [2]]
    assert groups[0].width < 1e-9
    assert groups[0].nll == 10.0
    np.testing.assert_array_equal(groups[0].thetas, result.thetas[[0, 1, 3]])
    np.testing.assert_array_equal(groups[1].representative, ALIKE_AND_OTHER[2])
    assert len(result.groups(tolerance=0.10, distance=1.0)) == 1


def test_the_best_of_a_group_represents_it_and_failures_are_in_none(made_up):
    result = made_up([np.nan, 10.1, 10.2, 10.0], ALIKE_AND_OTHER)
    first, second = result.groups(tolerance=0.10)
    assert first.indices.tolist() == [3, 1]
    np.testing.assert_array_equal(first.representative, ALIKE_AND_OTHER[3])
    assert second.indices.tolist() == [2]


def test_members_of_a_group_are_no_further_apart_than_was_asked(found):
    for distance in (0.01, 0.05, 0.2):
        groups = found.groups(tolerance=0.5, distance=distance)
        assert max(group.width for group in groups) <= distance
        assert sum(len(group.indices) for group in groups) == len(found.indices_within(0.5))


def test_groups_are_as_wide_as_the_problem_has_it(found, monkeypatch):
    monkeypatch.setattr(type(found.problem), "same_behaviour", 1.0, raising=False)
    assert len(found.groups(tolerance=0.5)) == 1
    monkeypatch.setattr(type(found.problem), "same_behaviour", 1e-6, raising=False)
    assert len(found.groups(tolerance=0.5)) == len(found.groups(tolerance=0.5, distance=1e-6)) > 1


@pytest.mark.parametrize("by", ["behaviour", "starc", "epic"])
def test_rewards_are_grouped_by_any_distance(found, by):
    groups = found.groups(by=by)
    members = np.concatenate([group.indices for group in groups])
    assert sorted(members) == sorted(found.indices_within(0.10))
    assert all(group.width <= 0.05 for group in groups)


def test_of_very_many_rewards_the_best_are_sorted(found, monkeypatch):
    monkeypatch.setattr(module, "GROUPED_AT_MOST", 3)
    groups = found.groups(tolerance=10.0)
    members = np.concatenate([group.indices for group in groups])
    assert sorted(members) == sorted(found.indices_within(10.0)[:3])


def test_groups_of_kept_policies_need_no_solver(found, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("solved")

    monkeypatch.setattr("boirl.policies.bellman.TabularSolver.solve_batch", refuse)
    assert len(found.groups()) >= 1


@pytest.mark.parametrize(
    ("best", "absolute", "expected"), [(10.0, False, 11.0), (-10.0, False, -9.0), (2.0, True, 2.1)]
)
def test_a_limit_is_relative_to_the_best_or_in_units_of_the_nll(best, absolute, expected):
    assert limit_above(best, 0.1, absolute) == pytest.approx(expected)


@pytest.mark.parametrize("tolerance", [-0.1, float("nan")])
def test_a_tolerance_below_zero_is_refused(tolerance):
    with pytest.raises(InvalidInputError, match=f"the tolerance is {tolerance}"):
        limit_above(1.0, tolerance)
