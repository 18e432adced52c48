"""Parts of a table of dynamics, checked: rows, where trajectories start and end, and names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from boirl.errors import InvalidInputError
from boirl.types import FloatArray, IntArray

ROW_SUM_TOLERANCE = 1e-9


def start_distribution(start: ArrayLike | None, n_states: int, terminal: IntArray) -> FloatArray:
    """The given distribution of first states, or the uniform one over those not terminal."""
    if start is not None:
        return np.array(start, dtype=np.float64)
    uniform = np.ones(n_states)
    uniform[terminal] = 0.0
    return uniform / uniform.sum()


def state_numbers(states: ArrayLike, n_states: int, name: str = "terminal") -> IntArray:
    """States as sorted numbers, from numbers or a mask."""
    given = np.asarray(states)
    if given.dtype == bool and given.shape == (n_states,):
        given = np.flatnonzero(given)
    if given.size == 0:
        return np.empty(0, dtype=np.int64)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise InvalidInputError(
            f"{name} has shape {given.shape} and type {given.dtype}; expected a list of state "
            f"numbers, or a mask of {n_states} states"
        )
    outside = given[(given < 0) | (given >= n_states)]
    if outside.size:
        raise InvalidInputError(
            f"{name} holds state {outside[0]}; expected states from 0 to {n_states - 1}"
        )
    numbers = np.unique(given).astype(np.int64)
    if len(numbers) == n_states:
        raise InvalidInputError(
            f"all {n_states} states are {name}; expected at least one that is not"
        )
    return numbers


def without_rows(matrix: sp.csr_array, gone: np.ndarray) -> sp.csr_array:
    """The matrix without the entries of some rows."""
    counts = np.diff(matrix.indptr)
    kept = np.repeat(~gone, counts)
    pointers = np.concatenate([[0], np.cumsum(np.where(gone, 0, counts))])
    return sp.csr_array((matrix.data[kept], matrix.indices[kept], pointers), shape=matrix.shape)


def deterministic_rows(next_states: IntArray, terminal: IntArray) -> sp.csr_array:
    """Dynamics `(S * A) x S` of a table `S x A` of next states."""
    # Whatever stands in the row of a terminal state, such as -1, means nothing.
    table = next_states.copy()
    table[terminal] = terminal[:, None]
    n_states = len(table)
    outside = np.argwhere((table < 0) | (table >= n_states))
    if outside.size:
        state, action = outside[0]
        raise InvalidInputError(
            f"action {action} in state {state} leads to state {table[state, action]}; "
            f"expected a state from 0 to {n_states - 1}"
        )
    rows = table.size
    return sp.csr_array(
        (np.ones(rows), table.reshape(-1), np.arange(rows + 1)), shape=(rows, n_states)
    )


def check_rows(transition: sp.csr_array, n_actions: int, ending: np.ndarray) -> None:
    """Refuse rows that are not distributions, but for those of terminal states (a mask)."""
    rows, n_states = transition.shape
    if rows != n_states * n_actions:
        raise InvalidInputError(
            f"the dynamics have {rows} rows for {n_states} states and {n_actions} "
            f"actions; expected {n_states * n_actions}, one row per state-action"
        )
    values = transition.data
    sums = transition.sum(axis=1)
    wrong = np.flatnonzero(~ending & ~(np.abs(sums - 1.0) <= ROW_SUM_TOLERANCE))
    if values.size and not values.min() >= 0.0:
        raise InvalidInputError("the dynamics hold a negative or NaN probability")
    if wrong.size:
        state, action = divmod(int(wrong[0]), n_actions)
        raise InvalidInputError(
            f"the probabilities after state {state}, action {action} sum to "
            f"{sums[wrong[0]]:g}; expected 1 (an action that does nothing stays in place)"
        )


def check_start(start: FloatArray, is_terminal: np.ndarray) -> None:
    """Refuse first states that are no distribution, or that are terminal."""
    n_states = len(is_terminal)
    if start.shape != (n_states,) or not abs(start.sum() - 1.0) <= 1e-9:
        raise InvalidInputError(
            f"the start distribution has shape {start.shape} and sum "
            f"{start.sum():g}; expected {n_states} probabilities that sum to 1"
        )
    if start.min() < 0.0:
        raise InvalidInputError("the start distribution holds a negative probability")
    ended = np.flatnonzero(is_terminal & (start > 0.0))
    if ended.size:
        raise InvalidInputError(
            f"a trajectory starts in the terminal state {ended[0]} with probability "
            f"{start[ended[0]]:g}; expected 0, since no action is taken there"
        )


def checked_names(names: Sequence[str], size: int, kind: str) -> tuple[str, ...]:
    """Names as text, none or one for each, no two alike."""
    given = tuple(map(str, names))
    if given and len(given) != size:
        raise InvalidInputError(
            f"there are {len(given)} {kind}; expected {size}, one for each number, or none"
        )
    twice = next((name for name in given if given.count(name) > 1), None) if given else None
    if len(set(given)) < len(given):
        raise InvalidInputError(f"{kind} hold {twice!r} twice; expected different ones")
    return given
