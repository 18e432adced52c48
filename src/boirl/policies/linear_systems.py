"""Linear systems of values: `(I - gamma W) x = right`, where row `s` of `W` moves state `s`.

A step of Newton's method solves one, and so does the derivative of an NLL. There are four ways, and
`linearise` chooses by the dynamics alone, so that the same problem is always solved the same way:

- deterministic dynamics and one next state each: chains are summed by doubling (`ChainSystem`);
- few states, or dynamics that reach nearly every state: dense factors (`DenseSystem`);
- states that lead to few others near them, as on grids and roads: sparse factors (`SparseSystem`);
- anything else: a Krylov method, which needs products alone (`KrylovSystem`), since sparse
  factors of such dynamics fill up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import LinearOperator, SuperLU, gmres, splu

from boirl.environments import TabularMDP
from boirl.types import FloatArray, IntArray

NEGLIGIBLE_DISCOUNT = 1e-18

DENSE_STATES = 400
"""Up to so many states, dense factors take about as long as a Krylov method or less."""

DENSE_STATES_IF_FULL = 4000
"""The same where the dynamics reach a good part of all states, so that products are slow, too."""

KRYLOV_PRODUCTS = 50
"""Products that a Krylov method is taken to need: what chains that mix well need to rounding."""

KRYLOV_PRECISION = 1e-12
KRYLOV_CYCLES = 10
"""Restarts, after `KRYLOV_PRODUCTS` products each, before sparse factors are tried after all."""


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
class DenseSystem:
    """`I - gamma W` of actions of weight `S x A`, as a dense matrix."""

    mdp: TabularMDP
    weights: FloatArray

    @cached_property
    def _factors(self) -> tuple[FloatArray, IntArray]:
        matrix = (self.weights[:, None] @ self.mdp.dense_by_state)[:, 0]
        matrix *= -self.mdp.gamma
        matrix.reshape(-1)[:: self.mdp.n_states + 1] += 1.0
        # The transpose is what LAPACK reads without a copy.
        factors, pivots, info = lapack.dgetrf(matrix.T, overwrite_a=True)
        if info > 0:
            raise RuntimeError("the matrix is singular")
        return factors, pivots

    def solve(self, right: FloatArray) -> FloatArray:
        return self._solve(right, trans=1)

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        return self._solve(right, trans=0)

    def _solve(self, right: FloatArray, trans: int) -> FloatArray:
        solution, _ = lapack.dgetrs(*self._factors, right, trans=trans)
        return np.asarray(solution)


def dense_matrices(mdp: TabularMDP, weights: FloatArray) -> FloatArray:
    """`I - gamma W` for `n` sets of weights, `S x A x n`: `n x S x S`."""
    by_state = np.moveaxis(weights, -1, 1)
    matrices: FloatArray = np.moveaxis(by_state @ mdp.dense_by_state, 1, 0) * -mdp.gamma
    diagonal = np.arange(mdp.n_states)
    matrices[:, diagonal, diagonal] += 1.0
    return matrices


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
    """`I - gamma W` where each state leads to a single one: solved without any factorisation.

    Args:
        following: The state that each state leads to, `S`; `S` itself for a state that ends.
        gamma: Discount.
    """

    following: IntArray
    gamma: float

    def solve(self, right: FloatArray) -> FloatArray:
        """`x_s = right_s + gamma x_following(s)`: twice as many terms at each pass."""
        return self._double(right, lambda total, following: total[following])

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        """`x_s = right_s + gamma (sum of x_t over t with following(t) = s)`, likewise."""

        def arriving(total: FloatArray, following: IntArray) -> FloatArray:
            counts: FloatArray = np.bincount(following, total, len(total)).astype(np.float64)
            counts[-1] = 0.0
            return counts

        return self._double(right, arriving)

    def _double(
        self, right: FloatArray, move: Callable[[FloatArray, IntArray], FloatArray]
    ) -> FloatArray:
        end = len(right)
        # One more entry, always 0, stands for what comes after the end.
        total, following = np.append(right, 0.0), np.append(self.following, end)
        discount = self.gamma
        while discount > NEGLIGIBLE_DISCOUNT and (following < end).any():
            total = total + discount * move(total, following)
            if discount == 1.0 and (following == following[following]).all():
                raise RuntimeError("the matrix is singular: not every chain ends")
            following = following[following]
            discount *= discount
        return total[:-1]


@dataclass(frozen=True, eq=False)
class KrylovSystem:
    """`I - gamma W` of actions of weight `S x A`, solved by restarted GMRES.

    Chains that mix well take a few dozen products, whatever the discount. Where they do not,
    sparse factors take over, whatever they cost.
    """

    mdp: TabularMDP
    weights: FloatArray

    def solve(self, right: FloatArray) -> FloatArray:
        def forward(values: FloatArray) -> FloatArray:
            following = self.mdp.expect_next(values.reshape(-1, 1))[..., 0]
            return values - self.mdp.gamma * (self.weights * following).sum(axis=1)

        return self._iterate(right, forward, self._factors.solve)

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        def backward(flow: FloatArray) -> FloatArray:
            leaving = (self.weights * flow.reshape(-1, 1)).reshape(-1)
            return flow - self.mdp.gamma * (self.mdp.transition.T @ leaving)

        return self._iterate(right, backward, self._factors.solve_transposed)

    @property
    def _factors(self) -> SparseSystem:
        return SparseSystem(self.mdp.chain(self.weights), self.mdp.gamma)

    def _iterate(
        self,
        right: FloatArray,
        product: Callable[[FloatArray], FloatArray],
        factorised: Callable[[FloatArray], FloatArray],
    ) -> FloatArray:
        n = len(right)
        solution, info = gmres(
            LinearOperator((n, n), matvec=product, dtype=np.float64),
            right,
            rtol=KRYLOV_PRECISION,
            restart=KRYLOV_PRODUCTS,
            maxiter=KRYLOV_CYCLES,
        )
        return solution if info == 0 else factorised(right)


def linearise(mdp: TabularMDP, weights: FloatArray) -> Linearisation:
    """The system of values that move by actions of weight `S x A`.

    With the probabilities of a policy as weights, `solve_transposed` of a distribution of first
    states gives expected discounted visits.
    """
    if mdp.next_states is not None:
        chosen = weights.argmax(axis=1)
        states = np.arange(mdp.n_states)
        if (mdp.is_terminal | (weights[states, chosen] == 1.0)).all():
            following = mdp.next_states[states, chosen]
            following[mdp.terminal] = mdp.n_states
            return ChainSystem(following, mdp.gamma)
    kind = structure_of(mdp).kind
    if kind == "sparse":
        return SparseSystem(mdp.chain(weights), mdp.gamma)
    return DenseSystem(mdp, weights) if kind == "dense" else KrylovSystem(mdp, weights)


@dataclass(frozen=True)
class Structure:
    """How systems of some dynamics are solved, and what that takes.

    Attributes:
        kind: `"dense"`, `"sparse"` or `"krylov"`.
        operations: Multiplications and additions of one solution, at most.
    """

    kind: str
    operations: float


def structure_of(mdp: TabularMDP) -> Structure:
    """How systems of these dynamics are solved; computed once."""
    if mdp not in _STRUCTURES:
        _STRUCTURES[mdp] = _choose(mdp)
    return _STRUCTURES[mdp]


def _choose(mdp: TabularMDP) -> Structure:
    n = mdp.n_states
    reached = mdp.transition.nnz / max(1, mdp.transition.shape[0])
    full = reached >= n / mdp.n_actions
    if n <= DENSE_STATES or (full and n <= DENSE_STATES_IF_FULL):
        return Structure("dense", 2 / 3 * n**3)
    factorised = _sparse_operations(mdp)
    iterated = 2.0 * KRYLOV_PRODUCTS * (mdp.transition.nnz + n * KRYLOV_PRODUCTS)
    if mdp.next_states is not None or factorised <= iterated:
        return Structure("sparse", factorised)
    return Structure("krylov", iterated)


def _sparse_operations(mdp: TabularMDP) -> float:
    """Operations that factors of `I - gamma W` take at most: those within an envelope.

    States are numbered so that those which lead to each other are close (reverse Cuthill-McKee).
    Factors then fill up the entries between the first one of a row and the diagonal, no more.
    """
    pattern: Any = sp.csr_array(mdp.chain(np.ones((mdp.n_states, mdp.n_actions))))
    live = np.flatnonzero(~mdp.is_terminal)
    pattern = sp.csr_array(pattern[live][:, live])
    pattern = sp.csr_array(pattern + pattern.T)
    order = reverse_cuthill_mckee(sp.csr_matrix(pattern), symmetric_mode=True)
    place = np.empty(len(live), dtype=np.int64)
    place[order] = np.arange(len(live))
    entries = pattern.tocoo()
    rows, columns = (place[coordinate] for coordinate in entries.coords)
    first = np.arange(len(live))
    np.minimum.at(first, rows, columns)
    width = (np.arange(len(live)) - first).astype(np.float64)
    return float(2.0 * (width**2).sum() + len(live))


_STRUCTURES: WeakKeyDictionary[TabularMDP, Structure] = WeakKeyDictionary()
