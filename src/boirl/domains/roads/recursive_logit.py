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
import torch
from numpy.typing import ArrayLike

from boirl.datasets import data_folder
from boirl.demonstrations import UNKNOWN, Demonstrations
from boirl.domains.roads.files import Trips, load_road_network
from boirl.domains.roads.network import FEATURES, RoadNetwork, feature_weights
from boirl.domains.roads.route_choice import KeptRoutePolicy, RouteChoice, RoutePolicy
from boirl.errors import DemonstrationError, InvalidInputError, SolverError
from boirl.evaluation import Evaluation, PolicyArrays
from boirl.problem.base import DEMONSTRATION_STREAM, Problem
from boirl.problem.behaviour import largest_differences, mean_total_variation
from boirl.problem.likelihood import trajectory_log_likelihoods
from boirl.rewards import LinearReward, Transitions
from boirl.threads import single_thread
from boirl.types import Difference, FloatArray, IntArray, Parameter, Report

BOUNDS: dict[str, tuple[float, float]] = {
    "time": (-5.0, 1.0),
    "left": (-5.0, 1.0),
    "constant": (-5.0, 1.0),
    "u-turn": (-10.0, 1.0),
}

KEPT_VALUES = 50_000
"""Links times destinations up to which an evaluation keeps all values of its policy: 0.4 MB."""


@dataclass(frozen=True, eq=False, repr=False)
class RecursiveLogitProblem(Problem[RoutePolicy | KeptRoutePolicy]):
    """One reward for all travellers, wherever they go.

    Args:
        choice: The roads and the destinations.
        reward: The family whose theta is sought, on turns.
        demonstrations: Trips, see `RouteChoice` for their states and actions.
    """

    choice: RouteChoice
    reward: LinearReward
    demonstrations: Demonstrations
    truth: tuple[float, ...] | None = None
    name: str = "unnamed"
    recipe: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "demonstrations", self.complete(self.demonstrations))

    @property
    def gamma(self) -> float:
        return 1.0

    @property
    def network(self) -> RoadNetwork:
        """The roads."""
        return self.choice.network

    def with_demonstrations(self, demonstrations: Demonstrations) -> RecursiveLogitProblem:
        return replace(self, demonstrations=demonstrations)

    def utilities(self, theta: ArrayLike) -> FloatArray:
        """The utility of each turn."""
        full = self.reward.with_fixed(torch.tensor(self.box.check_one(theta)))
        utilities: FloatArray = self.network.features @ full.numpy()
        return utilities

    def policy(self, theta: ArrayLike) -> RoutePolicy:
        return RoutePolicy.solve(self.choice, self.utilities(theta))

    def _evaluate(self, theta: FloatArray, seed: int | None, report: Report) -> Evaluation:
        policy = self.policy(theta)
        log_likelihoods = trajectory_log_likelihoods(policy, self.demonstrations)
        flows = policy.turn_flows(self.demonstrations.starts)
        return Evaluation(
            tuple(theta.tolist()),
            -float(log_likelihoods.mean()),
            log_likelihoods=log_likelihoods,
            gradient=None if self._unfinished.any() else self._gradient(flows),
            policies=(self._compact(policy, flows),),
        )

    def compact_policy(self, policy: RoutePolicy | KeptRoutePolicy) -> PolicyArrays:
        """Its choices where trips went, its flows and, in small networks, all of its values."""
        return self._compact(policy, policy.turn_flows(self.demonstrations.starts))

    def _compact(self, policy: RoutePolicy | KeptRoutePolicy, flows: FloatArray) -> PolicyArrays:
        states = np.unique(self.demonstrations.states)
        arrays = {
            "states": states,
            "log_probabilities": policy.log_probabilities(states),
            "starts": self.demonstrations.starts,
            "flows": flows,
        }
        if policy.values is not None and policy.values.size <= KEPT_VALUES:
            arrays["values"] = policy.values
        return arrays

    def _restore_policy(self, arrays: PolicyArrays, evaluation: Evaluation) -> KeptRoutePolicy:
        return KeptRoutePolicy(
            self.choice,
            self.utilities(evaluation.theta),
            arrays["states"],
            arrays["log_probabilities"],
            arrays["starts"],
            arrays["flows"],
            arrays.get("values"),
        )

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
            SolverError: The sum over routes diverges.
        """
        if self._unfinished.any():
            raise DemonstrationError(self._no_gradient())
        return self._gradient(self.policy(theta).turn_flows(self.demonstrations.starts))

    @cached_property
    def _unfinished(self) -> np.ndarray:
        """Whether a trip does not end at its destination, `N`."""
        last = np.cumsum(self.demonstrations.lengths) - 1
        unfinished: np.ndarray = self.demonstrations.next_states[last] != self.choice.end
        return unfinished

    def _gradient(self, flows: FloatArray) -> FloatArray:
        surplus = flows - self._demonstrated_turns()
        free = [parameter.fixed is None for parameter in self.reward.parameters]
        return (surplus @ self.network.features)[free] / len(self.demonstrations)

    def demonstrated_visits(self) -> FloatArray:
        """How often a demonstration passes each link, on average."""
        return self._by_link(self._demonstrated_turns())

    def expected_visits(self, policy: RoutePolicy | KeptRoutePolicy) -> FloatArray:
        """How often a policy passes each link, from the demonstrations' starts."""
        return self._by_link(policy.turn_flows(self.demonstrations.starts))

    def _by_link(self, by_turn: FloatArray) -> FloatArray:
        network, n_links = self.network, self.network.n_links
        origins = np.bincount(self.demonstrations.starts % n_links, minlength=n_links)
        entered = np.bincount(network.turns[:, 1], weights=by_turn, minlength=n_links)
        return (origins + entered) / len(self.demonstrations)

    def _demonstrated_turns(self) -> FloatArray:
        turns = self.choice.turns_of(self.demonstrations.states, self.demonstrations.actions)
        return np.bincount(turns[turns >= 0], minlength=len(self.network.turns)).astype(float)

    def complete(self, demonstrations: Demonstrations) -> Demonstrations:
        demonstrations.check_fits(self.choice.n_states, self.choice.n_actions)
        reached = self.choice.next_states(demonstrations.states, demonstrations.actions)
        given = demonstrations.next_states
        wrong = (reached < 0) | ((given != UNKNOWN) & (given != reached))
        if wrong.any():
            step = int(wrong.argmax())
            raise DemonstrationError(
                f"trajectory {demonstrations.trajectory_numbers[step]}, step "
                f"{demonstrations.step_numbers[step]}: action {demonstrations.actions[step]} on "
                f"link {demonstrations.states[step] % self.network.n_links} is not a turn of the "
                "network, or leads elsewhere; check the numbering of links and actions"
            )
        return replace(demonstrations, next_states=reached)

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
        """Trips between the origins and destinations of those observed, drawn at random."""
        if count < 1:
            raise InvalidInputError(f"count is {count}; expected at least one trip")
        rng = np.random.default_rng([seed, DEMONSTRATION_STREAM])
        policy = self.policy(theta)
        starts = rng.choice(self.demonstrations.starts, size=count)
        longest = int(self.demonstrations.lengths.max())
        return self.roll_out(policy, starts, horizon or longest, rng)

    def behaviour_distances(self, policies: Sequence[RoutePolicy | KeptRoutePolicy]) -> FloatArray:
        states, visits = np.unique(self.demonstrations.states, return_counts=True)
        return mean_total_variation(
            np.stack([np.exp(policy.log_probabilities(states)) for policy in policies]), visits
        )

    def most_different(
        self, one: RoutePolicy | KeptRoutePolicy, other: RoutePolicy | KeptRoutePolicy, n: int
    ) -> list[Difference]:
        states = np.unique(self.demonstrations.states)
        first, second = (np.exp(policy.log_probabilities(states)) for policy in (one, other))
        return largest_differences(states, first, second, n)

    def _no_gradient(self) -> str:
        return (
            f"trajectory {self._unfinished.argmax()} does not end at its destination; expected "
            "complete trips"
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
            *self.demonstrations.to_dict().values(),
        )
        for array in known:
            digest.update(np.asarray(array, dtype=np.int64).tobytes())
        digest.update(network.features.tobytes())
        return digest.hexdigest()[:16]


def recursive_logit_problem(
    network: RoadNetwork, trips: Trips, bounds: Mapping[str, tuple[float, float]] = BOUNDS
) -> RecursiveLogitProblem:
    """The problem of explaining trips to any number of destinations by one reward.

    Args:
        network: The roads.
        trips: Who went where, and how.
        bounds: Of the weights of time, left turns, links and u-turns; those left out are 0.
    """
    choice = RouteChoice(network, np.unique(trips.destinations))
    trajectories = [
        choice.demonstrate(int(destination), links)
        for destination, links in zip(trips.destinations, trips.links, strict=True)
    ]
    return RecursiveLogitProblem(
        choice=choice,
        reward=turn_reward(choice, feature_weights(bounds)),
        demonstrations=Demonstrations.from_trajectories(trajectories),
        name="trips",
    )


def turn_reward(choice: RouteChoice, parameters: Sequence[Parameter]) -> LinearReward:
    """A weighted sum of the features of turns; the end of a trip has none."""
    table = np.concatenate([choice.network.features, np.zeros((1, len(FEATURES)))])

    def features(transitions: Transitions) -> FloatArray:
        turns = choice.turns_of(np.asarray(transitions.states), np.asarray(transitions.actions))
        return table[turns]

    return LinearReward(features, parameters, "state_action")


def build_borlange_recursive_logit(data: str | None = None) -> RecursiveLogitProblem:
    return recursive_logit_problem(*load_road_network(data_folder("borlange", data)))
