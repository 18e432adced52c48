"""Small frozen records that the other modules exchange."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boirl.errors import InvalidInputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

Report = Callable[[float, str], None]
"""Called now and then with the share of a long computation that is done, and a message."""


def silent(share: float, message: str) -> None:
    """Report to nobody."""


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """All points `x` with `normal @ x >= offset`."""

    normal: FloatArray
    offset: float


@dataclass(frozen=True)
class Parameter:
    """One named number of a reward family: free within `[low, high]`, or held at `fixed`."""

    name: str
    low: float
    high: float
    fixed: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise InvalidInputError(
                f"parameter {self.name!r} has bounds [{self.low}, {self.high}]; "
                "expected two finite numbers, the lower one first"
            )
        if self.fixed is not None and not math.isfinite(self.fixed):
            raise InvalidInputError(
                f"parameter {self.name!r} is fixed at {self.fixed}; expected a finite number"
            )


@dataclass(frozen=True)
class Box:
    """The rewards under consideration: bounds of the free parameters, each of shape `d`."""

    names: tuple[str, ...]
    low: FloatArray
    high: FloatArray

    @property
    def dimension(self) -> int:
        return len(self.names)

    def check(self, thetas: ArrayLike) -> FloatArray:
        """Return `thetas` as `n x d`, or raise an error that names the number that does not fit."""
        try:
            array = np.atleast_2d(np.asarray(thetas, dtype=np.float64))
        except (TypeError, ValueError):
            raise InvalidInputError(
                f"theta is {thetas!r}; expected {self.dimension} numbers ({', '.join(self.names)})"
            ) from None
        if array.ndim != 2 or array.shape[1] != self.dimension:
            raise InvalidInputError(
                f"theta has shape {np.shape(thetas)}; expected {self.dimension} numbers "
                f"({', '.join(self.names)}), or rows of {self.dimension}"
            )
        outside = ~((array >= self.low) & (array <= self.high))
        if outside.any():
            row, column = np.argwhere(outside)[0]
            raise InvalidInputError(
                f"theta {tuple(array[row].tolist())} has {self.names[column]} = "
                f"{array[row, column]:g}; expected a number in "
                f"[{self.low[column]:g}, {self.high[column]:g}]"
            )
        return array

    def check_one(self, theta: ArrayLike) -> FloatArray:
        """Return one theta as `d`, or raise an error that says what does not fit."""
        array = self.check(theta)
        if len(array) != 1:
            raise InvalidInputError(f"there are {len(array)} thetas; expected a single one")
        return array[0]

    def from_unit(self, unit: FloatArray) -> FloatArray:
        """Map points of the unit cube into the box; rounding never leaves it."""
        return np.clip(self.low + (self.high - self.low) * unit, self.low, self.high)

    def to_unit(self, thetas: FloatArray) -> FloatArray:
        return (thetas - self.low) / (self.high - self.low)

    def half_space_to_unit(self, half: HalfSpace) -> HalfSpace:
        """A half-space of thetas as one of the unit cube, with a normal of length one."""
        normal = half.normal * (self.high - self.low)
        length = max(float(np.linalg.norm(normal)), 1e-300)
        return HalfSpace(normal / length, (half.offset - float(half.normal @ self.low)) / length)


@dataclass(frozen=True)
class Difference:
    """A state where two policies act differently.

    Attributes:
        state: Its number, or an observation.
        action: What the one policy does there most likely.
        other_action: What the other one does.
        distance: Total variation between their choices there, in [0, 1].
        names: Of the state and of both actions, where the dynamics have names.
    """

    state: Any
    action: Any
    other_action: Any
    distance: float
    names: tuple[str, str, str] | None = None

    def __str__(self) -> str:
        given = (self.state, self.action, self.other_action)
        place, one, other = self.names or (f"state {given[0]}", *(f"action {a}" for a in given[1:]))
        return f"{place}: {one}, the other {other} (distance {self.distance:.2f})"
