"""The linear systems behind route choice: exponentials of values, and how often links are left.

With `M_ka = exp v(k, a)` and `F_d` the links that lead to destination `d`, the exponentials of the
values solve `z_d = M_d z_d + b_d`, where `b_d` is 1 on `F_d` and 0 elsewhere. Travellers that come
from sources `s_d` leave links `x_d` times, with `x_d = M_d' x_d + s_d`, in units of `1 / z_d`.

Where destinations are passed, `M_d = M`. Where they absorb, `M_d` is `M` without the rows of `F_d`,
so that `z_d = 1` there. Still one factorisation of `A = I - M` serves all destinations: with
`G = A^-1 E` for the columns of links that lead anywhere, `z_d = G c_d`, where `c_d` is 0 outside
`F_d` and such that `z_d = 1` on it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import SuperLU, splu

from boirl.errors import SolverError
from boirl.types import FloatArray, IntArray

CHUNK = 2**17
"""Numbers that are gathered at once: few enough to stay in the cache of a core."""


class RouteSystem(Protocol):
    """What is solved for all destinations.

    Attributes:
        z: Exponentials of the values, links x destinations.
    """

    @property
    def z(self) -> FloatArray: ...

    def visits(self, origins: IntArray, numbers: IntArray, counts: FloatArray) -> FloatArray:
        """`x`, links x destinations, from sources on links, on the way to destinations.

        Args:
            origins: Links, `N`.
            numbers: Of the destinations, `N`.
            counts: How much comes from there, `N`.
        """
        ...


def factorise(weights: sp.csr_array) -> SuperLU | None:
    """Factors of `I - M`; None where the sum over routes of any length diverges."""
    n = weights.shape[0]
    try:
        factors = splu(sp.csc_matrix(sp.identity(n) - weights))
        # The sum over routes of any length exists if and only if this is positive everywhere.
        reach = factors.solve(np.ones(n))
    except RuntimeError:
        return None
    return factors if np.isfinite(reach).all() and (reach > 0.0).all() else None


def solve_system(weights: sp.csr_array, leads_to: sp.csc_array, absorbing: bool) -> RouteSystem:
    """The system for these weights of turns, links x links.

    Args:
        weights: `M`.
        leads_to: 1 where a link leads to a destination, links x destinations.
        absorbing: Whether trips end on the first link that leads to their destination.

    Raises:
        SolverError: The sum over all routes diverges.
    """
    factors = factorise(weights)
    if factors is not None:
        return Absorbing(factors, leads_to) if absorbing else Passing(factors, leads_to)
    if absorbing:
        # A circle that pays may lead over the destination alone, where it cannot be closed.
        return Separate(weights, leads_to)
    raise diverges(weights)


def diverges(weights: sp.csr_array) -> SolverError:
    with np.errstate(divide="ignore"):
        utilities = np.log(weights.data[weights.data > 0.0])
    return SolverError(
        "the undiscounted sum over routes diverges: going round in circles costs too little (the "
        f"mean utility of a turn is {np.mean(utilities):.3g}); lower the weights"
    )


def dot_rows(
    one: FloatArray, other: FloatArray, rows: IntArray, other_rows: IntArray
) -> FloatArray:
    """Products of `T` pairs of rows of two tables, each summed up, `T`."""
    one, other = np.ascontiguousarray(one), np.ascontiguousarray(other)
    products = np.empty(len(rows))
    step = max(1, CHUNK // one.shape[1])
    for first in range(0, len(rows), step):
        own = slice(first, first + step)
        products[own] = np.einsum("td,td->t", one[rows[own]], other[other_rows[own]])
    return products


class Passing:
    """Travellers may go on where their destination could be reached."""

    def __init__(self, factors: SuperLU, leads_to: sp.csc_array) -> None:
        self.factors = factors
        self.z: FloatArray = factors.solve(leads_to.toarray())

    def visits(self, origins: IntArray, numbers: IntArray, counts: FloatArray) -> FloatArray:
        sources = np.zeros_like(self.z)
        np.add.at(sources, (origins, numbers), counts)
        solved: FloatArray = self.factors.solve(sources, trans="T")
        return solved


class Absorbing:
    """Trips end where their destination is reached; one factorisation for all destinations."""

    def __init__(self, factors: SuperLU, leads_to: sp.csc_array) -> None:
        self.factors, self.leads_to = factors, leads_to
        n, count = leads_to.shape
        feeders, place = np.unique(leads_to.indices, return_inverse=True)
        columns = np.zeros((n, len(feeders)))
        columns[feeders, np.arange(len(feeders))] = 1.0
        self.reached: FloatArray = factors.solve(columns)
        ways = np.diff(leads_to.indptr)
        scale = np.empty(len(place))
        self.groups: list[tuple[IntArray, IntArray, IntArray, FloatArray]] = []
        # Destinations to which equally many links lead are solved for together.
        for size in np.unique(ways):
            numbers = np.flatnonzero(ways == size)
            entries = leads_to.indptr[numbers][:, None] + np.arange(size)
            links, own = leads_to.indices[entries], place[entries]
            between = self.reached[links[:, :, None], own[:, None, :]]
            scale[entries] = np.linalg.solve(between, np.ones((len(numbers), size, 1)))[..., 0]
            self.groups.append((numbers, links, own, between))
        combine = sp.csc_array((scale, place, leads_to.indptr), shape=(len(feeders), count))
        self.z: FloatArray = np.asarray((combine.T @ self.reached.T).T)
        self.z[leads_to.indices, np.repeat(np.arange(count), ways)] = 1.0

    def visits(self, origins: IntArray, numbers: IntArray, counts: FloatArray) -> FloatArray:
        sources = np.zeros_like(self.z)
        np.add.at(sources, (origins, numbers), counts)
        for chosen, links, own, between in self.groups:
            # What arrives is taken out where it arrives, so that nothing of it goes on.
            row = np.full(sources.shape[1], -1)
            row[chosen] = np.arange(len(chosen))
            mine = np.flatnonzero(row[numbers] >= 0)
            rows = row[numbers[mine]]
            passing = np.zeros(links.shape)
            np.add.at(
                passing, rows, counts[mine, None] * self.reached[origins[mine, None], own[rows]]
            )
            arriving = np.linalg.solve(between.transpose(0, 2, 1), passing[..., None])[..., 0]
            sources[links, chosen[:, None]] -= arriving
        solved: FloatArray = self.factors.solve(sources, trans="T")
        solved[self.leads_to.indices, self._columns] = 0.0
        return solved

    @cached_property
    def _columns(self) -> IntArray:
        return np.repeat(np.arange(self.leads_to.shape[1]), np.diff(self.leads_to.indptr))


class Separate:
    """Trips end where their destination is reached; a factorisation for each destination."""

    def __init__(self, weights: sp.csr_array, leads_to: sp.csc_array) -> None:
        self.weights, self.leads_to = weights, leads_to
        self.z: FloatArray = leads_to.toarray()
        for number in range(leads_to.shape[1]):
            self.z[:, number] = self._factors(number).solve(self.z[:, number])

    def _factors(self, number: int) -> SuperLU:
        first, last = self.leads_to.indptr[number : number + 2]
        goes_on = np.ones(self.leads_to.shape[0])
        goes_on[self.leads_to.indices[first:last]] = 0.0
        factors = factorise(sp.csr_array(sp.diags_array(goes_on) @ self.weights))
        if factors is None:
            raise diverges(self.weights)
        return factors

    def visits(self, origins: IntArray, numbers: IntArray, counts: FloatArray) -> FloatArray:
        solved = np.zeros_like(self.z)
        np.add.at(solved, (origins, numbers), counts)
        for number in np.unique(numbers).tolist():
            solved[:, number] = self._factors(number).solve(solved[:, number], trans="T")
            first, last = self.leads_to.indptr[number : number + 2]
            solved[self.leads_to.indices[first:last], number] = 0.0
        return solved
