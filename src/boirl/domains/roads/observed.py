"""What a recursive logit needs to know of its trips, whatever theta is: computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.domains.roads.route_choice import RouteChoice, RoutePolicy
from boirl.domains.roads.trips import relative_weights
from boirl.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ObservedTrips:
    """Trips as states and actions, with their weights.

    Args:
        choice: States and actions.
        demonstrations: `N` trips of `S` steps altogether.
    """

    choice: RouteChoice
    demonstrations: Demonstrations

    @cached_property
    def weights(self) -> FloatArray | None:
        """What each trip counts, `N`, 1 on average; None where all count the same."""
        return relative_weights(self.demonstrations)

    @cached_property
    def step_weights(self) -> FloatArray:
        """What each step counts, `S`."""
        weights = np.ones(len(self.demonstrations)) if self.weights is None else self.weights
        return np.repeat(weights, self.demonstrations.lengths)

    @cached_property
    def turns(self) -> IntArray:
        """The turn of each step, -1 for the end of a trip, `S`."""
        return self.choice.turns_of(self.demonstrations.states, self.demonstrations.actions)

    @cached_property
    def turn_counts(self) -> FloatArray:
        """How often the trips took each turn, all together."""
        taken, n_turns = self.turns >= 0, len(self.choice.network.turns)
        counts = np.bincount(self.turns[taken], self.step_weights[taken], n_turns)
        return counts.astype(np.float64)

    @cached_property
    def origin_counts(self) -> FloatArray:
        """How often the trips started on each link."""
        n_links = self.choice.network.n_links
        counts = np.bincount(self.demonstrations.starts % n_links, self.weights, n_links)
        return counts.astype(np.float64)

    @cached_property
    def last_states(self) -> IntArray:
        """Where each trip got to, `N`."""
        last: IntArray = self.demonstrations.next_states[np.cumsum(self.demonstrations.lengths) - 1]
        return last

    @cached_property
    def unfinished(self) -> np.ndarray:
        """Whether a trip does not end at its destination, `N`."""
        return self.last_states != self.choice.end

    @cached_property
    def states(self) -> IntArray:
        """Where trips went, in ascending order."""
        return np.unique(self.demonstrations.states)

    @cached_property
    def state_counts(self) -> FloatArray:
        """How often trips were in each of `states`."""
        place = np.searchsorted(self.states, self.demonstrations.states)
        return np.bincount(place, self.step_weights).astype(np.float64)

    @cached_property
    def options(self) -> tuple[IntArray, IntArray]:
        """What may be done in `states`, see `RouteChoice.options`."""
        return self.choice.options(self.states)

    def log_likelihoods(self, policy: RoutePolicy) -> FloatArray:
        """Of each trip under a policy that was solved for, `N`, without weights.

        A step is as likely as its utility and the value that it gains say, so sums telescope.
        """
        shown = self.demonstrations
        paid = np.append(policy.utilities, 0.0)[self.turns]
        values = np.append(policy.values.reshape(-1), 0.0)
        total = np.bincount(shown.trajectory_numbers, paid, len(shown))
        gained: FloatArray = total + values[self.last_states] - values[shown.starts]
        return gained
