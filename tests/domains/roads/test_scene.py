"""Routes for reports: links by how often they are passed."""

import numpy as np
import pytest

import boirl
from boirl.domains.roads.problem import BOXES
from boirl.domains.roads.scene import RoadScene

from .conftest import town_with_trips


@pytest.fixture(scope="module")
def town():
    network, trips = town_with_trips(1)
    chosen = [links for links in trips.to(0) if len(links) > 1]
    return boirl.road_problem(network, 0, chosen, BOXES["wide"]), network, trips


def test_links_are_drawn_where_they_lie(town):
    problem, network, _ = town
    still = RoadScene(problem).still()
    assert len(still["lines"]) == network.n_links
    assert np.array(still["lines"]) == pytest.approx(network.layout.reshape(-1, 4), rel=1e-3)


def test_visits_are_those_of_the_problem(town):
    problem, _, _ = town
    policy = problem.policy(problem.box.from_unit(np.full(3, 0.3)))
    frame = RoadScene(problem).frame(policy, problem.box.low)
    expected = problem.expected_visits(policy)[frame["at"]]
    assert frame["visits"] == pytest.approx(expected, rel=1e-2)
    assert RoadScene(problem).demonstrated()["at"]


def test_states_and_actions_are_links(town):
    problem, network, _ = town
    scene = RoadScene(problem)
    state = int(problem.demonstrations.states[0])
    left, onto = network.turns[state]
    assert scene.state_name(state) == f"from link {left} onto link {onto}"
    assert scene.state_name(problem.mdp.n_states - 1) == "at the destination"
    assert scene.action_name(state, 0).startswith(("onto link ", "arrive"))
    policy = problem.policy(problem.box.from_unit(np.full(3, 0.3)))
    assert scene.chances(policy, state).sum() == pytest.approx(1.0)


def test_routes_are_links_on_the_way_to_a_destination(town):
    _, network, trips = town
    problem = boirl.recursive_logit_problem(network, trips)
    scene = RoadScene(problem)
    state, action = int(problem.demonstrations.states[0]), int(problem.demonstrations.actions[0])
    link = state % network.n_links
    assert scene.state_name(state).startswith(f"link {link} on the way to ")
    onto = int(problem.demonstrations.next_states[0]) % network.n_links
    assert scene.action_name(state, action) == f"onto link {onto}"
    last = int(problem.demonstrations.lengths[0]) - 1
    end = (int(getattr(problem.demonstrations, name)[last]) for name in ("states", "actions"))
    assert scene.action_name(*end) == "arrive"
    chances = scene.chances(problem.policy(problem.box.low), state)
    assert chances.sum() == pytest.approx(1.0)
    assert chances[action] > 0.0
