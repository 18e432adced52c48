"""Groups of rewards as a report shows them: the best of each, and how it differs from others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from boirl.report.outlook import Disagreement, disagreements
from boirl.report.scenes import Scene
from boirl.results import Result, RewardGroup
from boirl.results.groups import shown_groups
from boirl.types import FloatArray, IntArray

SHOWN_GROUPS = 6
"""Groups that have a card, and a colour."""

SHOWN_DIFFERENCES = 3


@dataclass(frozen=True, eq=False)
class GroupCard:
    """One group of rewards.

    Attributes:
        number: From 1 on, the best first.
        indices: Numbers of its evaluations, best first.
        theta: Of its best reward, `d`.
        nll: Of its best reward.
        rejected: Whether a likelihood-ratio test at 95 % rejects that.
        volume: Share of the box that such rewards fill; NaN where nobody knows.
        distances: Behavioural distance of its best reward to that of each card, in [0, 1].
        rival: Number of the card that the differences are from; 0 where there is no other.
        differences: Where it differs most from that: the first group or, of the first, the second.
    """

    number: int
    indices: IntArray
    theta: FloatArray
    nll: float
    rejected: bool
    volume: float
    distances: FloatArray
    rival: int
    differences: Sequence[Disagreement]


def groups_of(result: Result) -> list[RewardGroup]:
    """All rewards that are not rejected, and those within 10 % of the best, by behaviour."""
    return shown_groups(result)[0]


def group_cards(
    result: Result, groups: Sequence[RewardGroup], scene: Scene | None
) -> list[GroupCard]:
    """The cards of the first groups."""
    shown = groups[:SHOWN_GROUPS]
    best = [int(group.indices[0]) for group in shown]
    distances = result.distances(best) if len(best) > 1 else np.zeros((1, 1))
    limit = result.best_nll + result.likelihood_ratio_tolerance()
    cards = []
    for place, group in enumerate(shown):
        rival = 0 if len(shown) == 1 else 2 if place == 0 else 1
        apart = (
            disagreements(result, best[place], best[rival - 1], scene, SHOWN_DIFFERENCES)
            if rival
            else []
        )
        cards.append(
            GroupCard(
                place + 1,
                group.indices,
                group.representative,
                group.nll,
                group.nll > limit,
                group.volume,
                distances[place],
                rival,
                apart,
            )
        )
    return cards
