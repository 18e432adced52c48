"""Trips of people, and what they are as demonstrations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boirl.array_checks import concatenate_or_none
from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Trips:
    """Trips of people: for each, its destination and its links from the origin on.

    Args:
        destinations: Of each trip, `N`.
        links: Of each trip.
        travellers: Who made each trip, `N` whole numbers or names; None where nobody knows.
        weights: What each trip counts, `N` numbers above 0; None where all count the same.
    """

    destinations: IntArray
    links: tuple[IntArray, ...]
    travellers: NDArray[Any] | None = None
    weights: FloatArray | None = None

    def __post_init__(self) -> None:
        checked = _checked(len(self.links), self.travellers, self.weights)
        object.__setattr__(self, "travellers", checked[0])
        object.__setattr__(self, "weights", checked[1])

    def __len__(self) -> int:
        return len(self.links)

    def to(self, destination: int) -> tuple[IntArray, ...]:
        """The links of the trips to one destination; travellers and weights are left out."""
        chosen = np.flatnonzero(self.destinations == destination)
        return tuple(self.links[number] for number in chosen)


@dataclass(frozen=True, eq=False, repr=False)
class TripDemonstrations(Demonstrations):
    """Demonstrations that know who made them and what each counts.

    Args:
        travellers: Who made each trip, `N`; None where nobody knows.
        weights: What each trip counts, `N` numbers above 0; None where all count the same. Only
            their ratios matter.
    """

    travellers: NDArray[Any] | None = None
    weights: FloatArray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checked = _checked(len(self), self.travellers, self.weights)
        object.__setattr__(self, "travellers", checked[0])
        object.__setattr__(self, "weights", checked[1])

    @classmethod
    def of(
        cls,
        demonstrations: Demonstrations,
        travellers: NDArray[Any] | None = None,
        weights: FloatArray | None = None,
    ) -> TripDemonstrations:
        """The same trajectories with travellers and weights."""
        arrays: dict[str, Any] = Demonstrations.to_dict(demonstrations)
        return cls(**arrays, travellers=travellers, weights=weights)

    def subset(self, indices: ArrayLike) -> TripDemonstrations:
        """The trips with these numbers, in this order, or those that a mask is true for."""
        chosen = np.asarray(indices)
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        return TripDemonstrations.of(
            super().subset(chosen),
            None if self.travellers is None else self.travellers[chosen],
            None if self.weights is None else self.weights[chosen],
        )

    @classmethod
    def concatenate(cls, several: Sequence[Demonstrations]) -> TripDemonstrations:
        """All trips of all `several`, in order; without a weight of their own they count 1.

        Travellers are kept where they are known of all trips.
        """
        weights = [getattr(one, "weights", None) for one in several]
        travellers = [getattr(one, "travellers", None) for one in several]
        counted = [
            np.ones(len(one)) if own is None else own
            for one, own in zip(several, weights, strict=True)
        ]
        return cls.of(
            Demonstrations.concatenate(several),
            concatenate_or_none(travellers),
            None if all(one is None for one in weights) else np.concatenate(counted),
        )

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """The arrays by name, for a file."""
        further = {"travellers": self.travellers, "weights": self.weights}
        given = {name: array for name, array in further.items() if array is not None}
        return {**super().to_dict(), **given}

    @classmethod
    def from_dict(cls, arrays: Mapping[str, NDArray[Any]]) -> TripDemonstrations:
        """The inverse of `to_dict`."""
        plain = Demonstrations.from_dict(arrays)
        return cls.of(plain, arrays.get("travellers"), arrays.get("weights"))


def relative_weights(demonstrations: Demonstrations) -> FloatArray | None:
    """What each trip counts, `N`, 1 on average; None where all count the same.

    A mean over trips of weight times something is then the weighted mean, and a total is that of
    as many trips as there are.
    """
    if not isinstance(demonstrations, TripDemonstrations) or demonstrations.weights is None:
        return None
    weights: FloatArray = demonstrations.weights / demonstrations.weights.mean()
    return weights


def without_padding(trips: Demonstrations, end: int) -> Demonstrations:
    """Trips of one common length cut off after the step that ends them, if there is one."""
    steps = int(trips.lengths[0])
    ended = trips.next_states.reshape(-1, steps) == end
    lengths = np.where(ended.any(axis=1), ended.argmax(axis=1) + 1, steps)
    kept = (np.arange(steps) < lengths[:, None]).ravel()
    return replace(
        trips,
        states=trips.states[kept],
        actions=trips.actions[kept],
        next_states=trips.next_states[kept],
        lengths=lengths,
    )


def _checked(
    count: int, travellers: Any, weights: Any
) -> tuple[NDArray[Any] | None, FloatArray | None]:
    """Both as arrays of `count`, or an error that names the first that does not fit."""
    if travellers is not None:
        travellers = np.array(travellers)
        if travellers.shape != (count,) or travellers.dtype.kind not in "iuU":
            raise InvalidInputError(
                f"travellers have shape {travellers.shape} and type {travellers.dtype}; expected "
                f"{count} whole numbers or names, one for each trip"
            )
        travellers.setflags(write=False)
    if weights is not None:
        weights = np.array(weights, dtype=np.float64)
        if weights.shape != (count,):
            raise InvalidInputError(
                f"weights have shape {weights.shape}; expected {count} numbers, one for each trip"
            )
        wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0.0)))
        if wrong.size:
            raise InvalidInputError(
                f"trip {wrong[0]}, counted from 0, has the weight {weights[wrong[0]]:g}; expected "
                "a number above 0 (leave out trips that do not count)"
            )
        weights.setflags(write=False)
    return travellers, weights
