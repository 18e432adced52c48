"""Towns with something changed."""

import numpy as np
import pytest

import boirl
from boirl.domains.roads.changes import change_town, close_links
from boirl.errors import InvalidInputError


@pytest.fixture(scope="module")
def town():
    return boirl.load_problem("road-network", n_links=40, n_demonstrations=2)


def test_a_closed_link_is_not_driven(town):
    link = int(np.bincount(town.network.turns[:, 1]).argmax())
    other = change_town(town, closed=[link])
    visits = np.zeros(other.network.n_links)
    policy = other.policy(town.truth)
    drawn = other.roll_out(policy, np.arange(20), 30, np.random.default_rng(0))
    states = drawn.states[drawn.states < len(other.network.turns)]
    visits += np.bincount(other.network.turns[states, 1], minlength=len(visits))
    assert visits[link] == 0.0
    assert len(other.network.turns) < len(town.network.turns)
    np.testing.assert_array_equal(other.box.low, town.box.low)


def test_an_unchanged_town_pays_the_same(town):
    other = change_town(town)
    theta = np.array([town.truth])
    np.testing.assert_allclose(
        other.mdp.expected_rewards(other.reward, theta),
        town.mdp.expected_rewards(town.reward, theta),
    )


def test_trips_start_on_a_link(town):
    link = int(town.network.turns[5, 1])
    other = change_town(town, start=link)
    assert (town.network.turns[np.flatnonzero(other.mdp.start), 1] == link).all()


def test_unknown_links_are_refused(town):
    with pytest.raises(InvalidInputError, match="expected numbers from 0"):
        close_links(town.network, [9999])
    with pytest.raises(InvalidInputError, match="some open links"):
        close_links(town.network, range(town.network.n_links))
    with pytest.raises(InvalidInputError, match="expected an open link"):
        change_town(town, closed=[3], start=3)
