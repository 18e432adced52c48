"""Generated towns."""

import numpy as np
import pytest

import boirl
from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.town import SMALLEST_TOWN, generate_town, quickest_trips
from boirl.errors import InvalidInputError


@pytest.mark.parametrize("seed", range(3))
def test_a_generated_town_can_be_driven_through(seed):
    network = generate_town(300, seed)
    assert 200 < network.n_links < 450
    assert network.times.min() > 0
    assert np.abs(network.angles).max() <= np.pi
    assert (network.features[:, 3] == (np.abs(network.angles) > 3.1)).all()
    mdp = network.mdp(0, gamma=0.99)
    # Everything leads to the destination: with a cost of 1 a step values are finite path lengths.
    costs = np.append(-np.ones(mdp.n_states - 1), 0.0)[:, None]
    values = boirl.TabularSolver("max").solve(mdp, costs).values
    assert values is not None
    assert values.min() > -(1 - 0.99**200) / 0.01


def test_a_town_follows_from_its_seed():
    one, same, other = (generate_town(100, seed) for seed in (4, 4, 5))
    for name in ("times", "turns", "angles", "ends"):
        np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
    assert one.turns.shape != other.turns.shape or (one.turns != other.turns).any()


@pytest.mark.parametrize(("n_links", "factor"), [(SMALLEST_TOWN, 2.5), (200, 1.5), (2000, 1.1)])
def test_a_town_has_about_as_many_links_as_asked_for(n_links, factor):
    # The grid is square, so that small towns are rounded up.
    found = np.array([generate_town(n_links, seed).n_links for seed in range(5)])
    assert (found > 0.9 * n_links).all()
    assert (found < factor * n_links).all()


def test_links_lie_between_crossings():
    network = generate_town(100, 0)
    left, entered = network.turns.T
    assert network.ends is not None
    np.testing.assert_array_equal(network.ends[left, 1], network.ends[entered, 0])
    # Back where one came from is a u-turn, and nothing else is.
    back = (network.ends[left, 0] == network.ends[entered, 1]).all(axis=1)
    np.testing.assert_array_equal(back, network.features[:, 3] == 1.0)


def test_a_town_that_is_too_small_is_refused():
    with pytest.raises(InvalidInputError, match="n_links is 19; expected at least 20"):
        generate_town(19, 0)


def test_links_and_turns_have_attributes():
    network = generate_town(100, 4)
    starts, ends = network.ends[:, 0], network.ends[:, 1]
    length = np.linalg.norm(ends - starts, axis=1)
    np.testing.assert_allclose(network.link_attributes["length"], length)
    main = network.link_attributes["main"] == 1.0
    np.testing.assert_allclose(network.times[main], 0.1 * length[main])
    assert (network.times[~main] > 0.15 * length[~main]).all()
    right = network.turn_attributes["right"] == 1.0
    assert (network.angles[right] > 0.5).all()
    assert not (right & (network.features[:, 1] == 1.0)).any()


def test_quickest_trips_take_the_least_time_and_end_where_they_arrive():
    network = generate_town(60, 4)
    origins = np.arange(network.n_links)
    trips = quickest_trips(network, np.zeros(len(origins), int), origins)
    feeders = network.feeders(0)
    best = np.where(np.isin(origins, feeders), 0.0, np.inf)
    for _ in range(network.n_links):
        left, entered = network.turns.T
        on = network.times[entered] + best[entered]
        np.minimum.at(best, left, on)
    for origin, links in zip(origins, trips.links, strict=True):
        assert links[0] == origin
        assert np.isin(links, feeders).sum() == 1
        assert links[-1] in feeders
        assert (network.turn_number(links[:-1], links[1:]) >= 0).all()
        assert network.times[links[1:]].sum() == pytest.approx(best[origin])


def test_where_no_route_leads_there_is_no_trip():
    row = RoadNetwork(np.ones(2), np.array([[0, 1]]), np.zeros(1), {4: np.array([0])})
    with pytest.raises(InvalidInputError, match="no route leads from link 1 to destination 4"):
        quickest_trips(row, np.array([4]), np.array([1]))
