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

from boirl.environments import TabularMDP
from boirl.types import FloatArray

Bellman = Literal["max", "boltzmann", "logsumexp"]

TIED = 64 * np.finfo(np.float64).eps
"""Relative difference up to which two actions count as equally good: their rounding."""


@dataclass(frozen=True, eq=False)
class BellmanEquation:
    """`V = T(r + gamma P V)` for `n` reward tables.

    Args:
        mdp: The dynamics.
        rewards: `S x A x n`, or `S x 1 x n` on states alone.
        bellman: The operator.
        beta: Inverse temperature.
    """

    mdp: TabularMDP
    rewards: FloatArray
    bellman: Bellman
    beta: float

    @property
    def size(self) -> int:
        """Number of reward tables, `n`."""
        return self.rewards.shape[-1]

    def of(self, chosen: np.ndarray) -> BellmanEquation:
        """The equations of some of the reward tables, by number or mask."""
        return BellmanEquation(self.mdp, self.rewards[..., chosen], self.bellman, self.beta)

    @property
    def single(self) -> BellmanEquation:
        """The same in single precision."""
        return replace(self, rewards=self.rewards.astype(np.float32))

    def q(self, values: FloatArray) -> FloatArray:
        """`r + gamma E[V(s')]` at values `S x n`: `S x A x n`."""
        q = self.mdp.discounted_next(values)
        q += self.rewards
        return q

    def update(self, values: FloatArray) -> FloatArray:
        """`T(r + gamma P V)` at values `S x n`: what a sweep does."""
        if self.rewards.shape[1] > 1:
            return self.back_up(self.q(values))
        # What a state pays is the same for all of its actions, and can be added in the end.
        new = self.back_up(self.mdp.discounted_next(values))
        new += self.rewards[:, 0]
        new[self.mdp.terminal] = 0.0
        return new

    def back_up(self, q: FloatArray) -> FloatArray:
        """`T(q)`, `S x n`. Overwrites `q`."""
        top = q.max(axis=1)
        if self.bellman == "max":
            values = top
        elif self.bellman == "logsumexp":
            q -= top[:, None]
            if self.beta != 1.0:
                q *= self.beta
            np.exp(q, out=q)
            values = q.sum(axis=1)
            np.log(values, out=values)
            if self.beta != 1.0:
                values /= self.beta
            values += top
        else:
            weights = np.exp(self.beta * (q - top[:, None]))
            values = (weights * q).sum(axis=1) / weights.sum(axis=1)
        values[self.mdp.terminal] = 0.0
        return values

    def log_policies(self, q: FloatArray) -> FloatArray:
        """`log softmax(beta q)`, `S x A x n`; minus infinity in terminal states."""
        scaled = self.beta * (q - q.max(axis=1, keepdims=True))
        logs: FloatArray = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
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
