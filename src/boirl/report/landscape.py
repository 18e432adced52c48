"""The predicted landscape in a form that a page can slice at any slider position.

A page cannot ask the surrogate. It has tables of predictions on a grid through the best reward:
for up to three parameters the whole grid; for more, all slices in one and in two parameters, the
others held at the best. Their sum by inclusion and exclusion,

    f(theta) = f0 + sum_i f_i(theta_i) + sum_ij f_ij(theta_i, theta_j),

is exact as long as at most two parameters differ from the best, and for any landscape that is
quadratic (a cut-HDMR of second order; Rabitz and Alis, 1999). How far it is off elsewhere is
measured at samples of the posterior, and said on the page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from boirl.types import Box, FloatArray, IntArray

Predict = Callable[[FloatArray], FloatArray]
"""From thetas `n x d` to predicted NLLs, `n`."""

WHOLE_GRID_UNTIL = 3
"""Parameters up to which the whole grid is predicted."""

POINTS_PER_AXIS = {1: 201, 2: 45, 3: 25}
MOST_POINTS_PER_AXIS, LEAST_POINTS_PER_AXIS = 25, 9
PREDICTIONS = 90_000
"""Predictions of a landscape by pairs, half a megabyte of a page."""


@dataclass(frozen=True, eq=False)
class Term:
    """A table over some parameters.

    Attributes:
        columns: Numbers of the parameters.
        values: One axis per parameter.
    """

    columns: tuple[int, ...]
    values: FloatArray


@dataclass(frozen=True, eq=False)
class SlicedLandscape:
    """Terms whose sum is the predicted NLL.

    Attributes:
        columns: Numbers of the parameters that vary, in theta.
        axes: Values of each of these on the grid, `len(columns)` arrays.
        anchor: Where the best reward is on each axis.
        terms: Over positions in `columns`.
    """

    columns: tuple[int, ...]
    axes: tuple[FloatArray, ...]
    anchor: tuple[int, ...]
    terms: tuple[Term, ...]

    @property
    def is_exact(self) -> bool:
        """Whether every point of the grid was predicted."""
        return len(self.columns) <= WHOLE_GRID_UNTIL

    def at(self, positions: IntArray) -> FloatArray:
        """The sum at points of the grid, `n x len(columns)`: `n`."""
        parts = [term.values[tuple(positions[:, list(term.columns)].T)] for term in self.terms]
        return np.sum(parts, axis=0)

    def nearest(self, thetas: FloatArray) -> IntArray:
        """The points of the grid nearest to thetas `n x d`, `n x len(columns)`."""
        near = [
            np.abs(thetas[:, [column]] - axis).argmin(axis=1)
            for column, axis in zip(self.columns, self.axes, strict=True)
        ]
        return np.stack(near, axis=1)

    def error(self, predict: Predict, best: FloatArray, thetas: FloatArray) -> float:
        """Median distance from the prediction at the grid points nearest to some thetas."""
        if self.is_exact:
            return 0.0
        positions = self.nearest(thetas)
        exact = predict(_thetas(self.axes, self.columns, positions, best))
        return float(np.median(np.abs(self.at(positions) - exact)))


def slice_landscape(
    predict: Predict, box: Box, best: FloatArray, columns: tuple[int, ...]
) -> SlicedLandscape:
    """Predict a landscape on a grid through the best reward.

    Args:
        predict: The surrogate's mean.
        box: Of the rewards.
        best: The reward that parameters are held at, `d`.
        columns: The parameters that vary; the others are held.
    """
    d = len(columns)
    size = POINTS_PER_AXIS.get(d) or _affordable(d)
    axes, anchor = [], []
    for column in columns:
        axis = np.linspace(box.low[column], box.high[column], size)
        near = int(np.abs(axis - best[column]).argmin())
        axis[near] = best[column]
        axes.append(axis)
        anchor.append(near)

    def table(chosen: tuple[int, ...]) -> FloatArray:
        """Predictions where some parameters vary and the others are held at the best."""
        grids = np.meshgrid(*[np.arange(size)] * len(chosen), indexing="ij")
        positions = np.tile(np.array(anchor), (size ** len(chosen), 1))
        for column, grid in zip(chosen, grids, strict=True):
            positions[:, column] = grid.reshape(-1)
        thetas = _thetas(tuple(axes), columns, positions, best)
        return predict(thetas).reshape((size,) * len(chosen))

    if d <= WHOLE_GRID_UNTIL:
        terms = [Term(tuple(range(d)), table(tuple(range(d))))]
    else:
        alone = {i: table((i,)) for i in range(d)}
        level = float(alone[0][anchor[0]])
        terms = [Term((i,), alone[i] - level) for i in range(d)]
        terms += [
            Term((i, j), table((i, j)) - alone[i][:, None] - alone[j][None, :] + level)
            for i, j in combinations(range(d), 2)
        ]
        terms[0] = Term((0,), terms[0].values + level)
    return SlicedLandscape(columns, tuple(axes), tuple(anchor), tuple(terms))


def _affordable(d: int) -> int:
    """Points per axis, for all pairs of `d` parameters."""
    pairs = d * (d - 1) // 2
    usual = int((PREDICTIONS / pairs) ** 0.5)
    return int(np.clip(usual, LEAST_POINTS_PER_AXIS, MOST_POINTS_PER_AXIS))


def _thetas(
    axes: tuple[FloatArray, ...],
    columns: tuple[int, ...],
    positions: IntArray,
    best: FloatArray,
) -> FloatArray:
    thetas = np.tile(best, (len(positions), 1))
    for place, (column, axis) in enumerate(zip(columns, axes, strict=True)):
        thetas[:, column] = axis[positions[:, place]]
    return thetas
