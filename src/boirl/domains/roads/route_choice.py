"""Route choice as recursive logit: undiscounted, every traveller with its own destination.

A traveller on link `k` moves to a link `a` that can be reached from it, with utility `v(k, a)`, or
leaves the network where `k` leads to his destination `d`, with utility 0. With
`M_ka = exp v(k, a)`, the exponentials of the values solve a linear system for each destination,

    z_d = M z_d + b_d,    b_d(k) = 1 where k leads to d, else 0,

and all of them share the matrix. The probability of a move is `M_ka z_d(a) / z_d(k)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import SuperLU, splu

from boirl.demonstrations import Demonstrations
from boirl.domains.roads.network import RoadNetwork
from boirl.errors import InvalidInputError, SolverError
from boirl.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class RouteChoice:
    """The states and actions of travellers with different destinations.

    State `i * n_links + k` is link `k` on the way to destination number `i`; the last state is
    the end of every trip. Actions 0 to `m - 1` take the turns from a link by ascending angle, and
    action `m` ends the trip.

    Args:
        network: The roads.
        destinations: Their names in the network, in ascending order.
    """

    network: RoadNetwork
    destinations: IntArray

    @property
    def n_states(self) -> int:
        return len(self.destinations) * self.network.n_links + 1

    @property
    def n_actions(self) -> int:
        return self.network.most_turns + 1

    @property
    def end(self) -> int:
        """The state after the end of a trip."""
        return self.n_states - 1

    @property
    def end_trip(self) -> int:
        """The action that ends a trip, and the only one after it."""
        return self.network.most_turns

    @cached_property
    def leads_to(self) -> sp.csc_array:
        """1 where a link leads to a destination, links x destinations."""
        links = [self.network.feeders(name) for name in self.destinations.tolist()]
        columns = np.repeat(np.arange(len(links)), [len(one) for one in links])
        rows = np.concatenate(links)
        shape = (self.network.n_links, len(links))
        return sp.csc_array((np.ones(len(rows)), (rows, columns)), shape=shape)

    @cached_property
    def has_route(self) -> np.ndarray:
        """Whether a route leads from a link to a destination, destinations x links."""
        n = self.network.n_links
        left, entered = self.network.turns.T
        back = sp.csr_array((np.ones(len(left)), (entered, left)), shape=(n, n))
        # Links that reach one another have the same routes, so one search serves all of them.
        _, part = connected_components(back, connection="strong")
        sources: dict[int, np.ndarray] = {}
        routes = np.zeros((len(self.destinations), n), dtype=bool)
        for number, name in enumerate(self.destinations.tolist()):
            for link in self.network.feeders(name).tolist():
                if part[link] not in sources:
                    sources[part[link]] = np.zeros(n, dtype=bool)
                    reached = breadth_first_order(back, link, return_predecessors=False)
                    sources[part[link]][reached] = True
                routes[number] |= sources[part[link]]
        return routes

    @cached_property
    def _ends_here(self) -> np.ndarray:
        """Whether a trip may end in a state."""
        ends = np.zeros(self.n_states, dtype=bool)
        leads = self.leads_to.tocoo()
        links, numbers = leads.coords
        ends[numbers * self.network.n_links + links] = True
        ends[self.end] = True
        return ends

    def turns_of(self, states: IntArray, actions: IntArray) -> IntArray:
        """Numbers of the turns that actions take, -1 for the end of a trip and impossible ones."""
        ways = np.append(self.network.ways_on, np.full((self.network.n_links, 1), -1), axis=1)
        turns = ways[states % self.network.n_links, actions]
        return np.where(states == self.end, -1, turns)

    def next_states(self, states: IntArray, actions: IntArray) -> IntArray:
        """Where actions lead, -1 where they are impossible."""
        turns = self.turns_of(states, actions)
        links = self.network.turns[turns, 1]
        moved = states - states % self.network.n_links + links
        ended = (actions == self.end_trip) & self._ends_here[states]
        return np.where(ended, self.end, np.where(turns >= 0, moved, -1))

    def states_of(self, destination: int, links: IntArray) -> IntArray:
        """The states of a traveller to a destination on some links."""
        number = int(np.searchsorted(self.destinations, destination))
        if number == len(self.destinations) or self.destinations[number] != destination:
            raise InvalidInputError(f"no trips go to destination {destination}")
        return number * self.network.n_links + np.asarray(links)

    def demonstrate(self, destination: int, links: IntArray) -> tuple[IntArray, IntArray]:
        """States and actions of a trip along links, from the origin to its end."""
        turns = self.network.turn_number(links[:-1], links[1:])
        if (turns < 0).any():
            gap = int((turns < 0).argmax())
            raise InvalidInputError(f"no turn leads from link {links[gap]} to {links[gap + 1]}")
        actions = (self.network.ways_on[links[:-1]] == turns[:, None]).argmax(axis=1)
        states = np.append(self.states_of(destination, links), self.end)
        return states, np.append(actions, self.end_trip)

    def factorise(self, utilities: FloatArray) -> SuperLU:
        """A factorisation of `I - M`, given the utility of each turn.

        Raises:
            SolverError: The sum over all routes diverges.
        """
        n = self.network.n_links
        weights = sp.csr_array((np.exp(utilities), self.network.turns.T), shape=(n, n))
        try:
            factors = splu(sp.csc_matrix(sp.identity(n) - weights))
            # The sum over routes of any length exists if and only if this is positive everywhere.
            reach = factors.solve(np.ones(n))
        except RuntimeError:
            reach = np.full(n, np.nan)
        if not (np.isfinite(reach).all() and (reach > 0.0).all()):
            raise SolverError(
                "the undiscounted sum over routes diverges: going round in circles costs too "
                f"little (the mean utility of a turn is {utilities.mean():.3g}); lower the weights"
            )
        return factors


@dataclass(frozen=True, eq=False)
class RoutePolicy:
    """How travellers choose their turns.

    Args:
        choice: States and actions.
        utilities: Of each turn.
        values: `log z`, destinations x links; -inf where there is no route.
        factors: Of `I - M`; None for a policy that no utilities give.
    """

    choice: RouteChoice
    utilities: FloatArray
    values: FloatArray
    factors: SuperLU | None = None

    @classmethod
    def solve(cls, choice: RouteChoice, utilities: FloatArray) -> RoutePolicy:
        """The policy under the utility of each turn; raises `SolverError` where there is none."""
        factors = choice.factorise(utilities)
        z = factors.solve(choice.leads_to.toarray())
        with np.errstate(divide="ignore"):
            values = np.ascontiguousarray(np.log(np.maximum(z, 0.0)).T)
        if not np.isfinite(values[choice.has_route]).all():
            raise SolverError(
                "the utility of some routes is too low for float64 (below about -700 per route); "
                "raise the weights or shorten the box"
            )
        return cls(choice, utilities, values, factors)

    def turn_flows(self, starts: IntArray) -> FloatArray:
        """How often travellers from these starts are expected to take each turn, all together."""
        assert self.factors is not None
        network = self.choice.network
        z = np.exp(self.values.T)
        destinations, origins = np.divmod(starts, network.n_links)
        sources = np.zeros_like(z)
        np.add.at(sources, (origins, destinations), 1.0 / z[origins, destinations])
        reached = self.factors.solve(sources, trans="T")
        left, entered = network.turns.T
        flows: FloatArray = np.einsum("td,td->t", reached[left], z[entered])
        return flows * np.exp(self.utilities)

    @classmethod
    def uniform(cls, choice: RouteChoice) -> RoutePolicy:
        """Every turn from which there is a route, and the end of the trip, equally likely."""
        values = np.where(choice.has_route, 0.0, -np.inf)
        return cls(choice, np.zeros(len(choice.network.turns)), values)

    def log_prob(self, states: IntArray, actions: IntArray) -> FloatArray:
        """Log probability of each of `T` actions."""
        return self.log_probabilities(states)[np.arange(len(states)), actions]

    def log_probabilities(self, states: IntArray) -> FloatArray:
        """Log probability of every action in `T` states, `T x A`."""
        choice = self.choice
        actions = np.tile(np.arange(choice.n_actions), (len(states), 1))
        rows = np.broadcast_to(np.asarray(states)[:, None], actions.shape)
        following = choice.next_states(rows, actions)
        turns = choice.turns_of(rows, actions)
        utility = np.where(turns >= 0, self.utilities[turns], 0.0)
        values = np.append(self.values.reshape(-1), 0.0)[following]
        scores = np.where(following >= 0, utility + values, -np.inf)
        top = scores.max(axis=1, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = top + np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
            return np.where(np.isfinite(total), scores - total, -np.inf)

    def sample(self, starts: IntArray, horizon: int, rng: np.random.Generator) -> Demonstrations:
        """Roll out a trajectory of `horizon` steps from each of `N` starts, all at once."""
        visited = np.empty((len(starts), horizon + 1), dtype=np.int64)
        actions = np.empty((len(starts), horizon), dtype=np.int64)
        visited[:, 0] = starts
        for step in range(horizon):
            states = visited[:, step]
            present, where = np.unique(states, return_inverse=True)
            probabilities = np.exp(self.log_probabilities(present))
            cumulative = np.cumsum(probabilities, axis=1)
            # What rounding leaves over goes to the last action that is possible.
            cumulative[cumulative >= cumulative[:, -1:]] = np.inf
            drawn = rng.random(len(starts))[:, None]
            actions[:, step] = (drawn >= cumulative[where]).sum(axis=1)
            visited[:, step + 1] = self.choice.next_states(states, actions[:, step])
        return Demonstrations(
            states=visited[:, :-1].reshape(-1),
            actions=actions.reshape(-1),
            next_states=visited[:, 1:].reshape(-1),
            lengths=np.full(len(starts), horizon),
        )


@dataclass(frozen=True, eq=False)
class KeptRoutePolicy:
    """What an evaluation keeps of a `RoutePolicy`: its choices where trips went, and its flows.

    The values of all links to all destinations are kept in small networks; in large ones they would
    take many times the space. Asked for what it did not keep, it solves for the whole policy.

    Args:
        choice: States and actions.
        utilities: Of each turn.
        states: The states of trips, in ascending order, `n`.
        table: Log probability of every action there, `n x A`.
        starts: Where the trips started, `N`.
        flows: How often all travellers together are expected to take each turn.
        values: As of `RoutePolicy`; None where they were not kept.
    """

    choice: RouteChoice
    utilities: FloatArray
    states: IntArray
    table: FloatArray
    starts: IntArray
    flows: FloatArray
    values: FloatArray | None = None

    @cached_property
    def solved(self) -> RoutePolicy:
        """The whole policy, by one further policy optimisation."""
        return RoutePolicy.solve(self.choice, self.utilities)

    @cached_property
    def _everywhere(self) -> RoutePolicy:
        """The choices in all states: from the values that were kept, or solved for."""
        if self.values is None:
            return self.solved
        return RoutePolicy(self.choice, self.utilities, self.values)

    def log_prob(self, states: IntArray, actions: IntArray) -> FloatArray:
        """Log probability of each of `T` actions."""
        return self.log_probabilities(states)[np.arange(len(states)), actions]

    def log_probabilities(self, states: IntArray) -> FloatArray:
        """Log probability of every action in `T` states, `T x A`."""
        place = np.minimum(np.searchsorted(self.states, states), len(self.states) - 1)
        if np.array_equal(self.states[place], states):
            return self.table[place]
        return self._everywhere.log_probabilities(states)

    def turn_flows(self, starts: IntArray) -> FloatArray:
        """How often travellers from these starts are expected to take each turn, all together."""
        if np.array_equal(starts, self.starts):
            return self.flows
        return self.solved.turn_flows(starts)

    def sample(self, starts: IntArray, horizon: int, rng: np.random.Generator) -> Demonstrations:
        """Roll out a trajectory of `horizon` steps from each of `N` starts, all at once."""
        return self._everywhere.sample(starts, horizon, rng)
