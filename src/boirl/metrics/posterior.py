"""The exact posterior over rewards in cells of the box, where the model is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boirl.cache import cached_arrays
from boirl.errors import InvalidInputError
from boirl.problem import Problem
from boirl.types import Box, FloatArray

INSIDE = 4
"""Points per parameter in each cell that its probability is the mean of."""


@dataclass(frozen=True, eq=False)
class ExactPosterior:
    """Probabilities of the cells that a box is cut into; one axis per parameter."""

    box: Box
    probabilities: FloatArray

    @property
    def occupied(self) -> int:
        """How many cells, the most probable ones, it takes to hold 99 %."""
        held = np.sort(self.probabilities, axis=None)[::-1].cumsum()
        return int((held < 0.99).sum()) + 1

    def coarsened(self, cells: Sequence[int]) -> ExactPosterior:
        """The same in fewer cells, each of several of these."""
        shape = self.probabilities.shape
        if len(cells) != len(shape) or any(
            old % new for old, new in zip(shape, cells, strict=True)
        ):
            raise InvalidInputError(f"there are {shape} cells; they do not make {tuple(cells)}")
        pairs = [(new, old // new) for old, new in zip(shape, cells, strict=True)]
        parts = self.probabilities.reshape([size for pair in pairs for size in pair])
        return ExactPosterior(self.box, parts.sum(axis=tuple(range(1, parts.ndim, 2))))

    def shares(self, samples: FloatArray) -> FloatArray:
        """Of thetas `n x d`, the share in each cell."""
        cells = self.probabilities.shape
        counts, _ = np.histogramdd(self.box.to_unit(samples), cells, [(0.0, 1.0)] * len(cells))
        return counts / len(samples)

    def total_variation(self, samples: FloatArray) -> float:
        """How far samples `n x d` are from the posterior, in [0, 1]."""
        return float(0.5 * np.abs(self.shares(samples) - self.probabilities).sum())

    def variation_of_draws(self, n: float) -> float:
        """About the total variation to expect of so many independent draws from the posterior."""
        spread = np.sqrt(2.0 / np.pi * self.probabilities * (1.0 - self.probabilities) / n)
        return float(0.5 * np.minimum(spread, 2.0 * self.probabilities).sum())


def exact_posterior(
    problem: Problem[Any], cells: Sequence[int], inside: int = INSIDE
) -> ExactPosterior:
    """The posterior under a uniform prior; NLLs are computed once, then in the cache.

    Args:
        problem: With `N` demonstrations: rewards go with `exp(-N NLL)`, those without a policy
            have probability 0.
        cells: How many per parameter, `d`.
        inside: See `INSIDE`.
    """
    points = [count * inside for count in cells]

    def compute() -> dict[str, FloatArray]:
        middles = [(np.arange(count) + 0.5) / count for count in points]
        grid = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1)
        thetas = problem.box.from_unit(grid.reshape(-1, problem.box.dimension))
        return {"nll": problem.nll_batch(thetas).reshape(points)}

    key = ("exact posterior", problem.fingerprint(), tuple(points))
    nll = cached_arrays(problem.name, key, compute)["nll"]
    weights = np.nan_to_num(np.exp(-len(problem.demonstrations) * (nll - np.nanmin(nll))))
    return ExactPosterior(problem.box, weights / weights.sum()).coarsened(cells)
