"""Where a question may start."""

import numpy as np

import boirl
from boirl.decisions.starts import possible_starts, state_name
from boirl.problem.walks import horizon_of


def test_a_table_starts_where_nothing_has_ended(junction):
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(possible_starts(junction, rng), np.arange(11))
    assert horizon_of(junction) == 12
    assert state_name(junction, 4) == "state 4"


def test_travellers_start_where_there_is_a_route():
    network = boirl.generate_town(40, 0)
    (goal,) = network.destinations
    link = int(network.turns[0, 0])
    from boirl.domains.roads.town import quickest_trips

    trips = quickest_trips(network, np.array([goal]), np.array([link]))
    town = boirl.recursive_logit_problem(network, trips)
    starts = possible_starts(town, np.random.default_rng(0))
    assert town.choice.has_route.ravel()[starts].all()
    assert horizon_of(town) == int(town.demonstrations.lengths.max())
    assert state_name(town, link) == f"link {link} on the way to {goal}"


def test_vectors_are_called_by_their_numbers(junction):
    assert state_name(junction, np.array([1.0, 2.5])) == "(1, 2.5)"
