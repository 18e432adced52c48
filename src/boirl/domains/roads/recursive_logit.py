"""Trips to many destinations at once, explained by one reward: recursive logit."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boirl.demonstrations import UNKNOWN, Demonstrations
from boirl.domains.roads.attributes import Utilities, feature_weights, utility_weights
from boirl.domains.roads.diverging_rewards import DivergingRewards
from boirl.domains.roads.kept_policy import KeptRoutePolicy, kept_arrays
from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.observed import ObservedTrips
from boirl.domains.roads.route_choice import AtDestination, RouteChoice, RoutePolicy
from boirl.domains.roads.trips import TripDemonstrations, Trips, without_padding
from boirl.domains.roads.turn_rewards import TurnReward, TurnUtilities
from boirl.errors import DemonstrationError, InvalidInputError, SolverError
from boirl.evaluation import Evaluation, PolicyArrays
from boirl.problem.base import DEMONSTRATION_STREAM, Problem
from boirl.problem.behaviour import largest_differences, mean_total_variation
from boirl.rewards import RewardFamily, Transitions
from boirl.threads import single_thread
from boirl.types import Difference, FloatArray, HalfSpace, IntArray, Report

BOUNDS: dict[str, tuple[float, float]] = {
    "time": (-5.0, 1.0),
    "left": (-5.0, 1.0),
    "constant": (-5.0, 1.0),
    "u-turn": (-10.0, 1.0),
}


@dataclass(frozen=True, eq=False, repr=False)
class RecursiveLogitProblem(Problem[RoutePolicy | KeptRoutePolicy]):
    """One reward for all travellers, wherever they go.

    Args:
        choice: The roads and the destinations.
        reward: The family whose theta is sought: a `TurnReward`, or another family that pays for
            turns alone, wherever they are taken, and nothing for the end of a trip.
        demonstrations: Trips, see `RouteChoice` for their states and actions. With the weights of
            `TripDemonstrations`, the NLL is a weighted mean.
    """

    choice: RouteChoice
    reward: RewardFamily
    demonstrations: Demonstrations
    truth: tuple[float, ...] | None = None
    name: str = "unnamed"
    recipe: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "demonstrations", self.complete(self.demonstrations))
        self._turn_utilities.check(self.demonstrations)

    @property
    def gamma(self) -> float:
        return 1.0

    @property
    def has_demonstrations(self) -> bool:
        return True

    @property
    def network(self) -> RoadNetwork:
        """The roads."""
        return self.choice.network

    def with_demonstrations(self, demonstrations: Demonstrations) -> RecursiveLogitProblem:
        return replace(self, demonstrations=demonstrations)

    def utilities(self, theta: ArrayLike) -> FloatArray:
        """The utility of each turn."""
        return self._turn_utilities(self.box.check_one(theta))

    @cached_property
    def _turn_utilities(self) -> TurnUtilities:
        return TurnUtilities(self.choice, self.reward)

    def policy(self, theta: ArrayLike) -> RoutePolicy:
        return RoutePolicy.solve(self.choice, self.utilities(theta))

    def log_likelihoods(self, policy: RoutePolicy | KeptRoutePolicy) -> FloatArray:
        """Of each trip, `N`, times its weight where trips have weights, which are 1 on average."""
        if isinstance(policy, RoutePolicy) and policy.system is not None:
            unweighted = self._observed.log_likelihoods(policy)
        else:
            unweighted = super().log_likelihoods(policy)
        weights = self._observed.weights
        return unweighted if weights is None else weights * unweighted

    @cached_property
    def _observed(self) -> ObservedTrips:
        return ObservedTrips(self.choice, self.demonstrations)

    def _flows(self, policy: RoutePolicy | KeptRoutePolicy) -> FloatArray:
        return policy.turn_flows(self.demonstrations.starts, self._observed.weights)

    def probed_transitions(self) -> Transitions:
        return self._turn_utilities.transitions

    def _evaluate(self, theta: FloatArray, seed: int | None, report: Report) -> Evaluation:
        policy = self.policy(theta)
        log_likelihoods = self.log_likelihoods(policy)
        flows = self._flows(policy)
        return Evaluation(
            tuple(theta.tolist()),
            -float(log_likelihoods.mean()),
            log_likelihoods=log_likelihoods,
            gradient=None if self._observed.unfinished.any() else self._gradient(theta, flows),
            policies=(self._compact(policy, flows),),
        )

    def compact_policy(self, policy: RoutePolicy | KeptRoutePolicy) -> PolicyArrays:
        """Its choices where trips went, its flows and, in small networks, all of its values."""
        return self._compact(policy, self._flows(policy))

    def _compact(self, policy: RoutePolicy | KeptRoutePolicy, flows: FloatArray) -> PolicyArrays:
        seen = self._observed
        if isinstance(policy, RoutePolicy):
            table = policy.log_probabilities_of(*seen.options)
        else:
            table = policy.log_probabilities(seen.states)
        starts = self.demonstrations.starts
        return kept_arrays(seen.states, table, starts, flows, policy.values, seen.weights)

    def _restore_policy(self, arrays: PolicyArrays, evaluation: Evaluation) -> KeptRoutePolicy:
        return KeptRoutePolicy.restore(self.choice, self.utilities(evaluation.theta), arrays)

    def nll_batch(self, thetas: ArrayLike) -> FloatArray:
        with single_thread(), ThreadPoolExecutor(os.cpu_count()) as cores:
            return np.array(list(cores.map(self._nll_or_nan, self.box.check(thetas))))

    def _nll_or_nan(self, theta: FloatArray) -> float:
        try:
            return self.nll(theta)
        except SolverError:
            return float("nan")

    def gradient(self, theta: ArrayLike) -> FloatArray:
        """Derivative of the NLL by theta, `d`, exact.

        What counts of a trip is the sum of its features, less its expectation among all routes
        from the same origin to the same destination.

        Raises:
            DemonstrationError: A trip does not end at its destination.
            InvalidInputError: The reward family is not differentiable.
            SolverError: The sum over routes diverges.
        """
        if self._observed.unfinished.any():
            raise DemonstrationError(self._no_gradient())
        chosen = self.box.check_one(theta)
        gradient = self._gradient(chosen, self._flows(self.policy(chosen)))
        if gradient is None:
            raise InvalidInputError(f"there is no gradient: {self._no_gradient()}")
        return gradient

    def _gradient(self, theta: FloatArray, flows: FloatArray) -> FloatArray | None:
        surplus = (flows - self._observed.turn_counts) / len(self.demonstrations)
        return self._turn_utilities.gradient(theta, surplus)

    def ruled_out_by(self, theta: FloatArray) -> HalfSpace | None:
        """Rewards for which the sum over routes diverges, where rewards are linear.

        How fast it grows is convex in theta, see `boirl.domains.roads.divergence`.
        """
        return self._diverging(theta)

    @cached_property
    def _diverging(self) -> DivergingRewards:
        return DivergingRewards(self._turn_utilities)

    def demonstrated_visits(self) -> FloatArray:
        """How often a demonstration passes each link, on average."""
        return self._by_link(self._observed.turn_counts)

    def expected_visits(self, policy: RoutePolicy | KeptRoutePolicy) -> FloatArray:
        """How often a policy passes each link, from the demonstrations' starts."""
        return self._by_link(self._flows(policy))

    def _by_link(self, by_turn: FloatArray) -> FloatArray:
        n_links = self.network.n_links
        entered = np.bincount(self.network.turns[:, 1], weights=by_turn, minlength=n_links)
        return (self._observed.origin_counts + entered) / len(self.demonstrations)

    def complete(self, demonstrations: Demonstrations) -> Demonstrations:
        demonstrations.numbered().check_fits(self.choice.n_states, self.choice.n_actions)
        reached = self.choice.next_states(demonstrations.states, demonstrations.actions)
        given = demonstrations.next_states
        wrong = (reached < 0) | ((given != UNKNOWN) & (given != reached))
        if wrong.any():
            step = int(wrong.argmax())
            raise DemonstrationError(
                f"trajectory {demonstrations.trajectory_numbers[step]}, step "
                f"{demonstrations.step_numbers[step]}: action {demonstrations.actions[step]} on "
                f"link {demonstrations.states[step] % self.network.n_links} is not a turn of the "
                "network, or leads elsewhere, or comes where the trip has arrived; check the "
                "numbering of links and actions, or let trips pass with at_destination='pass'"
            )
        return replace(demonstrations, next_states=reached)

    @property
    def steps(self) -> int:
        """Steps of a trip that is drawn, at most: ten times those of the longest observed one."""
        return max(100, 10 * int(self.demonstrations.lengths.max()))

    @property
    def end_state(self) -> int:
        """Where trips have ended."""
        return self.choice.end

    def roll_out(
        self,
        policy: RoutePolicy | KeptRoutePolicy | None,
        starts: IntArray,
        horizon: int,
        rng: np.random.Generator,
    ) -> Demonstrations:
        chosen = RoutePolicy.uniform(self.choice) if policy is None else policy
        return chosen.sample(starts, horizon, rng)

    def demonstrate(
        self, theta: ArrayLike, count: int, seed: int, horizon: int | None = None
    ) -> Demonstrations:
        """Trips between the origins and destinations of those observed, drawn at random.

        Origins and destinations are drawn by the weights of the trips, where there are some.
        """
        if count < 1:
            raise InvalidInputError(f"count is {count}; expected at least one trip")
        rng = np.random.default_rng([seed, DEMONSTRATION_STREAM])
        policy = self.policy(theta)
        weights = self._observed.weights
        shares = None if weights is None else weights / weights.sum()
        starts = rng.choice(self.demonstrations.starts, size=count, p=shares)
        longest = horizon or int(self.demonstrations.lengths.max())
        trips = self.roll_out(policy, starts, longest, rng)
        return without_padding(trips, self.choice.end)

    def possible_starts(self, n: int, rng: np.random.Generator) -> IntArray:
        """States from which a route leads to the destination; at most `n` that are drawn."""
        routes = np.flatnonzero(self.choice.has_route.ravel())
        return routes if len(routes) <= n else rng.choice(routes, n, replace=False)

    def state_name(self, state: int) -> str:
        """A link and the destination of who is on it."""
        return self.choice.state_name(state)

    def states_at(self, link: int) -> IntArray:
        """The states of being on a link, wherever one goes."""
        return self.choice.states_at(link)

    def behaviour_distances(self, policies: Sequence[RoutePolicy | KeptRoutePolicy]) -> FloatArray:
        seen = self._observed
        return mean_total_variation(
            np.stack([np.exp(policy.log_probabilities(seen.states)) for policy in policies]),
            seen.state_counts,
        )

    def most_different(
        self, one: RoutePolicy | KeptRoutePolicy, other: RoutePolicy | KeptRoutePolicy, n: int
    ) -> list[Difference]:
        states = self._observed.states
        first, second = (np.exp(policy.log_probabilities(states)) for policy in (one, other))
        return largest_differences(states, first, second, n)

    def _no_gradient(self) -> str:
        if not self._observed.unfinished.any():
            return super()._no_gradient()
        return (
            f"trajectory {self._observed.unfinished.argmax()} does not end at its destination; "
            "expected complete trips"
        )

    def _sizes(self) -> list[str]:
        return [f"{self.network.n_links} links", f"{len(self.choice.destinations)} destinations"]

    def fingerprint(self) -> str:
        digest = hashlib.sha256(repr(self.reward.parameters).encode())
        network = self.network
        leads = self.choice.leads_to
        known = (
            network.turns,
            leads.indptr,
            leads.indices,
            *Demonstrations.to_dict(self.demonstrations).values(),
        )
        for array in known:
            digest.update(np.asarray(array, dtype=np.int64).tobytes())
        paid = self._turn_utilities
        digest.update(
            (paid.turn_features if paid.linear else self.probe_reward(paid.transitions)).tobytes()
        )
        # What there was from the start is not written down, so that old studies go on.
        if self.choice.absorbing:
            digest.update(self.choice.at_destination.encode())
        if self._observed.weights is not None:
            digest.update(self._observed.weights.tobytes())
        return digest.hexdigest()[:16]


def recursive_logit_problem(
    network: RoadNetwork,
    trips: Trips,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    *,
    utilities: Utilities | None = None,
    at_destination: AtDestination = "absorb",
) -> RecursiveLogitProblem:
    """The problem of explaining trips to any number of destinations by one reward.

    Args:
        network: The roads.
        trips: Who went where, and how; with weights, the NLL is a weighted mean.
        bounds: Of the weights of time, left turns, links and u-turns, by default `BOUNDS`; those
            left out are 0.
        utilities: Instead of `bounds`, the attributes of the network that enter and products of two
            (`"a*b"`), with the bounds of each weight, or the weight where it is held fixed.
        at_destination: `"absorb"`: a trip ends on the first link that leads to its destination.
            `"pass"`: it may go on there and end later, as with the dummy links of the literature.
    """
    if bounds is not None and utilities is not None:
        raise InvalidInputError("both bounds and utilities are given; expected one of them")
    if utilities is None:
        parameters = feature_weights(BOUNDS if bounds is None else bounds)
    else:
        parameters = utility_weights(network, utilities)
    choice = RouteChoice(network, np.unique(trips.destinations), at_destination)
    trajectories = []
    for number, links in enumerate(trips.links):
        try:
            trajectories.append(choice.demonstrate(int(trips.destinations[number]), links))
        except InvalidInputError as error:
            raise InvalidInputError(f"trip {number}, counted from 0: {error}") from None
    plain = Demonstrations.from_trajectories(trajectories)
    return RecursiveLogitProblem(
        choice=choice,
        reward=TurnReward(choice, parameters),
        demonstrations=TripDemonstrations.of(plain, trips.travellers, trips.weights),
        name="trips",
    )
