"""What evaluations keep of the policies of travellers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.domains.roads.route_choice import RouteChoice, RoutePolicy
from boirl.evaluation import PolicyArrays
from boirl.types import FloatArray, IntArray

KEPT_VALUES = 50_000
"""Links times destinations up to which an evaluation keeps all values of its policy: 0.4 MB."""


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
        weights: What each trip counted in the flows, `N`; None where all counted 1.
    """

    choice: RouteChoice
    utilities: FloatArray
    states: IntArray
    table: FloatArray
    starts: IntArray
    flows: FloatArray
    values: FloatArray | None = None
    weights: FloatArray | None = None

    @classmethod
    def restore(
        cls, choice: RouteChoice, utilities: FloatArray, arrays: PolicyArrays
    ) -> KeptRoutePolicy:
        """The inverse of `kept_arrays`."""
        return cls(
            choice,
            utilities,
            arrays["states"],
            arrays["log_probabilities"],
            arrays["starts"],
            arrays["flows"],
            arrays.get("values"),
            arrays.get("weights"),
        )

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

    def turn_flows(self, starts: IntArray, weights: FloatArray | None = None) -> FloatArray:
        """How often travellers from these starts are expected to take each turn, all together."""
        if np.array_equal(starts, self.starts) and _same(weights, self.weights):
            return self.flows
        return self.solved.turn_flows(starts, weights)

    def sample(self, starts: IntArray, horizon: int, rng: np.random.Generator) -> Demonstrations:
        """Roll out a trajectory of `horizon` steps from each of `N` starts, all at once."""
        return self._everywhere.sample(starts, horizon, rng)


def kept_arrays(
    states: IntArray,
    table: FloatArray,
    starts: IntArray,
    flows: FloatArray,
    values: FloatArray | None,
    weights: FloatArray | None,
) -> PolicyArrays:
    """What an evaluation keeps of a policy, see `KeptRoutePolicy`."""
    arrays = {"states": states, "log_probabilities": table, "starts": starts, "flows": flows}
    if weights is not None:
        arrays["weights"] = weights
    if values is not None and values.size <= KEPT_VALUES:
        arrays["values"] = values
    return arrays


def _same(one: FloatArray | None, other: FloatArray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
