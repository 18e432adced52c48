"""Road networks: links, the turns between them, and how to make a decision problem of them.

A traveller on link `b` who came from link `a` is in state `(a, b)`. States are ordered by `b`, then
`a`. For a destination with `m` incoming links there follow `m` arrival states and one absorbing
sink. Actions 0 to `A - 2` take the turns from `b` by ascending angle (ties by link), missing ones
stay in place; the last action goes to the destination where `b` feeds it, and else stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from boirl.domains.roads.attributes import (
    FEATURES,
    Utilities,
    checked_attributes,
    feature_weights,
    utility_features,
    utility_weights,
)
from boirl.domains.roads.layout import lay_out
from boirl.environments.tabular import TabularMDP
from boirl.errors import InvalidInputError
from boirl.rewards import LinearReward
from boirl.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class RoadNetwork:
    """Links `0..n-1`, the turns between them, and where trips may end.

    Args:
        times: Travel time of each link, `n`.
        turns: Link left and link entered of each turn, `T x 2`, ordered by the link entered.
        angles: Angle of each turn, `T`, negative to the left, in [-pi, pi].
        destinations: For each destination, the links that lead to it.
        ends: Start and end of each link on a map, `n x 2 x 2`; None where nobody knows.
        link_attributes: Further attributes of links by name, `n` each.
        turn_attributes: Further attributes of turns by name, `T` each.
    """

    times: FloatArray
    turns: IntArray
    angles: FloatArray
    destinations: Mapping[int, IntArray]
    ends: FloatArray | None = None
    link_attributes: Mapping[str, FloatArray] = field(default_factory=dict)
    turn_attributes: Mapping[str, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        links = checked_attributes(self.link_attributes, self.n_links, "links", FEATURES)
        taken = (*FEATURES, *links)
        turns = checked_attributes(self.turn_attributes, len(self.turns), "turns", taken)
        object.__setattr__(self, "link_attributes", links)
        object.__setattr__(self, "turn_attributes", turns)

    def __repr__(self) -> str:
        return (
            f"RoadNetwork({self.n_links} links, {len(self.turns)} turns, "
            f"{len(self.destinations)} destinations)"
        )

    @property
    def n_links(self) -> int:
        return len(self.times)

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """What utilities may be made of: `FEATURES`, then the attributes of links and turns."""
        return (*FEATURES, *self.link_attributes, *self.turn_attributes)

    @cached_property
    def features(self) -> FloatArray:
        """Time, left turn, constant and u-turn of each turn, `T x 4`."""
        return utility_features(self, FEATURES)

    @cached_property
    def most_turns(self) -> int:
        """The largest number of turns from one link."""
        return int(np.bincount(self.turns[:, 0], minlength=self.n_links).max())

    @cached_property
    def layout(self) -> FloatArray:
        """Start and end of each link, `n x 2 x 2`: as given, or worked out from the turns."""
        return lay_out(self) if self.ends is None else self.ends

    def turn_number(self, came_from: IntArray, link: IntArray) -> IntArray:
        """Number of the turn between two links, -1 where there is none."""
        keys = self.turns[:, 1] * self.n_links + self.turns[:, 0]
        wanted = np.asarray(link) * self.n_links + np.asarray(came_from)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, place, -1)

    @cached_property
    def ways_on(self) -> IntArray:
        """The turns from each link by ascending angle, ties by link entered; -1 where missing."""
        order = np.lexsort((self.turns[:, 1], self.angles, self.turns[:, 0]))
        left = self.turns[order, 0]
        first = np.searchsorted(left, np.arange(self.n_links))
        ways = np.full((self.n_links, self.most_turns), -1)
        ways[left, np.arange(len(order)) - first[left]] = order
        return ways

    @cached_property
    def action_of_turn(self) -> IntArray:
        """The place of each turn in `ways_on` of the link that it leaves, `T`."""
        links, actions = np.nonzero(self.ways_on >= 0)
        places = np.empty(len(self.turns), dtype=np.int64)
        places[self.ways_on[links, actions]] = actions
        return places

    def mdp(self, destination: int, gamma: float) -> TabularMDP:
        """The decision problem of getting to a destination."""
        feeders = self.feeders(destination)
        roads = len(self.turns)
        sink = roads + len(feeders)
        next_states = np.tile(np.arange(sink + 1)[:, None], (1, self.most_turns + 1))
        ways = self.ways_on[self.turns[:, 1]]
        next_states[:roads, :-1] = np.where(ways >= 0, ways, next_states[:roads, :-1])
        for number, link in enumerate(feeders):
            next_states[np.flatnonzero(self.turns[:, 1] == link), -1] = roads + number
        next_states[roads:] = sink
        # The published problem goes on at the destination and at dead ends.
        stays = (next_states == np.arange(sink + 1)[:, None]).all(axis=1)
        return TabularMDP.from_next_states(next_states, gamma, endless=stays)

    def feeders(self, destination: int) -> IntArray:
        """The links that lead to a destination, in ascending order."""
        if destination not in self.destinations:
            known = ", ".join(map(str, sorted(self.destinations)[:5]))
            raise InvalidInputError(
                f"there is no destination {destination}; there are {len(self.destinations)}, "
                f"such as {known}"
            )
        return np.sort(self.destinations[destination])

    def reward(
        self,
        destination: int,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        utilities: Utilities | None = None,
    ) -> LinearReward:
        """A weighted sum of features, paid for being in a state; 0 at the destination.

        Args:
            destination: Where trips go.
            bounds: Of the weights of `FEATURES`; those without are held at 0, and `fix` gives them
                another value.
            utilities: Other attributes and products instead, see `Utilities`.
        """
        if utilities is None:
            parameters = feature_weights(bounds or {})
        else:
            parameters = utility_weights(self, utilities)
        features = utility_features(self, [parameter.name for parameter in parameters])
        arrivals = np.zeros((len(self.feeders(destination)) + 1, len(parameters)))
        return LinearReward(np.concatenate([features, arrivals]), parameters)
