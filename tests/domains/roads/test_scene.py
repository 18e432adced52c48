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
    problem, network, trips = town
    scene = RoadScene(problem)
    state = int(problem.demonstrations.states[0])
    left, onto = network.turns[state]
    assert scene.state_name(state) == f"from link {left} onto link {onto}"
    assert scene.state_name(problem.mdp.n_states - 1) == "at the destination"
    assert scene.action_name(state, 0).startswith(("onto link ", "arrive"))
    policy = problem.policy(problem.box.from_unit(np.full(3, 0.3)))
    assert scene.chances(policy, state).sum() == pytest.approx(1.0)
    logit = RoadScene(boirl.recursive_logit_problem(network, trips))
    assert logit.state_name(network.n_links + 3) == "on link 3"
    assert logit.action_name(0, 1) == "exit 2"
    assert logit.chances(None, 0) is None
