"""Groups of things that are all alike."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from boirl.types import FloatArray, IntArray


def group_alike(distances: FloatArray, distance: float) -> list[IntArray]:
    """Numbers of the members of each group, by the distances between all, `n x n`.

    No two members of a group are farther apart than `distance` (complete linkage). Groups come in
    the order of their first members.
    """
    if len(distances) < 2:
        return [np.arange(1)] * len(distances)
    condensed = squareform(distances, checks=False)
    labels = fcluster(linkage(condensed, "complete"), distance, "distance")
    return [np.flatnonzero(labels == label) for label in dict.fromkeys(labels.tolist())]
