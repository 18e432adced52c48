"""A town made up from a seed: crossings, two-way and one-way streets, angles and travel times."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.trips import Trips
from boirl.errors import InvalidInputError
from boirl.types import FloatArray, IntArray

SMALLEST_TOWN = 20
STREETS_KEPT = 0.9
ONE_WAY = 0.15
TOWN_DESTINATION = 0
U_TURN_FREE = 3.0
"""Sharp bends are kept from counting as u-turns, which lead back where one came from."""

TIME_PER_LENGTH = 0.2
PACES = (0.5, 1.0, 1.5)
"""Times per length on main roads and on two kinds of others, relative to the usual one."""

RIGHT_TURN = (0.5236, 3.1)


def generate_town(n_links: int, seed: int) -> RoadNetwork:
    """A town of about `n_links` one-directional links and one destination near its middle.

    Crossings lie on a shaken grid. Some neighbours are not joined, some streets are one-way. Only
    what can be reached from everywhere, and from where everything can be reached, is kept.

    Links have the attributes `length` and `main`, whether they are main roads; turns have `right`.
    """
    if n_links < SMALLEST_TOWN:
        raise InvalidInputError(f"n_links is {n_links}; expected at least {SMALLEST_TOWN}")
    rng = np.random.default_rng(seed)
    # A crossing has two streets to its right and below, of which STREETS_KEPT exist, each with
    # two links, or one where it is one-way.
    links_a_crossing = 2 * STREETS_KEPT * (2 - ONE_WAY)
    side = math.ceil(math.sqrt(n_links / links_a_crossing)) + 1
    x, y = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    places = np.stack([x, y], axis=-1).reshape(-1, 2) + rng.uniform(-0.3, 0.3, (side**2, 2))
    links = _streets(side, rng)
    links = links[_strongly_connected(links, side**2)]
    lengths = np.linalg.norm(places[links[:, 1]] - places[links[:, 0]], axis=1)
    paces = rng.choice(PACES, size=len(links))
    turns = _turns(links, side**2)
    angles = _angles(places, links, turns)
    right = (angles > RIGHT_TURN[0]) & (angles < RIGHT_TURN[1])
    middle = np.linalg.norm(places[links[:, 1]] - (side - 1) / 2, axis=1)
    feeders = np.sort(np.argsort(middle, kind="stable")[:2])
    return RoadNetwork(
        times=TIME_PER_LENGTH * lengths * paces,
        turns=turns,
        angles=angles,
        destinations={TOWN_DESTINATION: feeders},
        ends=places[links],
        link_attributes={"length": lengths, "main": (paces == PACES[0]).astype(float)},
        turn_attributes={"right": right.astype(float)},
    )


def quickest_trips(network: RoadNetwork, destinations: IntArray, origins: IntArray) -> Trips:
    """A trip from each of `N` links to the destination beside it, by time.

    It ends on the first link that leads to its destination.
    """
    n = network.n_links
    left, entered = network.turns.T
    # Against the direction of travel, and links that take no time are still links.
    back = sp.csr_array((np.maximum(network.times[entered], 1e-9), (entered, left)), shape=(n, n))
    links = []
    following: dict[int, IntArray] = {}
    for destination, origin in zip(destinations.tolist(), origins.tolist(), strict=True):
        if destination not in following:
            _, following[destination], _ = dijkstra(
                back,
                indices=network.feeders(destination),
                min_only=True,
                return_predecessors=True,
            )
        trip = [origin]
        while following[destination][trip[-1]] >= 0:
            trip.append(int(following[destination][trip[-1]]))
        if trip[-1] not in network.feeders(destination):
            raise InvalidInputError(
                f"no route leads from link {origin} to destination {destination}; expected one"
            )
        links.append(np.array(trip))
    return Trips(np.asarray(destinations), tuple(links))


def _streets(side: int, rng: np.random.Generator) -> IntArray:
    """Crossing left and crossing reached of each link, `n x 2`."""
    number = np.arange(side**2).reshape(side, side)
    across = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    along = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    streets = np.concatenate([across, along])
    streets = streets[rng.random(len(streets)) < STREETS_KEPT]
    one_way, turned = rng.random((2, len(streets)))
    forth = streets[(one_way >= ONE_WAY) | (turned < 0.5)]
    back = streets[(one_way >= ONE_WAY) | (turned >= 0.5)][:, ::-1]
    links = np.concatenate([forth, back])
    return links[np.lexsort((links[:, 1], links[:, 0]))]


def _strongly_connected(links: IntArray, n_crossings: int) -> np.ndarray:
    """Mask of the links within the largest part in which everything reaches everything."""
    graph = sp.csr_array((np.ones(len(links)), links.T), shape=(n_crossings, n_crossings))
    _, part = connected_components(graph, connection="strong")
    largest = np.bincount(part).argmax()
    return (part[links] == largest).all(axis=1)


def _turns(links: IntArray, n_crossings: int) -> IntArray:
    """All pairs of a link and one that starts where it ends, by the link entered."""
    first = np.searchsorted(links[:, 0], np.arange(n_crossings + 1))
    ways = np.diff(first)[links[:, 1]]
    left = np.repeat(np.arange(len(links)), ways)
    offset = np.arange(len(left)) - np.repeat(np.cumsum(ways) - ways, ways)
    entered = first[links[left, 1]] + offset
    turns = np.stack([left, entered], axis=1)
    return turns[np.lexsort((turns[:, 0], turns[:, 1]))]


def _angles(places: FloatArray, links: IntArray, turns: IntArray) -> FloatArray:
    heading = places[links[:, 1]] - places[links[:, 0]]
    direction = np.arctan2(heading[:, 1], heading[:, 0])
    change = direction[turns[:, 0]] - direction[turns[:, 1]]
    angle = (change + np.pi) % (2 * np.pi) - np.pi
    back = links[turns[:, 0], 0] == links[turns[:, 1], 1]
    return np.where(back, np.pi, np.clip(angle, -U_TURN_FREE, U_TURN_FREE))
