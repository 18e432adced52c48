"""Where the links of a road network lie, worked out from turns alone.

A network with turn angles and travel times needs no coordinates to be drawn. The angles fix how
each link is headed relative to the next, so all headings follow up to one rotation. Links that
meet share a crossing, and crossings are placed so that every link points along its heading and is,
more loosely, as long as it takes to travel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import splu

from boirl.types import FloatArray, IntArray

if TYPE_CHECKING:
    from boirl.domains.roads.network import RoadNetwork

TRUST_IN_LENGTHS = 0.03
"""Weight of a link's length beside that of its heading: times say little about lengths."""

SLACK = 1e-9
"""Pulls crossings to the origin, so that pieces of network that nothing joins do not float away."""


def lay_out(network: RoadNetwork) -> FloatArray:
    """Start and end of each link, `n x 2 x 2`, the scale being that of the travel times."""
    crossings = _crossings(network)
    headings = _headings(network)
    direction = np.stack([np.cos(headings), np.sin(headings)], axis=1)
    places = _places(crossings, direction, network.times)
    return places[crossings]


def _crossings(network: RoadNetwork) -> IntArray:
    """Number of the crossing where each link starts and ends, `n x 2`."""
    n = network.n_links
    left, entered = network.turns.T
    meet = sp.csr_array((np.ones(len(left)), (n + left, entered)), shape=(2 * n, 2 * n))
    _, crossing = connected_components(meet, directed=False)
    return np.stack([crossing[:n], crossing[n:]], axis=1)


def _headings(network: RoadNetwork) -> FloatArray:
    """Direction of each link in radians, carried from link to link along the turns."""
    n = network.n_links
    left, entered = network.turns.T
    angles = sp.csr_array((np.exp(-1j * network.angles), (left, entered)), shape=(n, n))
    both = (angles + angles.conj().T).tocsr()
    joined = sp.csr_array((np.ones(both.nnz), both.indices, both.indptr), shape=both.shape)
    headings = np.ones(n, dtype=np.complex128)
    _, piece = connected_components(joined, directed=False)
    for first in np.unique(piece, return_index=True)[1]:
        order, parents = breadth_first_order(joined, first, directed=False)
        for link in order[1:].tolist():
            parent = int(parents[link])
            change = both[parent, link]
            headings[link] = headings[parent] * change / abs(change)
    return np.angle(headings)


def _places(crossings: IntArray, direction: FloatArray, lengths: FloatArray) -> FloatArray:
    """Positions of the crossings, `C x 2`, by least squares."""
    n, count = len(crossings), int(crossings.max()) + 1
    links = np.arange(n)
    step = sp.csr_array(
        (np.repeat([-1.0, 1.0], n), (np.tile(links, 2), crossings.T.reshape(-1))),
        shape=(n, count),
    )
    along, across = direction, np.stack([-direction[:, 1], direction[:, 0]], axis=1)

    def component(axis: FloatArray) -> sp.csr_array:
        """What a link's step is along an axis of its own, given all positions x, then y."""
        parts = [sp.diags_array(axis[:, i]) @ step for i in (0, 1)]
        return sp.csr_array(sp.hstack(parts))

    # A short link says as much about its heading as a long one.
    weight = sp.diags_array(1.0 / np.maximum(lengths, np.median(lengths) * 0.1))
    sideways = weight @ component(across)
    forward = TRUST_IN_LENGTHS * (weight @ component(along))
    normal = sideways.T @ sideways + forward.T @ forward + SLACK * sp.identity(2 * count)
    right = forward.T @ (TRUST_IN_LENGTHS * (weight @ lengths))
    solved = splu(sp.csc_matrix(normal)).solve(right)
    return solved.reshape(2, count).T
