"""Where a question may start."""

import numpy as np

import boirl
from boirl.decisions.starts import possible_starts, state_name
from boirl.problem.walks import horizon_of, walk_from


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
    # Trips that are drawn may be longer than those that were observed, and end where they end.
    assert horizon_of(town) >= 10 * int(town.demonstrations.lengths.max())
    policy = town.policy(town.box.from_unit(np.full(town.box.dimension, 0.3)))
    drawn = walk_from(town, policy, starts, horizon_of(town), np.random.default_rng(0))
    assert (drawn.states != town.end_state).all()
    last = np.cumsum(drawn.lengths) - 1
    assert (drawn.next_states[last] == town.end_state).mean() > 0.9
    assert state_name(town, link) == f"link {link} on the way to {goal}"


def test_vectors_are_called_by_their_numbers(junction):
    assert state_name(junction, np.array([1.0, 2.5])) == "(1, 2.5)"
