"""Which starts to ask about."""

import numpy as np
import pytest

from boirl.decisions.ensemble import solved_ensemble
from boirl.decisions.questions import ask_ensemble, describe_questions
from boirl.errors import InvalidInputError

SIDES = (4, 5, 7)
"""The junction and the squares beside it, where the prizes matter."""


def test_the_junction_is_where_it_shows(two):
    questions = ask_ensemble(two, 3, horizon=2)
    assert questions[0].start in SIDES
    assert len({one.start for one in questions}) == 3
    information = [one.information for one in questions]
    assert information == sorted(information, reverse=True)
    assert all(one.information <= one.alone + 1e-9 for one in questions[:1])
    assert len(questions[0].behaviours) == 2
    assert "50%: state" in str(questions[0])
    assert describe_questions(questions).startswith("1. what would you do from state ")


def test_the_same_seed_asks_the_same(two):
    one, other = (ask_ensemble(two, 2, horizon=3, seed=5) for _ in range(2))
    assert [q.start for q in one] == [q.start for q in other]
    assert [q.information for q in one] == [q.information for q in other]


def test_starts_can_be_given_and_several_trajectories_tell_more(two):
    single = ask_ensemble(two, 1, starts=[0, 4], horizon=2)[0]
    several = ask_ensemble(two, 1, starts=[0, 4], horizon=2, trajectories=3)[0]
    assert single.start == several.start == 4
    assert several.information >= single.information - 0.05


def test_many_states_are_narrowed_down_by_bounds(two, monkeypatch):
    monkeypatch.setattr("boirl.decisions.questions.EXAMINED", 3)
    assert ask_ensemble(two, 1, horizon=2)[0].start in SIDES


def test_a_result_asks(found):
    questions = found.questions(2, policies=8)
    assert len(questions) == 2
    assert questions[0].information >= questions[1].information >= 0.0
    assert isinstance(questions[0].start, int)
    kept = found.questions(1, policies=0, starts=np.array([4]))
    assert kept[0].start == 4


def test_wrong_arguments_are_refused(found, two):
    for options, message in (
        ({"n": 0}, "at least one question"),
        ({"trajectories": 0}, "at least 1"),
        ({"horizon": 0}, "at least one step"),
        ({"kind": "goal"}, "expected 'start' or 'comparison'"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            found.questions(**options)
    with pytest.raises(InvalidInputError, match="no starts"):
        ask_ensemble(two, 1, starts=[])


def test_rewards_that_agree_have_nothing_to_be_asked(junction):
    same = solved_ensemble(junction, np.array([[9.0, 1.0], [9.0, 1.0]]))
    assert ask_ensemble(same, 1, horizon=3)[0].information == pytest.approx(0.0, abs=1e-9)
