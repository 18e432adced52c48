"""Linear systems of values: `(I - gamma W) x = right`, where row `s` of `W` moves state `s`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import SuperLU, splu

from boirl.environments import TabularMDP
from boirl.types import FloatArray, IntArray

NEGLIGIBLE_DISCOUNT = 1e-18
SWEEP_FROM_STATES = 500
"""With stochastic dynamics, factors fill up; from so many states on, sweeps are faster."""

SWEPT_PRECISION = 1e-14
MAX_SWEEPS = 100_000


class Linearisation(Protocol):
    """The system `(I - gamma W) x = right` of a Newton step; factorised once, when first solved.

    At the fixed point it is also the derivative of the values by the rewards, so that values and
    gradients share one factorisation.
    """

    def solve(self, right: FloatArray) -> FloatArray:
        """`x`, `S`; raises `RuntimeError` where the matrix is singular."""

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        """`x` with `(I - gamma W)' x = right`, `S`."""


@dataclass(frozen=True, eq=False)
class SparseSystem:
    """`I - gamma W` for a sparse `W`, `S x S`."""

    weights: sp.sparray
    gamma: float

    @cached_property
    def _factors(self) -> SuperLU:
        n = self.weights.shape[0]
        return splu(sp.csc_array(sp.identity(n) - self.gamma * self.weights))

    def solve(self, right: FloatArray) -> FloatArray:
        return self._factors.solve(right)

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        return self._factors.solve(right, trans="T")


@dataclass(frozen=True, eq=False)
class ChainSystem:
    """`I - gamma W` where each state leads to a single one: solved without any factorisation."""

    following: IntArray
    gamma: float

    def solve(self, right: FloatArray) -> FloatArray:
        """`x_s = right_s + gamma x_following(s)`: twice as many terms at each pass."""
        total, following, discount = right, self.following, self.gamma
        while discount > NEGLIGIBLE_DISCOUNT:
            total = total + discount * total[following]
            following = following[following]
            discount *= discount
        return total

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        """`x_s = right_s + gamma (sum of x_t over t with following(t) = s)`, likewise."""
        total, following, discount = right, self.following, self.gamma
        while discount > NEGLIGIBLE_DISCOUNT:
            total = total + discount * np.bincount(following, total, len(total))
            following = following[following]
            discount *= discount
        return total


@dataclass(frozen=True, eq=False)
class SweptSystem:
    """`I - gamma W` of actions of weight `S x A`, solved by sweeps: no matrix is factorised.

    For many states with stochastic dynamics, where factors fill up.
    """

    mdp: TabularMDP
    weights: FloatArray

    def solve(self, right: FloatArray) -> FloatArray:
        return self._iterate(right, self._forward)

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        return self._iterate(right, self._backward)

    def _forward(self, values: FloatArray) -> FloatArray:
        following = self.mdp.expect_next(values[:, None])[..., 0]
        expected: FloatArray = (self.weights * following).sum(axis=1)
        return expected

    def _backward(self, flow: FloatArray) -> FloatArray:
        arriving: FloatArray = self.mdp.transition.T @ (self.weights * flow[:, None]).reshape(-1)
        return arriving

    def _iterate(self, right: FloatArray, step: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """The fixed point of `x = right + gamma step(x)`; `RuntimeError` where there is none."""
        enough = SWEPT_PRECISION * float(np.abs(right).max(initial=0.0))
        total = right
        for _ in range(MAX_SWEEPS):
            new = right + self.mdp.gamma * step(total)
            change = float(np.abs(new - total).max(initial=0.0))
            total = new
            if change <= enough:
                return total
        raise RuntimeError(f"the sweeps still change by {change:.3g} after {MAX_SWEEPS}")


def linearise(mdp: TabularMDP, weights: FloatArray) -> Linearisation:
    """The system of values that move by actions of weight `S x A`.

    With the probabilities of a policy as weights, `solve_transposed` of a distribution of first
    states gives expected discounted visits.
    """
    chosen = weights.argmax(axis=1)
    single = weights[np.arange(mdp.n_states), chosen] == 1.0
    if mdp.next_states is not None:
        if single.all() and mdp.gamma < 1.0:
            return ChainSystem(mdp.next_states[np.arange(len(chosen)), chosen], mdp.gamma)
    elif mdp.n_states >= SWEEP_FROM_STATES and mdp.gamma < 1.0:
        return SweptSystem(mdp, weights)
    return SparseSystem(mdp.chain(weights), mdp.gamma)
