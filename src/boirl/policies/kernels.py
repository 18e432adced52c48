"""Compiled loops over large batches of rewards.

SciPy's product of a sparse matrix with a batch is built for any x86 processor, and the best action
is looked for in another pass over memory. Compiled for the processor at hand (numba), with both in
one pass, sweeps of `max` over 300 rewards take less than half of the time, and 1,000 rewards on 80
states at a discount of 0.9 take 15 ms instead of 30 ms in all. Importing numba takes half a second,
and compiling, once per machine, a few seconds. So only large batches import this module
(`BellmanEquation.for_sweeps_from`).

All loops over the batch, `n`, are innermost and free of branches: vector instructions do the rest.
Sums are in the order of the entries, as in SciPy.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from boirl.types import FloatArray, IntArray


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _sum_row(
    pointers: IntArray,
    columns: IntArray,
    weights: FloatArray,
    row: int,
    values: FloatArray,
    total: FloatArray,
) -> None:
    """Row `row` of the sparse matrix times values `S x n`, into `total`, `n`."""
    n = len(total)
    entry, end = pointers[row], pointers[row + 1]
    # Two entries at a time halve the loads and stores of the sum.
    if (end - entry) % 2:
        weight, state = weights[entry], np.uintp(columns[entry])
        for i in range(n):
            total[i] = weight * values[state, i]
        entry += 1
    else:
        for i in range(n):
            total[i] = 0.0
    while entry < end:
        weight, state = weights[entry], np.uintp(columns[entry])
        other, after = weights[entry + 1], np.uintp(columns[entry + 1])
        for i in range(n):
            total[i] = total[i] + weight * values[state, i] + other * values[after, i]
        entry += 2


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_max(
    pointers: IntArray,
    columns: IntArray,
    weights: FloatArray,
    rewards: FloatArray,
    terminal: np.ndarray,
    values: FloatArray,
    times: int,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Several sweeps of `V = max_a r + M V`.

    Args:
        pointers: Where each row of the sparse matrix `M` begins, `S A + 1`.
        columns: Its columns, one per entry.
        weights: Its entries.
        rewards: `S x A x n`, or `S x 1 x n`.
        terminal: Whether the value of a state is 0, `S`.
        values: `S x n`. Overwritten.
        times: Number of sweeps.

    Returns:
        As `BellmanEquation.sweep`.
    """
    n_states, n = values.shape
    n_actions = (len(pointers) - 1) // n_states
    on_states = rewards.shape[1] == 1
    new, total = np.empty_like(values), np.empty_like(values[0])
    for _ in range(times):
        for state in range(n_states):
            if terminal[state]:
                for i in range(n):
                    new[state, i] = 0.0
                continue
            for action in range(n_actions):
                _sum_row(pointers, columns, weights, state * n_actions + action, values, total)
                if not on_states:
                    for i in range(n):
                        total[i] += rewards[state, action, i]
                if action == 0:
                    for i in range(n):
                        new[state, i] = total[i]
                else:
                    for i in range(n):
                        new[state, i] = total[i] if total[i] > new[state, i] else new[state, i]
            if on_states:
                for i in range(n):
                    new[state, i] += rewards[state, 0, i]
        values, new = new, values
    low, high, size = values[0] - new[0], values[0] - new[0], np.zeros_like(total)
    for state in range(n_states):
        last, before = values[state], new[state]
        for i in range(n):
            change = last[i] - before[i]
            low[i] = change if change < low[i] else low[i]
            high[i] = change if change > high[i] else high[i]
            amount = abs(last[i])
            size[i] = amount if amount > size[i] else size[i]
    return values, low, high, size


@njit(cache=True, nogil=True, error_model="numpy")
def look_ahead(
    pointers: IntArray,
    columns: IntArray,
    weights: FloatArray,
    values: FloatArray,
    rewards: FloatArray,
    q: FloatArray,
    best: FloatArray,
) -> None:
    """Write `r + M V` to `q`, and the best of it in each state to `best`.

    Args:
        pointers: Where each row of the sparse matrix `M` begins, `S A + 1`.
        columns: Its columns, one per entry.
        weights: Its entries.
        values: `V`, `S x n`.
        rewards: `S x A x n`; or `S x 0 x n` to add none.
        q: `S x A x n`.
        best: `S x n`.
    """
    n_states, n = best.shape
    n_actions = q.shape[1]
    paid = rewards.shape[1] > 0
    total = np.empty_like(best[0])
    for state in range(n_states):
        for action in range(n_actions):
            _sum_row(pointers, columns, weights, state * n_actions + action, values, total)
            if paid:
                for i in range(n):
                    total[i] += rewards[state, action, i]
            for i in range(n):
                q[state, action, i] = total[i]
            if action == 0:
                for i in range(n):
                    best[state, i] = total[i]
            else:
                for i in range(n):
                    best[state, i] = total[i] if total[i] > best[state, i] else best[state, i]
