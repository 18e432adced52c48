"""Road networks with trips to one destination: the real town of Borlange, and generated ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from boirl.datasets import data_folder
from boirl.demonstrations import Demonstrations
from boirl.domains.roads.attributes import Utilities
from boirl.domains.roads.files import load_road_network
from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.recursive_logit import RecursiveLogitProblem, recursive_logit_problem
from boirl.domains.roads.town import generate_town
from boirl.errors import InvalidInputError
from boirl.policies import Bellman, TabularPolicy, TabularSolver
from boirl.policies.tabular import expected_visits
from boirl.problem.tabular import TabularProblem
from boirl.rewards import LinearReward
from boirl.types import FloatArray, IntArray

BoxName = Literal["narrow", "wide"]
BOXES: dict[str, tuple[float, float]] = {"narrow": (-2.5, 0.0), "wide": (-2.5, 2.5)}
TRUTH = (-2.0, -1.0, -1.0)
U_TURN_WEIGHT = -20.0
GAMMA = 0.99
HORIZON = 100
BORLANGE_DESTINATION = 7622


@dataclass(frozen=True, eq=False, repr=False)
class RoadProblem(TabularProblem):
    """A problem on a road network, which is kept for maps and further trips."""

    network: RoadNetwork = field(kw_only=True)
    destination: int = field(kw_only=True)

    def changed(
        self,
        closed: Sequence[int] = (),
        start: int | Sequence[int] | None = None,
        destination: int | None = None,
    ) -> RoadProblem:
        """The same travellers with closed links or another destination, without trips.

        See `boirl.domains.roads.changes`.
        """
        from boirl.domains.roads.changes import change_town

        return change_town(self, closed, start, destination)

    def state_name(self, state: int) -> str:
        """The link of a state."""
        turns = self.network.turns
        return f"link {turns[state, 1]}" if state < len(turns) else "the destination"

    def states_at(self, link: int) -> IntArray:
        """The states of being on a link, wherever one came from."""
        return np.flatnonzero(self.network.turns[:, 1] == link)

    def demonstrated_visits(self) -> FloatArray:
        """How often a demonstration passes each link, on average."""
        states = self.demonstrations.states
        moved = np.append(True, states[1:] != states[:-1]) | (self.demonstrations.step_numbers == 0)
        return self._by_link(np.bincount(states[moved], minlength=self.mdp.n_states).astype(float))

    def expected_visits(self, policy: TabularPolicy) -> FloatArray:
        """How often a policy passes each link, from the demonstrations' starts.

        Exact: no sampling. Over the horizon of the problem; waiting on a link counts once.
        """
        next_states = self.mdp.next_states
        assert next_states is not None
        moves = next_states != np.arange(self.mdp.n_states)[:, None]
        starts = np.bincount(self.demonstrations.starts, minlength=self.mdp.n_states)
        left = expected_visits(self.mdp, policy, starts.astype(np.float64), self.steps - 1)
        passed = starts + self.mdp.chain(policy.probabilities * moves).T @ left
        return self._by_link(passed)

    def _by_link(self, by_state: FloatArray) -> FloatArray:
        """Visits of states summed by link, for one demonstration; the destination is left out."""
        links = self.network.turns[:, 1]
        roads = by_state[: len(links)] / len(self.demonstrations)
        return np.bincount(links, roads, self.network.n_links).astype(np.float64)


def build_borlange_virtual(
    data: str | None = None,
    box: BoxName = "wide",
    bellman: Bellman = "max",
    seed: int = 0,
    n_demonstrations: int = 635,
) -> TabularProblem:
    network, _ = load_road_network(data_folder("borlange", data))
    return _virtual(network, BORLANGE_DESTINATION, box, bellman, seed, n_demonstrations)


def build_borlange_real(
    data: str | None = None, box: BoxName = "wide", bellman: Bellman = "max"
) -> TabularProblem:
    network, trips = load_road_network(data_folder("borlange", data))
    chosen = trips.to(BORLANGE_DESTINATION)
    return road_problem(network, BORLANGE_DESTINATION, chosen, BOXES[_box(box)], bellman)


def build_borlange_recursive_logit(data: str | None = None) -> RecursiveLogitProblem:
    # Its trips end at dummy links, and 80 of them pass a link that leads to theirs before.
    network, trips = load_road_network(data_folder("borlange", data))
    return recursive_logit_problem(network, trips, at_destination="pass")


def build_road_network(
    n_links: int = 2000,
    seed: int = 0,
    box: BoxName = "wide",
    bellman: Bellman = "max",
    n_demonstrations: int = 200,
) -> TabularProblem:
    network = generate_town(n_links, seed)
    (destination,) = network.destinations
    return _virtual(network, destination, box, bellman, seed, n_demonstrations)


def road_problem(
    network: RoadNetwork,
    destination: int,
    trips: Sequence[IntArray],
    bounds: tuple[float, float] | None = None,
    bellman: Bellman = "max",
    *,
    utilities: Utilities | None = None,
) -> RoadProblem:
    """The problem of explaining trips to a destination, given as links from the origin on.

    Args:
        network: The roads.
        destination: Where all trips go.
        trips: Links of each trip.
        bounds: Of the weights of time, left turns and links; that of u-turns is held at -20.
        bellman: Which policy a reward has.
        utilities: Instead of `bounds`, the attributes of the network that enter and products of two
            (`"a*b"`), with the bounds of each weight, or the weight where it is held fixed.
    """
    if (bounds is None) == (utilities is None):
        found = "neither" if bounds is None else "both"
        raise InvalidInputError(
            f"{found} of bounds and utilities are given; expected bounds=(low, high) for all "
            "weights, or utilities={name: (low, high)} for each"
        )
    if bounds is not None:
        reward = _reward(network, destination, bounds)
    else:
        reward = network.reward(destination, utilities=utilities)
    return RoadProblem(
        mdp=network.mdp(destination, GAMMA),
        reward=reward,
        demonstrations=trips_to_demonstrations(network, destination, trips),
        solver=TabularSolver(bellman),
        horizon=HORIZON,
        name="trips",
        network=network,
        destination=destination,
    )


def trips_to_demonstrations(
    network: RoadNetwork, destination: int, trips: Sequence[IntArray]
) -> Demonstrations:
    """Trips as states and actions, from the first turn to the step onto the destination."""
    next_states = network.mdp(destination, GAMMA).next_states
    assert next_states is not None
    feeders = network.feeders(destination)
    trajectories = []
    for number, links in enumerate(trips):
        if len(links) < 2:
            raise InvalidInputError(
                f"trip {number} has {len(links)} links; expected at least two, for a first turn"
            )
        turns = network.turn_number(links[:-1], links[1:])
        arrival = len(network.turns) + int(np.searchsorted(feeders, links[-1]))
        states = np.concatenate([turns, [arrival]])
        actions = (next_states[states[:-1]] == states[1:, None]).argmax(axis=1)
        trajectories.append((states, actions))
    return Demonstrations.from_trajectories(trajectories)


def _virtual(
    network: RoadNetwork,
    destination: int,
    box: BoxName,
    bellman: Bellman,
    seed: int,
    n_demonstrations: int,
) -> RoadProblem:
    """Trajectories of the true reward's policy from distinct starts all over the network."""
    mdp = network.mdp(destination, GAMMA)
    reward = _reward(network, destination, BOXES[_box(box)])
    solver = TabularSolver(bellman)
    expert = solver.solve(mdp, mdp.expected_rewards(reward, np.array([TRUTH]))[0])
    rng = np.random.default_rng(seed)
    starts = rng.permutation(len(network.turns))[:n_demonstrations]
    return RoadProblem(
        mdp=mdp,
        reward=reward,
        demonstrations=expert.sample(mdp, starts, HORIZON, rng),
        solver=solver,
        horizon=HORIZON,
        truth=TRUTH,
        network=network,
        destination=destination,
    )


def _reward(network: RoadNetwork, destination: int, bounds: tuple[float, float]) -> LinearReward:
    free = dict.fromkeys(("time", "left", "constant"), bounds)
    return network.reward(destination, free).fix(**{"u-turn": U_TURN_WEIGHT})


def _box(name: str) -> str:
    if name not in BOXES:
        raise InvalidInputError(f"the box is {name!r}; expected {' or '.join(BOXES)}")
    return name
