"""Environments with something changed: closed states, another region to start from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from boirl.environments.table_parts import start_distribution, state_numbers
from boirl.environments.tabular import TabularMDP
from boirl.errors import InvalidInputError


def close_states(mdp: TabularMDP, states: ArrayLike) -> TabularMDP:
    """The same dynamics, but nothing leads into some states: who would go there stays in place.

    Args:
        mdp: The dynamics.
        states: A wall, a closed road: by number, or a mask `S`. No trajectory starts there.
    """
    closed = np.zeros(mdp.n_states, dtype=bool)
    closed[state_numbers(states, mdp.n_states, "closed")] = True
    start = np.where(closed, 0.0, mdp.start)
    if not start.sum() > 0.0:
        raise InvalidInputError(
            "all states that trajectories start in are closed; expected one open one at least"
        )
    matrix = mdp.transition.tocoo()
    rows, columns = matrix.coords
    origins = rows // mdp.n_actions
    # Out of a closed state everything stays as it was: nobody is there.
    blocked = closed[columns] & ~closed[origins]
    columns = np.where(blocked, origins, columns)
    transition = sp.csr_array((matrix.data, (rows, columns)), shape=matrix.shape)
    transition.sum_duplicates()
    endless = np.union1d(mdp.endless, replace(mdp, transition=transition).absorbing)
    return replace(mdp, transition=transition, start=start / start.sum(), endless=endless)


def start_from(mdp: TabularMDP, start: ArrayLike) -> TabularMDP:
    """The same dynamics from another distribution over first states, `S`."""
    return replace(mdp, start=start_distribution(start, mdp.n_states, mdp.terminal))
