"""A finite horizon, written as states: where one is, and how many steps have been taken."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from boirl.environments.tabular import TabularMDP
from boirl.errors import InvalidInputError
from boirl.types import IntArray


@dataclass(frozen=True, eq=False, repr=False)
class UnrolledMDP(TabularMDP):
    """A copy of the states for each step: state `t * S + s` is `s` after `t` steps.

    The last copy, after `horizon` steps, is terminal. A policy of these states depends on the time
    that is left.

    Attributes:
        base: The dynamics of one step, on `S` states.
        horizon: Steps of a trajectory at most.
    """

    base: TabularMDP | None = None
    horizon: int = 0

    def state_of(self, states: IntArray) -> IntArray:
        """The states of `base` that these are copies of."""
        assert self.base is not None
        return states % self.base.n_states


def unroll(mdp: TabularMDP, horizon: int) -> UnrolledMDP:
    """Dynamics that end after `horizon` steps; built once for each horizon."""
    known = _UNROLLED.setdefault(mdp, {})
    if horizon not in known:
        known[horizon] = _build(mdp, horizon)
    return known[horizon]


def _build(mdp: TabularMDP, horizon: int) -> UnrolledMDP:
    if horizon < 1:
        raise InvalidInputError(f"the horizon is {horizon}; expected at least one step")
    step, n = mdp.transition, mdp.n_states
    total = (horizon + 1) * n
    layers = np.arange(1, horizon + 1)[:, None]
    counts = np.concatenate([np.tile(np.diff(step.indptr), horizon), np.zeros(n * mdp.n_actions)])
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    entries = (np.tile(step.data, horizon), (layers * n + step.indices).reshape(-1), pointers)
    ended = np.arange(horizon)[:, None] * n + mdp.terminal
    return UnrolledMDP(
        transition=sp.csr_array(entries, shape=(total * mdp.n_actions, total)),
        n_actions=mdp.n_actions,
        gamma=mdp.gamma,
        start=np.concatenate([mdp.start, np.zeros(horizon * n)]),
        terminal=np.concatenate([ended.reshape(-1), np.arange(horizon * n, total)]),
        base=mdp,
        horizon=horizon,
    )


_UNROLLED: WeakKeyDictionary[TabularMDP, dict[int, UnrolledMDP]] = WeakKeyDictionary()
