"""Where the sum over routes diverges, and which other rewards it diverges for because of that.

The sum over routes of any length exists if and only if the largest eigenvalue of `M`, the weights
of turns, is below one. Its logarithm is a convex function of the utilities (Kingman 1961), and so
of the parameters of a linear reward: it lies above all of its tangents. Where the tangent at one
theta is above zero, the sum diverges, and no policy need be sought there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, eigs

from boirl.types import FloatArray

SIMPLE = 1e-6
"""Cosine of the two eigenvectors of an eigenvalue below which it has no slope to rely on."""


class Growth(NamedTuple):
    """The largest eigenvalue of the weights of turns, and its eigenvectors, one entry per link."""

    eigenvalue: float
    left: FloatArray
    right: FloatArray

    @classmethod
    def of(cls, weights: sp.csr_array) -> Growth | None:
        """For weights of turns, links x links; None where the eigenvalue is not a simple one."""
        one, other = (_largest(matrix) for matrix in (weights, weights.T))
        if one is None or other is None:
            return None
        eigenvalue, right, left = *one, other[1]
        is_simple = eigenvalue > 0.0 and float(left @ right) > SIMPLE
        return cls(eigenvalue, left, right) if is_simple else None

    @property
    def by_link(self) -> FloatArray:
        """How much each link has to do with it; they sum to one."""
        shares = self.left * self.right
        return shares / shares.sum()


def growth_to_destinations(weights: sp.csr_array, leads_to: sp.csc_array) -> Growth | None:
    """That of travellers to a destination at which trips end, for one that makes least of it.

    Without the turns that go on from there, the eigenvalue is lower. Destinations that the circles
    in question do not lead over change nothing.
    """
    passing = Growth.of(weights)
    if passing is None:
        return None
    involved = leads_to.T @ passing.by_link
    least = int(involved.argmin())
    if involved[least] == 0.0:
        return passing
    goes_on = np.ones(leads_to.shape[0])
    goes_on[leads_to.indices[leads_to.indptr[least] : leads_to.indptr[least + 1]]] = 0.0
    return Growth.of(sp.csr_array(sp.diags_array(goes_on) @ weights))


def _largest(matrix: sp.sparray) -> tuple[float, FloatArray] | None:
    """The largest eigenvalue of a matrix without negative entries, and its eigenvector."""
    n = matrix.shape[0]
    if n < 4:
        values, vectors = np.linalg.eig(matrix.toarray())
    else:
        try:
            values, vectors = eigs(matrix, k=1, which="LR", v0=np.ones(n))
        except ArpackError:
            return None
    best = int(values.real.argmax())
    # That of the largest eigenvalue has no negative entries, up to its sign.
    vector = np.abs(vectors[:, best].real)
    return float(values[best].real), vector / np.linalg.norm(vector)
