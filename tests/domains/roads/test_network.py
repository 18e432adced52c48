"""Road networks as decision problems."""

import math

import numpy as np
import pytest

from boirl.domains.roads.network import FEATURES, RoadNetwork, feature_weights
from boirl.errors import InvalidInputError
from boirl.rewards import Transitions


@pytest.fixture(scope="module")
def network():
    """Two streets that meet.

    Links 0 and 1 are one street in both directions, 2 leads off to the left and 3 back from it.
    Destination 99 lies at the end of 2.
    """
    turns = np.array([[1, 0], [0, 1], [3, 1], [0, 2], [2, 3]])
    angles = np.array([3.14, 3.14, 1.5, -1.5, 3.14])
    return RoadNetwork(np.array([0.5, 0.5, 0.2, 0.3]), turns, angles, {99: np.array([2])})


def turn(network, came_from, link):
    return int(network.turn_number(np.array([came_from]), np.array([link]))[0])


def test_turns_are_found_by_their_links(network):
    left, entered = network.turns.T
    np.testing.assert_array_equal(network.turn_number(left, entered), np.arange(5))
    assert turn(network, 1, 3) == -1
    assert turn(network, 2, 2) == -1


def test_a_network_is_a_decision_problem(network):
    mdp = network.mdp(99, gamma=0.99)
    assert mdp.n_states == 5 + 1 + 1
    assert mdp.n_actions == network.most_turns + 1 == 3
    arrival, sink = 5, 6
    at_2, at_0 = turn(network, 0, 2), turn(network, 1, 0)
    assert mdp.next_states[at_2, -1] == arrival
    assert (mdp.next_states[arrival:] == sink).all()
    # On link 0 the left turn onto 2 has the smaller angle and is action 0.
    assert mdp.next_states[at_0, 0] == at_2
    assert mdp.next_states[at_0, 1] == turn(network, 0, 1)
    # The destination cannot be had from there.
    assert mdp.next_states[at_0, -1] == at_0


def test_turns_have_features(network):
    assert FEATURES == ("time", "left", "constant", "u-turn")
    np.testing.assert_array_equal(network.features[turn(network, 0, 2)], [0.2, 1.0, 1.0, 0.0])
    np.testing.assert_array_equal(network.features[turn(network, 1, 0)], [0.5, 0.0, 1.0, 1.0])


def test_ways_on_are_ordered_by_angle(network):
    assert network.ways_on[0].tolist() == [turn(network, 0, 2), turn(network, 0, 1)]
    assert network.ways_on[1].tolist() == [turn(network, 1, 0), -1]


def test_the_reward_pays_features_and_nothing_at_the_destination(network):
    reward = network.reward(99, {"time": (-2.0, 0.0), "left": (-2.0, 0.0)})
    assert reward.box.names == ("time", "left")
    features = reward.features(Transitions(np.arange(7)))
    np.testing.assert_array_equal(features[:5], network.features)
    np.testing.assert_array_equal(features[5:], 0.0)


def test_features_without_bounds_are_held_at_zero():
    weights = feature_weights({"left": (-1.0, 2.0)})
    assert [parameter.fixed for parameter in weights] == [0.0, None, 0.0, 0.0]
    with pytest.raises(InvalidInputError, match="no feature speed; expected some of time"):
        feature_weights({"speed": (0.0, 1.0)})


def test_an_unknown_destination_is_reported(network):
    with pytest.raises(InvalidInputError, match=r"no destination 5; there are 1, such as 99"):
        network.feeders(5)


def test_the_repr_is_short(network):
    assert repr(network) == "RoadNetwork(4 links, 5 turns, 1 destinations)"
    many = RoadNetwork(
        np.ones(10**4),
        np.zeros((1, 2), int),
        np.array([math.pi]),
        dict.fromkeys(range(999), np.array([0])),
    )
    assert len(repr(many)) < 80
