"""Parts of a table of dynamics: where trajectories start, and where they end."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from boirl.errors import InvalidInputError
from boirl.types import FloatArray, IntArray


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
