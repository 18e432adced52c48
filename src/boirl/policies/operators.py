"""The three Bellman operators, for a batch of rewards at once.

With `Q = r + gamma E[V(s')]` and inverse temperature `beta`, the operators are

- `max`: `V = max_a Q`, the optimal values; the policy is a softmax on top of them;
- `boltzmann`: `V = sum_a pi(a) Q` with `pi = softmax(beta Q)`. It is not a contraction and may
  have several fixed points, or sweeps that never settle;
- `logsumexp`: `V = log sum_a exp(beta Q) / beta`, the maximum-entropy values.

In all three the policy is `softmax(beta Q)`. No action is taken in a terminal state: its value is 0
and all its actions have probability 0. The batch is the last axis of all arrays: looking up next
states then copies whole rows, ten times faster than with the batch first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.sparse as sp

from boirl.environments import TabularMDP
from boirl.types import FloatArray

Bellman = Literal["max", "boltzmann", "logsumexp"]

TIED = 64 * np.finfo(np.float64).eps
"""Relative difference up to which two actions count as equally good: their rounding."""

COMPILED_FROM = 50_000
"""Products that a sweep sums from which on it is compiled code, which takes time to load."""

COMPILED_WIDTH = 8
"""Reward tables from which on compiled code is faster: its innermost loops are over them."""


@dataclass(frozen=True, eq=False)
class BellmanEquation:
    """`V = T(r + gamma P V)` for `n` reward tables.

    Args:
        mdp: The dynamics.
        rewards: `S x A x n`, or `S x 1 x n` on states alone.
        bellman: The operator.
        beta: Inverse temperature.
        compiled: Whether updates are done by `kernels`, see `for_sweeps_from`.
    """

    mdp: TabularMDP
    rewards: FloatArray
    bellman: Bellman
    beta: float
    compiled: bool = False

    @property
    def size(self) -> int:
        """Number of reward tables, `n`."""
        return self.rewards.shape[-1]

    def of(self, chosen: np.ndarray) -> BellmanEquation:
        """The equations of some of the reward tables, by number or mask."""
        numbers = np.arange(self.size)[chosen]
        # What `take` returns is contiguous, unlike `rewards[..., numbers]`.
        return replace(self, rewards=self.rewards.take(numbers, axis=-1))

    def for_sweeps_from(self, values: FloatArray) -> BellmanEquation:
        """The same equations, compiled where sweeps from values `S x n` are worth it.

        Dense dynamics are left to BLAS. What is not a number is left to NumPy, which passes it on.
        """
        products = self.mdp.transition.nnz * self.size
        large = self.size >= COMPILED_WIDTH and products >= COMPILED_FROM
        sparse = large and sp.issparse(self.mdp.discounted[8])
        finite = sparse and np.isfinite(self.rewards).all() and np.isfinite(values).all()
        return replace(self, compiled=bool(finite))

    @property
    def single(self) -> BellmanEquation:
        """The same in single precision."""
        return replace(self, rewards=self.rewards.astype(np.float32))

    def q(self, values: FloatArray) -> FloatArray:
        """`r + gamma E[V(s')]` at values `S x n`: `S x A x n`."""
        q = self.mdp.discounted_next(values)
        q += self.rewards
        return q

    def sweep(
        self, values: FloatArray, times: int
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Sweep values `S x n` so many times. Overwrites them.

        Returns:
            The new values, `S x n`; the smallest and the largest change of any of them in the last
            sweep, and the largest size of any of them, each `n`.
        """
        if self.compiled and self.bellman == "max":
            from boirl.policies.kernels import sweep_max

            rows, ends = self.mdp.discounted[values.dtype.itemsize], self.mdp.is_terminal
            entries = (rows.indptr, rows.indices, rows.data)
            return sweep_max(*entries, self.rewards, ends, values, times)
        for _ in range(times - 1):
            values = self.update(values)
        new = self.update(values)
        change = new - values
        return new, change.min(axis=0), change.max(axis=0), np.abs(new).max(axis=0)

    def update(self, values: FloatArray) -> FloatArray:
        """`T(r + gamma P V)` at values `S x n`: what a sweep does."""
        # What a state pays is the same for all of its actions, and can be added in the end.
        on_states = self.rewards.shape[1] == 1
        if self.compiled:
            new = self._back_up(*self._look_ahead(values, on_states))
        else:
            new = self.back_up(self.mdp.discounted_next(values) if on_states else self.q(values))
        if on_states:
            new += self.rewards[:, 0]
            new[self.mdp.terminal] = 0.0
        return new

    def _look_ahead(self, values: FloatArray, on_states: bool) -> tuple[FloatArray, FloatArray]:
        """`q`, without rewards on states, and the best of each state, `S x n`; by `kernels`."""
        from boirl.policies.kernels import look_ahead

        rows = self.mdp.discounted[values.dtype.itemsize]
        entries = (rows.indptr, rows.indices, rows.data)
        rewards = self.rewards[:, :0] if on_states else self.rewards
        q = np.empty((self.mdp.n_states, self.mdp.n_actions, self.size), values.dtype)
        best = np.empty_like(values)
        look_ahead(*entries, values, rewards, q, best)
        return q, best

    def back_up(self, q: FloatArray) -> FloatArray:
        """`T(q)`, `S x n`. Overwrites `q`."""
        return self._back_up(q, q.max(axis=1))

    def _back_up(self, q: FloatArray, top: FloatArray) -> FloatArray:
        """`T(q)` given the best of each state, `S x n`. Overwrites both."""
        values = top
        if self.bellman != "max":
            q -= top[:, None]
            if self.beta != 1.0:
                q *= self.beta
        if self.bellman == "logsumexp":
            np.exp(q, out=q)
            values = q.sum(axis=1)
            np.log(values, out=values)
            if self.beta != 1.0:
                values /= self.beta
            values += top
        elif self.bellman == "boltzmann":
            # The mean of what actions are worse than the best: it does not round off the best.
            weights = np.exp(q)
            q *= weights
            values = q.sum(axis=1)
            values /= weights.sum(axis=1)
            if self.beta != 1.0:
                values /= self.beta
            values += top
        values[self.mdp.terminal] = 0.0
        return values

    def log_policies(self, q: FloatArray) -> FloatArray:
        """`log softmax(beta q)`, `S x A x n`; minus infinity in terminal states."""
        logs: FloatArray = q - q.max(axis=1, keepdims=True)
        logs *= self.beta
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
        logs[self.mdp.terminal] = -np.inf
        return logs

    def back_up_with_slopes(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`T(q)`, `S x n`, and its derivative by `q`, `S x A x n`.

        Where several actions are best, the values of `max` have no derivative, and any mixture of
        those of the actions will do: the first of them or, without a discount, the mixture of all.
        A single one of them might go round in a circle for ever, the mixture ends if any does.
        """
        top = q.max(axis=1, keepdims=True)
        if self.bellman == "max":
            values = top[:, 0].copy()
            if self.mdp.gamma < 1.0:
                actions = np.arange(q.shape[1])[:, None]
                slopes = (actions == q.argmax(axis=1)[:, None]).astype(np.float64)
            else:
                best = (q >= top - TIED * np.abs(q).max(axis=(0, 1))).astype(np.float64)
                slopes = best / best.sum(axis=1, keepdims=True)
        else:
            weights = np.exp(self.beta * (q - top))
            total = weights.sum(axis=1, keepdims=True)
            slopes = weights / total
            if self.bellman == "logsumexp":
                values = (top + np.log(total) / self.beta)[:, 0]
            else:
                values = (slopes * q).sum(axis=1)
                slopes *= 1.0 + self.beta * (q - values[:, None])
        values[self.mdp.terminal], slopes[self.mdp.terminal] = 0.0, 0.0
        return values, slopes
