"""Policies on finitely many states: probabilities, sampling and exact expected returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import StorageError
from boirl.types import FloatArray, IntArray

LOG_PROBABILITIES = "log_probabilities"


@dataclass(frozen=True, eq=False, repr=False)
class TabularPolicy:
    """Log probability of each action in each state, `S x A`; no action has any where all ends.

    With a finite horizon, the states are those of `UnrolledMDP`, a copy for each step.

    Attributes:
        values: The values behind it, `S`, where a solver found it.
        facts: What the solver reports, by name.
    """

    log_probabilities: FloatArray
    values: FloatArray | None = None
    facts: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        states, actions = self.log_probabilities.shape
        return f"TabularPolicy({states} states, {actions} actions)"

    @classmethod
    def uniform(cls, mdp: TabularMDP) -> TabularPolicy:
        """Every action equally likely everywhere, but for terminal states."""
        log_probabilities = np.full((mdp.n_states, mdp.n_actions), -np.log(mdp.n_actions))
        log_probabilities[mdp.terminal] = -np.inf
        return cls(log_probabilities)

    def compact(self) -> dict[str, FloatArray]:
        """What is kept of it: the values behind it, or else its log probabilities."""
        if self.values is None:
            return {LOG_PROBABILITIES: self.log_probabilities}
        return {"values": self.values}

    @classmethod
    def restored(cls, arrays: Mapping[str, FloatArray], mdp: TabularMDP) -> TabularPolicy:
        """The policy of log probabilities that were kept; refused where they do not sum to 1."""
        found, shape = arrays[LOG_PROBABILITIES], (mdp.n_states, mdp.n_actions)
        fits = found.shape == shape and found.dtype == np.float64
        if not fits or not np.allclose(np.exp(found[~mdp.is_terminal]).sum(axis=1), 1.0):
            raise StorageError(
                f"a kept policy is damaged: its log probabilities have shape {found.shape} and "
                f"type {found.dtype}; expected those of actions, which sum to 1 in each state, of "
                f"shape {shape}: run the method again"
            )
        return cls(found)

    @property
    def probabilities(self) -> FloatArray:
        return np.exp(self.log_probabilities)

    def log_prob(self, states: IntArray, actions: IntArray) -> FloatArray:
        """Log probability of each of `T` actions."""
        return self.log_probabilities[states, actions]

    def sample(
        self, mdp: TabularMDP, starts: IntArray, horizon: int, rng: np.random.Generator
    ) -> Demonstrations:
        """Roll out a trajectory from each of `N` starts, all at once.

        Each takes `horizon` steps, or fewer where it reaches a terminal state.
        """
        cumulative = np.cumsum(self.probabilities, axis=1)
        # The last action takes what rounding leaves over.
        cumulative[:, -1] = np.inf
        visited = np.empty((len(starts), horizon + 1), dtype=np.int64)
        actions = np.empty((len(starts), horizon), dtype=np.int64)
        visited[:, 0] = starts
        lengths = np.zeros(len(starts), dtype=np.int64)
        going_on = np.flatnonzero(~mdp.is_terminal[visited[:, 0]])
        for step in range(horizon):
            if not going_on.size:
                break
            states = visited[going_on, step]
            drawn = rng.random(len(going_on))[:, None]
            chosen = (drawn >= cumulative[states]).sum(axis=1)
            following = mdp.sample_next(states, chosen, rng)
            actions[going_on, step], visited[going_on, step + 1] = chosen, following
            lengths[going_on] += 1
            going_on = going_on[~mdp.is_terminal[following]]
        taken = np.arange(horizon) < lengths[:, None]
        return Demonstrations(
            states=visited[:, :-1][taken],
            actions=actions[taken],
            next_states=visited[:, 1:][taken],
            lengths=lengths,
        )


def expected_return(
    mdp: TabularMDP,
    log_policies: FloatArray,
    rewards: FloatArray,
    start: FloatArray,
    horizon: int,
) -> FloatArray:
    """Exact expected discounted return of policies over a finite horizon, no sampling.

    Args:
        mdp: The dynamics and the discount.
        log_policies: `n x S x A`.
        rewards: Expected reward of a state-action, `S x A` or `S x 1`.
        start: Distribution of the first state, `S`.
        horizon: Number of rewards summed, `sum_{t < horizon} gamma^t E[r_t]`.

    Returns:
        `n` returns.
    """
    policies = np.moveaxis(np.exp(log_policies), 0, -1)
    values = np.zeros((mdp.n_states, len(log_policies)))
    for _ in range(horizon):
        values = (policies * (rewards[..., None] + mdp.gamma * mdp.expect_next(values))).sum(axis=1)
    returns: FloatArray = start @ values
    return returns


def expected_visits(
    mdp: TabularMDP, policy: TabularPolicy, start: FloatArray, steps: int, discount: float = 1.0
) -> FloatArray:
    """How often each state is visited in the first `steps` states of a trajectory, `S`, exact.

    Args:
        mdp: The dynamics.
        policy: Chooses the actions.
        start: How often a trajectory starts in each state, `S`.
        steps: States of a trajectory that count.
        discount: What a visit counts for less at each step.
    """
    backwards = discount * mdp.chain(policy.probabilities).T
    now, visits = start, np.zeros_like(start)
    for _ in range(steps):
        visits = visits + now
        now = backwards @ now
    return visits
