"""Rewards in a changed environment."""

import numpy as np
import pytest

from boirl.constraints import ExpectedTotal, Reach
from boirl.decisions.changed import changed_problem
from boirl.decisions.transfer import Interval, interval, spread_of
from boirl.errors import InvalidInputError


def test_intervals_hold_their_share():
    values, weights = np.arange(101.0), np.full(101, 1 / 101)
    found = interval(values, weights)
    assert found.mean == pytest.approx(50.0)
    assert (values >= found.low).mean() == pytest.approx(0.975, abs=0.02)
    assert interval(np.array([3.0]), np.ones(1)) == Interval(3.0, 3.0, 3.0)


def test_closing_a_way_moves_who_took_it(found):
    prize = 6
    other = changed_problem(found.problem, closed=[5])
    moved = found.transfer(other, [Reach([prize]), ExpectedTotal()], policies=8)
    reach, steps = moved.effects
    assert reach.after.mean == 0.0
    assert reach.difference.mean == pytest.approx(-reach.before.mean)
    assert reach.before.low <= reach.before.mean <= reach.before.high
    assert steps.name == "steps"
    assert 0.0 <= moved.spread <= 1.0
    assert len(moved.behaviours) >= 1
    assert "after" in str(moved)


def test_nothing_changes_where_nothing_is_changed(found):
    same = found.transfer(changed_problem(found.problem), [Reach([6])], policies=8)
    assert same.effects[0].difference == Interval(0.0, 0.0, 0.0)


def test_two_opposites_spread(two):
    spread = spread_of(two, np.random.default_rng(0))
    assert 0.0 < spread <= 0.5


def test_other_parameters_are_refused(found, gridworld):
    with pytest.raises(InvalidInputError, match="expected those of the rewards: left, right"):
        found.transfer(gridworld)
