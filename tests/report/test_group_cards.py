"""Groups: all that is not rejected, the best first, with differences that are real."""

import numpy as np
import pytest

from boirl.report.group_cards import SHOWN_GROUPS, group_cards, groups_of
from boirl.report.scenes import scene_of


@pytest.fixture(scope="module")
def cards(found):
    return group_cards(found, groups_of(found), scene_of(found.problem))


def test_no_reward_that_is_not_rejected_is_left_out(found):
    sorted_in = np.concatenate([group.indices for group in groups_of(found)])
    kept = found.indices_within(found.likelihood_ratio_tolerance(), absolute=True)
    assert set(kept) <= set(sorted_in)


def test_cards_are_numbered_and_marked(found, cards):
    assert [card.number for card in cards] == list(range(1, len(cards) + 1))
    assert len(cards) <= SHOWN_GROUPS
    assert cards[0].indices[0] == found.best_index
    limit = found.best_nll + found.likelihood_ratio_tolerance()
    assert [card.rejected for card in cards] == [card.nll > limit for card in cards]


def test_differences_are_from_the_first_group_and_of_it_from_the_second(cards):
    assert [card.rival for card in cards[:3]] == [2, 1, 1]
    assert cards[1].distances[0] == pytest.approx(cards[0].distances[1])
    first, second = cards[0].differences[0], cards[1].differences[0]
    assert first.distance == pytest.approx(second.distance)
    assert (first.one, first.other) == (second.other, second.one)
    assert "%" in first.one


def test_a_single_group_has_no_rival(found):
    alone = group_cards(found, groups_of(found)[:1], None)
    assert (alone[0].rival, list(alone[0].differences)) == (0, [])
