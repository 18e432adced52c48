"""A family of few parameters within one of many: a plane through one of its thetas."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from boirl.errors import InvalidInputError
from boirl.rewards.family import RewardFamily, Transitions, as_float64
from boirl.types import FloatArray, Parameter


class EmbeddedReward(RewardFamily):
    """`base` at `centre + z directions`, kept within its box; parameters `z1 ... zk` in [-1, 1].

    Args:
        base: The family of `d` free parameters.
        centre: A theta of it, `d`.
        directions: How theta moves with each parameter, `k x d`, in units of theta.
    """

    def __init__(self, base: RewardFamily, centre: ArrayLike, directions: ArrayLike) -> None:
        steps = np.array(directions, dtype=np.float64)
        box = base.box
        if steps.ndim != 2 or steps.shape[1] != box.dimension or not len(steps):
            raise InvalidInputError(
                f"directions have shape {steps.shape}; expected k x {box.dimension}, one row per "
                "parameter of the plane"
            )
        names = [f"z{number}" for number in range(1, len(steps) + 1)]
        super().__init__([Parameter(name, -1.0, 1.0) for name in names], base.depends_on)
        self.base, self.directions = base, as_float64(steps)
        self.centre = as_float64(box.check_one(centre))
        self._low, self._high = as_float64(box.low), as_float64(box.high)

    def full(self, z: ArrayLike) -> FloatArray:
        """The thetas of the base family, `n x d`, that points of the plane `n x k` stand for."""
        return self._full(as_float64(np.atleast_2d(z))).numpy()

    def _full(self, z: Tensor) -> Tensor:
        moved = self.centre + z @ self.directions
        return torch.minimum(torch.maximum(moved, self._low), self._high)

    def evaluate(self, theta: Tensor, transitions: Transitions) -> Tensor:
        return self.base(self._full(theta), transitions)

    def state_features(self, n_states: int) -> FloatArray:
        return self.base.state_features(n_states)


def coordinate_directions(
    low: FloatArray, high: FloatArray, count: int, rng: np.random.Generator
) -> FloatArray:
    """Some parameters at random, `count x d`, each over as much as the box is wide."""
    chosen = rng.choice(len(low), size=min(count, len(low)), replace=False)
    return np.eye(len(low))[chosen] * (high - low)


def random_directions(
    low: FloatArray, high: FloatArray, count: int, rng: np.random.Generator
) -> FloatArray:
    """Random orthogonal directions in the unit cube, `count x d`, as long as half its diagonal."""
    d = len(low)
    drawn = np.linalg.qr(rng.standard_normal((d, min(count, d))))[0].T
    return np.asarray(0.5 * np.sqrt(d) * drawn * (high - low))
