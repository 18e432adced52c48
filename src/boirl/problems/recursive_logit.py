"""Trips to many destinations at once, explained by one reward: recursive logit."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from boirl.data import data_folder
from boirl.demonstrations import UNKNOWN, Demonstrations
from boirl.environments.road_files import Trips, load_road_network
from boirl.environments.road_network import FEATURES, RoadNetwork, feature_weights
from boirl.errors import DemonstrationError
from boirl.policies.recursive_logit import RouteChoice, RoutePolicy
from boirl.problem import Problem, largest_differences, mean_total_variation
from boirl.rewards import LinearReward, Transitions
from boirl.types import Difference, FloatArray, IntArray

BOUNDS: dict[str, tuple[float, float]] = {
    "time": (-5.0, 1.0),
    "left": (-5.0, 1.0),
    "constant": (-5.0, 1.0),
    "u-turn": (-10.0, 1.0),
}


@dataclass(frozen=True, eq=False)
class RecursiveLogitProblem(Problem[RoutePolicy]):
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

    def nll_batch(self, thetas: ArrayLike) -> FloatArray:
        with ThreadPoolExecutor(os.cpu_count()) as cores:
            evaluations = list(cores.map(self.evaluate, self.box.check(thetas)))
        return np.array([evaluation.nll for evaluation in evaluations])

    def gradient(self, theta: ArrayLike) -> FloatArray:
        """Derivative of the NLL by theta, `d`, exact.

        What counts of a trip is the sum of its features, less its expectation among all routes
        from the same origin to the same destination.

        Raises:
            DemonstrationError: A trip does not end at its destination.
            SolverError: The sum over routes diverges.
        """
        last = np.cumsum(self.demonstrations.lengths) - 1
        unfinished = self.demonstrations.next_states[last] != self.choice.end
        if unfinished.any():
            raise DemonstrationError(
                f"trajectory {unfinished.argmax()} does not end at its destination; expected "
                "complete trips"
            )
        expected = self._turn_flows(theta)
        taken = self._demonstrated_turns()
        free = [parameter.fixed is None for parameter in self.reward.parameters]
        return ((expected - taken) @ self.network.features)[free] / len(self.demonstrations)

    def nll_and_gradient(self, theta: ArrayLike) -> tuple[float, FloatArray]:
        return self.nll(theta), self.gradient(theta)

    def demonstrated_visits(self) -> FloatArray:
        """How often a demonstration passes each link, on average."""
        return self._by_link(self._demonstrated_turns())

    def expected_visits(self, theta: ArrayLike) -> FloatArray:
        """How often the policy of theta passes each link, from the demonstrations' starts."""
        return self._by_link(self._turn_flows(theta))

    def _by_link(self, by_turn: FloatArray) -> FloatArray:
        network, n_links = self.network, self.network.n_links
        origins = np.bincount(self.demonstrations.starts % n_links, minlength=n_links)
        entered = np.bincount(network.turns[:, 1], weights=by_turn, minlength=n_links)
        return (origins + entered) / len(self.demonstrations)

    def _demonstrated_turns(self) -> FloatArray:
        turns = self.choice.turns_of(self.demonstrations.states, self.demonstrations.actions)
        return np.bincount(turns[turns >= 0], minlength=len(self.network.turns)).astype(float)

    def _turn_flows(self, theta: ArrayLike) -> FloatArray:
        """How often all travellers together are expected to take each turn."""
        weights, factors = self.choice.factorise(self.utilities(theta))
        z = factors.solve(self.choice.leads_to.toarray())
        destinations, origins = np.divmod(self.demonstrations.starts, self.network.n_links)
        sources = np.zeros_like(z)
        np.add.at(sources, (origins, destinations), 1.0 / z[origins, destinations])
        reached = factors.solve(sources, trans="T")
        left, entered = self.network.turns.T
        flows: FloatArray = np.einsum("td,td->t", reached[left], z[entered])
        return flows * np.asarray(weights[left, entered])

    def complete(self, demonstrations: Demonstrations) -> Demonstrations:
        demonstrations.check_fits(self.choice.n_states, self.choice.n_actions)
        told = self.choice.next_states(demonstrations.states, demonstrations.actions)
        given = demonstrations.next_states
        wrong = (told < 0) | ((given != UNKNOWN) & (given != told))
        if wrong.any():
            step = int(wrong.argmax())
            raise DemonstrationError(
                f"trajectory {demonstrations.trajectory_numbers[step]}, step "
                f"{demonstrations.step_numbers[step]}: action {demonstrations.actions[step]} on "
                f"link {demonstrations.states[step] % self.network.n_links} is not a turn of the "
                "network, or leads elsewhere; check the numbering of links and actions"
            )
        return replace(demonstrations, next_states=told)

    def roll_out(
        self,
        policy: RoutePolicy | None,
        starts: IntArray,
        horizon: int,
        rng: np.random.Generator,
    ) -> Demonstrations:
        chosen = RoutePolicy.uniform(self.choice) if policy is None else policy
        return chosen.sample(starts, horizon, rng)

    def behaviour_distances(self, policies: Sequence[RoutePolicy]) -> FloatArray:
        states, visits = np.unique(self.demonstrations.states, return_counts=True)
        return mean_total_variation(
            np.stack([np.exp(policy.log_probabilities(states)) for policy in policies]), visits
        )

    def most_different(self, one: RoutePolicy, other: RoutePolicy, count: int) -> list[Difference]:
        states = np.unique(self.demonstrations.states)
        first, second = (np.exp(policy.log_probabilities(states)) for policy in (one, other))
        return largest_differences(states, first, second, count)

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
    table = np.concatenate([network.features, np.zeros((1, len(FEATURES)))])

    def features(transitions: Transitions) -> FloatArray:
        turns = choice.turns_of(np.asarray(transitions.states), np.asarray(transitions.actions))
        return table[turns]

    return RecursiveLogitProblem(
        choice=choice,
        reward=LinearReward(features, feature_weights(bounds), "state_action"),
        demonstrations=Demonstrations.from_trajectories(trajectories),
        name="trips",
    )


def build_borlange_recursive_logit(data: str | None = None) -> RecursiveLogitProblem:
    return recursive_logit_problem(*load_road_network(data_folder("borlange", data)))
