"""Numbers as a page keeps them: short in JSON, and in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

DIGITS = 4
"""Significant digits: more than a picture shows, and half the size of all of them."""


def short(values: ArrayLike, digits: int = DIGITS) -> list[Any]:
    """Values of any shape as nested lists, rounded; None where there is no number."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim > 1:
        return [short(row, digits) for row in array]
    return [short_number(value, digits) for value in array.tolist()]


def short_number(value: float, digits: int = DIGITS) -> float | int | None:
    """One value, rounded; None where it is not finite."""
    if not np.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded == int(rounded) else rounded


def in_words(value: float, digits: int = DIGITS) -> str:
    """A number in a sentence or a table; without an exponent where it is readable without one."""
    rounded = float(f"{value:.{digits}g}")
    if 10 ** (digits - 1) <= abs(rounded) < 1e9:
        return f"{rounded:,.0f}" if abs(rounded) >= 1e4 else f"{rounded:.0f}"
    return f"{value:.{digits}g}"


def named(names: tuple[str, ...], theta: ArrayLike) -> str:
    """The parameters of a reward; those of a network have no names."""
    values = np.ravel(np.asarray(theta, dtype=np.float64))
    if len(values) != len(names):
        return "learned network"
    return ", ".join(f"{name} {value:.3g}" for name, value in zip(names, values, strict=True))
