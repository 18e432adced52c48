"""Towns with trips, and where the data of Borlange are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import boirl
from boirl.domains.roads.files import Trips
from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.problem import RoadProblem
from boirl.domains.roads.recursive_logit import RecursiveLogitProblem, recursive_logit_problem
from boirl.domains.roads.route_choice import RouteChoice, RoutePolicy
from boirl.domains.roads.town import generate_town

BORLANGE = Path(__file__).parents[4] / "shared" / "borlange"
LOGIT_TRUTH = np.array([-2.0, -1.0, -1.0, -4.0])


def town_with_trips(
    seed: int, count: int = 60, n_links: int = 60, ends: bool = True
) -> tuple[RoadNetwork, Trips]:
    """A generated town with three destinations, and trips of a recursive logit to them."""
    network = generate_town(n_links, seed)
    last = network.n_links - 1
    others = {7: np.array([last]), 9: np.array([5, 20, last])}
    network = replace(network, destinations={**network.destinations, **others})
    if not ends:
        network = replace(network, ends=None)
    choice = RouteChoice(network, np.array([0, 7, 9]))
    rng = np.random.default_rng(seed)
    starts = rng.integers(choice.end, size=count)
    policy = RoutePolicy.solve(choice, network.features @ LOGIT_TRUTH)
    sampled = policy.sample(starts, 300, rng)
    assert all(one.next_states[-1] == choice.end for one in sampled)
    links = tuple(states[states != choice.end] % network.n_links for states, _, _ in sampled)
    return network, Trips(choice.destinations[starts // network.n_links], links)


@pytest.fixture(scope="session")
def roads() -> tuple[RoadNetwork, Trips]:
    return town_with_trips(0)


@pytest.fixture(scope="session")
def logit_problem(roads: tuple[RoadNetwork, Trips]) -> RecursiveLogitProblem:
    return recursive_logit_problem(*roads)


@pytest.fixture(scope="session")
def town_problem() -> RoadProblem:
    """A generated town with trips of the true reward."""
    return boirl.load_problem("road-network", n_links=200)


@pytest.fixture(scope="session")
def borlange_folder() -> Path:
    if not BORLANGE.exists():
        pytest.skip("the Borlange data are not at ../shared/borlange")
    return BORLANGE
