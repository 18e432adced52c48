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
    assert len(close_links(town.network, [link]).turns) < len(town.network.turns)
    np.testing.assert_array_equal(other.box.low, town.box.low)


def test_states_keep_their_numbers(town):
    """What is measured before and after a road closes is the same place."""
    link = int(np.bincount(town.network.turns[:, 1]).argmax())
    other = change_town(town, closed=[link])
    assert [other.state_name(state) for state in range(other.mdp.n_states)] == [
        town.state_name(state) for state in range(town.mdp.n_states)
    ]
    # The same town, built without the turns into the link.
    cut = town.network.turns[:, 1] == link
    network = close_links(town.network, [link])
    mdp = network.mdp(town.destination, town.gamma)
    reward = network.reward(
        town.destination,
        utilities={
            one.name: one.fixed if one.fixed is not None else (one.low, one.high)
            for one in town.reward.parameters
        },
    )
    values = town.solver.solve(mdp, mdp.expected_rewards(reward, np.array([town.truth]))[0]).values
    kept = np.append(~cut, np.ones(town.mdp.n_states - len(cut), dtype=bool))
    np.testing.assert_allclose(other.policy(town.truth).values[kept], values, rtol=1e-6)


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
