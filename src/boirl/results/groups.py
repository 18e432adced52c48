"""Rewards sorted by how they make the demonstrator behave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from boirl.errors import InvalidInputError
from boirl.results.grouping import group_alike
from boirl.types import FloatArray, IntArray

if TYPE_CHECKING:
    from boirl.results.result import Result

DistanceKind = Literal["behaviour", "starc", "epic"]
GROUPED_AT_MOST = 500
SHOWN_NEAR = 0.10
"""Rewards within this share of the best NLL are shown, and all that are not rejected."""


def limit_above(best: float, tolerance: float, absolute: bool = False) -> float:
    """The highest NLL within a tolerance of the best: relative to it, or in NLL units."""
    if not tolerance >= 0:
        raise InvalidInputError(f"the tolerance is {tolerance}; expected 0 or more")
    return best + (tolerance if absolute else tolerance * abs(best))


@dataclass(frozen=True, eq=False, repr=False)
class RewardGroup:
    """Rewards that make the demonstrator behave alike.

    Attributes:
        representative: The theta of the group with the lowest NLL, `d`.
        nll: Its NLL.
        indices: Numbers of the evaluations in the group, best first.
        thetas: Their thetas, `n x d`.
        width: Largest behavioural distance between two of them.
        volume: Share of the box that rewards of the group fill, by what the surrogate expects; NaN
            where there is no surrogate.
    """

    representative: FloatArray
    nll: float
    indices: IntArray
    thetas: FloatArray
    width: float
    volume: float

    def __repr__(self) -> str:
        best = ", ".join(f"{value:.4g}" for value in self.representative)
        return f"RewardGroup({len(self.indices)} rewards, best ({best}), NLL {self.nll:.4f})"


def group_rewards(
    result: Result, tolerance: float, distance: float | None, absolute: bool, by: DistanceKind
) -> list[RewardGroup]:
    """See `Result.groups`."""
    alike = result.problem.same_behaviour if distance is None else distance
    indices = result.indices_within(tolerance, absolute)
    if by == "behaviour" and result.problem.is_model_free:
        # A policy that was learned and not kept cannot be had a second time.
        kept = [index for index in indices if result.evaluations[index].policies]
        indices = np.array(kept, dtype=np.int64) if kept else indices
    indices = indices[:GROUPED_AT_MOST]
    distances = result.distances(indices, by)
    members = group_alike(distances, alike)
    limit = limit_above(result.best_nll, tolerance, absolute)
    volumes = result.group_volumes([indices[own] for own in members], limit)
    return [
        RewardGroup(
            representative=result.thetas[indices[own[0]]],
            nll=float(result.nll[indices[own[0]]]),
            indices=indices[own],
            thetas=result.thetas[indices[own]],
            width=float(distances[np.ix_(own, own)].max()),
            volume=volume,
        )
        for own, volume in zip(members, volumes, strict=True)
    ]


def shown_groups(
    result: Result, sort: Callable[..., list[RewardGroup]] | None = None
) -> tuple[list[RewardGroup], str]:
    """The groups that answers show, and in words which rewards are in them.

    Those within 10 % of the best NLL or, where the test tolerates more, all that it does not
    reject.

    Args:
        result: A search or a baseline.
        sort: In place of `result.groups`, with the same arguments.
    """
    groups = result.groups if sort is None else sort
    tolerance = result.likelihood_ratio_tolerance()
    if tolerance > SHOWN_NEAR * abs(result.best_nll):
        return groups(tolerance, absolute=True), "not rejected"
    return groups(SHOWN_NEAR), f"within {100 * SHOWN_NEAR:.0f} %"
