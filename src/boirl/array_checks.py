"""Arrays that users give: whole numbers, or vectors of floats; anything else is named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boirl.errors import DemonstrationError
from boirl.types import FloatArray, IntArray

LARGEST = 2.0**53
"""Whole numbers below this are exact in float64."""


def as_numbers(part: ArrayLike, label: str) -> NDArray[Any]:
    """Whole numbers `T`, or vectors `T x k` as float64."""
    array = _floats(part, label)
    if array.ndim == 2 and array.shape[1] > 0:
        return array.copy()
    return as_whole_numbers(array, label)


def as_whole_numbers(part: ArrayLike, label: str) -> IntArray:
    """Whole numbers `T`; an error names what is not one."""
    array = _floats(part, label)
    if array.ndim != 1:
        raise DemonstrationError(
            f"{label} holds an array of shape {array.shape}; expected one number, or one vector, "
            "per step"
        )
    wrong = np.flatnonzero(~(np.abs(array) < LARGEST) | (array != np.round(array)))
    if wrong.size:
        raise DemonstrationError(
            f"{label}, step {wrong[0]}: found {array[wrong[0]]}; "
            "expected a whole number (the index of a state or an action)"
        )
    return array.astype(np.int64)


def _floats(part: ArrayLike, label: str) -> FloatArray:
    try:
        return np.asarray(part, dtype=np.float64)
    except (TypeError, ValueError):
        raise DemonstrationError(
            f"{label} holds something that is not a number; expected whole numbers or vectors"
        ) from None


def any_in_row(rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether any entry of a row is true, `T`, of `T` or `T x k`."""
    return rows if rows.ndim == 1 else np.asarray(rows.any(axis=1))


def concatenate_or_none(parts: Sequence[FloatArray | None]) -> FloatArray | None:
    """All rows of all parts; None where a part is missing or has another width."""
    given = [part for part in parts if part is not None]
    alike = len(given) == len(parts) and len({part.shape[1:] for part in given}) == 1
    return np.concatenate(given) if alike else None
