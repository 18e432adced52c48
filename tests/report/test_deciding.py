"""From the set to a decision, in a report."""

import re

import pytest

import boirl
from boirl.constraints import Constraints, linear
from boirl.report.deciding import (
    closed_state,
    deciding_of,
    describe_demonstrators,
    ruled_out_rows,
)
from boirl.report.scenes import scene_of

from .conftest import rewards_of


@pytest.fixture(scope="module")
def deciding(found):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("boirl.report.deciding.REPORTED_POLICIES", 4)
        yield deciding_of(found)


def test_questions_are_ordered_and_say_what_rewards_would_do(deciding):
    gains = [one.information for one in deciding.questions]
    assert gains == sorted(gains, reverse=True)
    text = deciding.to_text()["questions"]
    assert len(text) == len(gains) == 3
    assert all(one["behaviours"] for one in text)


def test_acting_is_beside_the_single_best_reward(deciding):
    names = [row[0] for row in deciding.to_text()["acting"]]
    assert names == ["best on average", "best in the worst case", "for the single best reward"]
    assert deciding.worst.worst_regret <= deciding.worst.single_worst_regret + 1e-9


def test_a_closed_state_is_none_that_walks_start_from(deciding, street):
    assert deciding.closed not in {"state 0", "state 2"}
    assert any("steps" in line for line in deciding.to_text()["change"])


@pytest.mark.parametrize("name", ["gridworld", "gridworld2d"])
def test_the_end_of_a_grid_is_not_closed(name):
    found = rewards_of(boirl.load_problem(name), 4)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("boirl.report.deciding.REPORTED_POLICIES", 2)
        change = closed_state(found, scene_of(found.problem))
    assert change is not None
    closed, _ = change
    assert re.fullmatch(r"state \d+ \(row \d, column \d\)", closed)


def test_what_constraints_rule_out_is_told_apart(found):
    from dataclasses import replace

    name = found.names[2]
    middle = float(found.best[2])
    held = replace(found, constraints=Constraints(tuple(linear({name: 1.0}, at_most=middle - 0.1))))
    assert not held.feasible[found.best_index]
    rows = ruled_out_rows(held)
    assert rows
    assert name in rows[0]["why"]
    assert ruled_out_rows(found) == []


def test_few_demonstrations_say_nothing_of_demonstrators(found):
    assert describe_demonstrators(found) == ""
