"""Markov decision processes with finitely many states and actions, without a reward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from boirl.errors import InvalidInputError
from boirl.rewards import RewardFamily, Transitions
from boirl.rewards.family import DependsOn, as_float64
from boirl.types import FloatArray, IntArray

ROW_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class TabularMDP:
    """States `0..S-1`, actions `0..A-1`, sparse dynamics, discount and start distribution.

    Args:
        transition: Row `s * A + a` holds the distribution of the state after `a` in `s`,
            `(S * A) x S`.
        n_actions: `A`.
        gamma: Discount in `(0, 1]`.
        start: Distribution of the first state, `S`.

    Most people call `from_next_states` (deterministic) or `from_probabilities` (stochastic).
    """

    transition: sp.csr_array
    n_actions: int
    gamma: float
    start: FloatArray

    def __repr__(self) -> str:
        return f"TabularMDP({self.n_states} states, {self.n_actions} actions, gamma {self.gamma:g})"

    def __post_init__(self) -> None:
        if not 0.0 < self.gamma <= 1.0:
            raise InvalidInputError(f"gamma is {self.gamma}; expected a number in (0, 1]")
        rows, n_states = self.transition.shape
        if rows != n_states * self.n_actions:
            raise InvalidInputError(
                f"the dynamics have {rows} rows for {n_states} states and {self.n_actions} "
                f"actions; expected {n_states * self.n_actions}, one row per state-action"
            )
        values = self.transition.data
        sums = self.transition.sum(axis=1)
        wrong = np.flatnonzero(~(np.abs(sums - 1.0) <= ROW_SUM_TOLERANCE))
        if values.size and not values.min() >= 0.0:
            raise InvalidInputError("the dynamics hold a negative or NaN probability")
        if wrong.size:
            state, action = divmod(int(wrong[0]), self.n_actions)
            raise InvalidInputError(
                f"the probabilities after state {state}, action {action} sum to "
                f"{sums[wrong[0]]:g}; expected 1 (an action that does nothing stays in place)"
            )
        if self.start.shape != (n_states,) or not abs(self.start.sum() - 1.0) <= 1e-9:
            raise InvalidInputError(
                f"the start distribution has shape {self.start.shape} and sum "
                f"{self.start.sum():g}; expected {n_states} probabilities that sum to 1"
            )
        if self.start.min() < 0.0:
            raise InvalidInputError("the start distribution holds a negative probability")

    @classmethod
    def from_next_states(
        cls, next_states: ArrayLike, gamma: float, start: ArrayLike | None = None
    ) -> TabularMDP:
        """Deterministic dynamics: `next_states[s, a]` is the state after `a` in `s`, `S x A`."""
        table = np.asarray(next_states)
        if table.ndim != 2 or not np.issubdtype(table.dtype, np.integer):
            raise InvalidInputError(
                f"next_states has shape {table.shape} and type {table.dtype}; expected an array "
                "of whole numbers, S x A"
            )
        n_states, n_actions = table.shape
        outside = np.argwhere((table < 0) | (table >= n_states))
        if outside.size:
            state, action = outside[0]
            raise InvalidInputError(
                f"action {action} in state {state} leads to state {table[state, action]}; "
                f"expected a state from 0 to {n_states - 1}"
            )
        rows = n_states * n_actions
        transition = sp.csr_array(
            (np.ones(rows), table.reshape(-1), np.arange(rows + 1)), shape=(rows, n_states)
        )
        return cls(transition, n_actions, float(gamma), _distribution(start, n_states))

    @classmethod
    def from_probabilities(
        cls, probabilities: Any, gamma: float, start: ArrayLike | None = None
    ) -> TabularMDP:
        """Stochastic dynamics, from an array `S x A x S` or a list of `A` matrices `S x S`.

        The matrices may be sparse.
        """
        if isinstance(probabilities, Sequence) and all(hasattr(m, "shape") for m in probabilities):
            n_actions, n_states = len(probabilities), probabilities[0].shape[0]
            by_action = sp.vstack([sp.csr_array(matrix) for matrix in probabilities]).tocsr()
            order = np.arange(n_actions * n_states).reshape(n_actions, n_states).T.reshape(-1)
            transition = sp.csr_array(by_action[order])
        else:
            dense = np.asarray(probabilities, dtype=np.float64)
            if dense.ndim != 3 or dense.shape[0] != dense.shape[2]:
                raise InvalidInputError(
                    f"probabilities have shape {dense.shape}; expected S x A x S, or a list of A "
                    "sparse matrices S x S"
                )
            n_states, n_actions = dense.shape[:2]
            transition = sp.csr_array(dense.reshape(-1, n_states))
        return cls(transition, n_actions, float(gamma), _distribution(start, n_states))

    @property
    def n_states(self) -> int:
        return int(self.transition.shape[1])

    @cached_property
    def next_states(self) -> IntArray | None:
        """`S x A` where the dynamics are deterministic, else None."""
        matrix = self.transition
        one_each = matrix.nnz == matrix.shape[0] and bool((np.diff(matrix.indptr) == 1).all())
        if not one_each:
            return None
        return matrix.indices.reshape(self.n_states, self.n_actions).astype(np.int64)

    def expect_next(self, values: FloatArray) -> FloatArray:
        """Expected value after each state-action: `S x n` to `S x A x n`."""
        if self.next_states is not None:
            return np.take(values, self.next_states, axis=0)
        expected: FloatArray = self.transition @ values
        return expected.reshape(self.n_states, self.n_actions, -1)

    def chain(self, weights: FloatArray) -> sp.csc_array:
        """Distributions after the actions in each state, summed by weights `S x A`: `S x S`.

        With the probabilities of a policy as weights, this is its Markov chain.
        """
        entries = self.transition.tocoo()
        rows, columns = entries.coords
        flow = weights.reshape(-1)[rows] * entries.data
        shape = (self.n_states, self.n_states)
        return sp.csc_array((flow, (rows // self.n_actions, columns)), shape=shape)

    def expected_rewards(self, reward: RewardFamily, thetas: FloatArray) -> FloatArray:
        """Expected reward of every state-action, `n x S x A`, or `n x S x 1` on states alone."""
        theta = as_float64(thetas)
        with torch.no_grad():
            return np.ascontiguousarray(self._expected(reward, theta))

    def _expected(self, reward: RewardFamily, theta: Tensor) -> FloatArray:
        rewards = reward(theta, self.paid_transitions(reward.depends_on)).numpy()
        if reward.depends_on == "state":
            return rewards[..., None]
        if reward.depends_on == "transition":
            matrix = self.transition
            entries = (matrix.data, np.arange(matrix.nnz), matrix.indptr)
            rewards = (sp.csr_array(entries, (matrix.shape[0], matrix.nnz)) @ rewards.T).T
        return rewards.reshape(len(theta), self.n_states, self.n_actions)

    def paid_transitions(self, depends_on: DependsOn) -> Transitions:
        """All transitions that a reward may pay for, each once, `T`."""
        states = np.arange(self.n_states)
        if depends_on == "state":
            return Transitions(states)
        rows = np.arange(self.transition.shape[0])
        if depends_on == "transition":
            rows = np.repeat(rows, np.diff(self.transition.indptr))
            return Transitions(
                rows // self.n_actions,
                rows % self.n_actions,
                self.transition.indices.astype(np.int64),
            )
        return Transitions(rows // self.n_actions, rows % self.n_actions)

    def slopes_by_transition(self, slopes: FloatArray, depends_on: DependsOn) -> FloatArray:
        """From a derivative by the expected reward of each state-action, `S x A`, to that by the
        reward of each of `paid_transitions`, `T`."""
        if depends_on == "state":
            return slopes.sum(axis=1)
        if depends_on == "state_action":
            return slopes.reshape(-1)
        counts = np.diff(self.transition.indptr)
        return np.repeat(slopes.reshape(-1), counts) * self.transition.data

    def sample_next(
        self, states: IntArray, actions: IntArray, rng: np.random.Generator
    ) -> IntArray:
        """Draw the next state of many state-actions at once, `n`."""
        if self.next_states is not None:
            return self.next_states[states, actions]
        # One cumulative sum serves all rows: row r lives in (r, r + 1], so that a single sorted
        # search finds the drawn entry of every row.
        rows = states * self.n_actions + actions
        positions = np.searchsorted(self._cumulative, rows + rng.random(len(rows)), side="right")
        last = self.transition.indptr[rows + 1] - 1
        return self.transition.indices[np.minimum(positions, last)].astype(np.int64)

    @cached_property
    def _cumulative(self) -> FloatArray:
        matrix = self.transition
        total = np.cumsum(matrix.data)
        before = np.concatenate([[0.0], total])[matrix.indptr[:-1]]
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        within = np.clip(total - before[rows], 0.0, 1.0)
        return rows + within


def _distribution(start: ArrayLike | None, n_states: int) -> FloatArray:
    if start is None:
        return np.full(n_states, 1.0 / n_states)
    return np.array(start, dtype=np.float64)
