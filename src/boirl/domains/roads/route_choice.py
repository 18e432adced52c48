"""Route choice as recursive logit: undiscounted, every traveller with its own destination.

A traveller on link `k` moves to a link `a` that can be reached from it, with utility `v(k, a)`, or
leaves the network where `k` leads to his destination `d`, with utility 0. There he may go on as
well (`at_destination="pass"`), or not (`"absorb"`). With `M_ka = exp v(k, a)`, the exponentials of
the values solve a linear system for each destination,

    z_d = M z_d + b_d,    b_d(k) = 1 where k leads to d, else 0,

without the rows of `M` for links that absorb; see `route_values`. The probability of a move is
`M_ka z_d(a) / z_d(k)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from boirl.demonstrations import Demonstrations
from boirl.domains.roads.divergence import Growth, growth_to_destinations
from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.route_values import RouteSystem, dot_rows, solve_system
from boirl.errors import InvalidInputError, SolverError
from boirl.types import FloatArray, IntArray

AtDestination = Literal["absorb", "pass"]


@dataclass(frozen=True, eq=False)
class RouteChoice:
    """The states and actions of travellers with different destinations.

    State `i * n_links + k` is link `k` on the way to destination number `i`; the last state is
    the end of every trip. Actions 0 to `m - 1` take the turns from a link by ascending angle, and
    action `m` ends the trip.

    Args:
        network: The roads.
        destinations: Their names in the network, in ascending order.
        at_destination: On a link that leads to the destination, a trip ends (`"absorb"`), or may
            end or go on (`"pass"`).
    """

    network: RoadNetwork
    destinations: IntArray
    at_destination: AtDestination = "absorb"

    def __post_init__(self) -> None:
        known = get_args(AtDestination)
        if self.at_destination not in known:
            raise InvalidInputError(
                f"at_destination is {self.at_destination!r}; expected "
                f"{' or '.join(map(repr, known))}"
            )

    @property
    def absorbing(self) -> bool:
        """Whether a trip ends on the first link that leads to its destination."""
        return self.at_destination == "absorb"

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

    @cached_property
    def _turns_and_end(self) -> IntArray:
        """The turn that each action takes on each link, -1 for the one that ends a trip."""
        return np.append(self.network.ways_on, np.full((self.network.n_links, 1), -1), axis=1)

    def turns_of(self, states: IntArray, actions: IntArray) -> IntArray:
        """Numbers of the turns that actions take, -1 for the end of a trip and impossible ones."""
        turns = self._turns_and_end[states % self.network.n_links, actions]
        ended = self._ends_here[states] if self.absorbing else states == self.end
        return np.where(ended, -1, turns)

    def next_states(self, states: IntArray, actions: IntArray) -> IntArray:
        """Where actions lead, -1 where they are impossible."""
        turns = self.turns_of(states, actions)
        links = self.network.turns[turns, 1]
        moved = states - states % self.network.n_links + links
        ended = (actions == self.end_trip) & self._ends_here[states]
        return np.where(ended, self.end, np.where(turns >= 0, moved, -1))

    def options(self, states: IntArray) -> tuple[IntArray, IntArray]:
        """The turn of every action in `T` states and the state that it leads to, `T x A` each."""
        actions = np.tile(np.arange(self.n_actions), (len(states), 1))
        rows = np.broadcast_to(np.asarray(states)[:, None], actions.shape)
        return self.turns_of(rows, actions), self.next_states(rows, actions)

    def state_name(self, state: int) -> str:
        """A link and the destination of who is on it."""
        if state == self.end:
            return "the end"
        number, link = divmod(int(state), self.network.n_links)
        return f"link {link} on the way to {self.destinations[number]}"

    def states_at(self, link: int) -> IntArray:
        """The states of being on a link, wherever one goes; none where there is no such link."""
        n = self.network.n_links
        return link + n * np.arange(len(self.destinations) if 0 <= link < n else 0)

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
        states = self.states_of(destination, links)
        early = self._ends_here[states[:-1]]
        if self.absorbing and early.any():
            raise InvalidInputError(
                f"it reaches its destination {destination} on link number {early.argmax() + 1} of "
                f"{len(links)} and goes on; cut it off there, or let trips pass their destination "
                "with at_destination='pass'"
            )
        actions = self.network.action_of_turn[turns]
        return np.append(states, self.end), np.append(actions, self.end_trip)

    @cached_property
    def turn_steps(self) -> tuple[IntArray, IntArray, IntArray]:
        """A state, an action and the next state in which each turn is taken, `T` each.

        The destination is the first on the way to which the turn is possible; -1 where none is,
        because every destination absorbs before it.
        """
        left, entered = self.network.turns.T
        fed = self.leads_to.toarray() > 0.0
        number = fed.argmin(axis=1) if self.absorbing else np.zeros(len(fed), dtype=np.int64)
        never = fed.all(axis=1) if self.absorbing else np.zeros(len(fed), dtype=bool)
        first = number[left] * self.network.n_links
        states = np.where(never[left], -1, first + left)
        return states, self.network.action_of_turn, first + entered

    def solve(self, utilities: FloatArray) -> RouteSystem:
        """The linear systems for all destinations, given the utility of each turn.

        Raises:
            SolverError: The sum over all routes diverges.
        """
        return solve_system(self._weights(utilities), self.leads_to, self.absorbing)

    def log_growth(self, utilities: FloatArray) -> tuple[float, FloatArray] | None:
        """How fast the sum over routes grows with their length, and its slope by the utility of
        each turn, `T`. At 0 and more the sum diverges, see `boirl.domains.roads.divergence`."""
        weights = self._weights(utilities)
        found = (
            growth_to_destinations(weights, self.leads_to) if self.absorbing else Growth.of(weights)
        )
        if found is None:
            return None
        start, end = self.network.turns.T
        slope = found.left[start] * np.exp(utilities) * found.right[end]
        return float(np.log(found.eigenvalue)), slope / slope.sum()

    def _weights(self, utilities: FloatArray) -> sp.csr_array:
        n = self.network.n_links
        return sp.csr_array((np.exp(utilities), self.network.turns.T), shape=(n, n))


@dataclass(frozen=True, eq=False)
class RoutePolicy:
    """How travellers choose their turns.

    Args:
        choice: States and actions.
        utilities: Of each turn.
        values: `log z`, destinations x links; -inf where there is no route.
        system: What was solved; None for a policy that no utilities give.
    """

    choice: RouteChoice
    utilities: FloatArray
    values: FloatArray
    system: RouteSystem | None = None

    @classmethod
    def solve(cls, choice: RouteChoice, utilities: FloatArray) -> RoutePolicy:
        """The policy under the utility of each turn; raises `SolverError` where there is none."""
        system = choice.solve(utilities)
        with np.errstate(divide="ignore"):
            values = np.ascontiguousarray(np.log(np.maximum(system.z, 0.0)).T)
        if not np.isfinite(values[choice.has_route]).all():
            raise SolverError(
                "the utility of some routes is too low for float64 (below about -700 per route); "
                "raise the weights or shorten the box"
            )
        return cls(choice, utilities, values, system)

    def turn_flows(self, starts: IntArray, weights: FloatArray | None = None) -> FloatArray:
        """How often travellers from these starts are expected to take each turn, all together.

        Args:
            starts: A state for each traveller, `N`.
            weights: What each counts, `N`; by default 1.
        """
        assert self.system is not None
        network, z = self.choice.network, np.exp(self.values)
        numbers, origins = np.divmod(starts, network.n_links)
        counts = (1.0 if weights is None else weights) / z[numbers, origins]
        visits = self.system.visits(origins, numbers, counts)
        flows = dot_rows(visits, z.T, *network.turns.T)
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
        return self.log_probabilities_of(*self.choice.options(states))

    def log_probabilities_of(self, turns: IntArray, following: IntArray) -> FloatArray:
        """The same from `RouteChoice.options` of the states."""
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
