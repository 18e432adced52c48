"""Samples of the posterior over rewards, each with the behaviour that it is nearest to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from boirl.report.group_cards import GroupCard
from boirl.report.numbers import short
from boirl.results import RewardSet
from boirl.types import FloatArray, IntArray

SAMPLES = 1000
SHOWN_PAIRS = 3


@dataclass(frozen=True, eq=False)
class PosteriorSamples:
    """Samples of the posterior.

    Attributes:
        names: Of the parameters.
        thetas: `n x d`.
        groups: Number of the group whose rewards each sample is nearest to in the latent space,
            where what behaves alike lies together, `n`.
        nearest: Number of the nearest evaluation whose behaviour is known, `n`; -1 for none.
    """

    names: tuple[str, ...]
    thetas: FloatArray
    groups: IntArray
    nearest: IntArray

    def rows(self) -> list[dict[str, Any]]:
        """One row per sample, for charts: `p0`, `p1`, ... are the parameters."""
        numbers = zip(short(self.thetas), self.groups.tolist(), self.nearest.tolist(), strict=True)
        return [
            {"s": s, "group": group, "near": near, **{f"p{i}": v for i, v in enumerate(theta)}}
            for s, (theta, group, near) in enumerate(numbers)
        ]

    def correlations(self) -> list[tuple[str, str, float]]:
        """The pairs of parameters that go together most, by their rank correlation."""
        if len(self.names) < 2:
            return []
        ranks = self.thetas.argsort(axis=0).argsort(axis=0)
        table: FloatArray = np.atleast_2d(np.corrcoef(ranks, rowvar=False))
        pairs = [
            (self.names[i], self.names[j], float(table[i, j]))
            for i, j in combinations(range(len(self.names)), 2)
        ]
        return sorted(pairs, key=lambda pair: -abs(pair[2]))[:SHOWN_PAIRS]


def posterior_samples(
    found: RewardSet, cards: Sequence[GroupCard], drawn: Sequence[int]
) -> PosteriorSamples:
    """Draw samples and find out what behaviour each is nearest to.

    Args:
        found: The answer.
        cards: Groups of its rewards.
        drawn: Evaluations whose behaviour is known.
    """
    thetas = found.sample(SAMPLES)
    latent = found.fitted.latent(thetas)
    owners = np.concatenate([np.full(len(card.indices), card.number) for card in cards])
    members = np.concatenate([card.indices for card in cards])
    groups = owners[_nearest(found, latent, members)]
    known = np.array(drawn, dtype=np.int64)
    nearest = known[_nearest(found, latent, known)] if len(known) else np.full(len(thetas), -1)
    return PosteriorSamples(found.names, thetas, groups, nearest)


def _nearest(found: RewardSet, latent: FloatArray, numbers: IntArray) -> IntArray:
    """Which of some evaluations is nearest to each point of the latent space."""
    nearest: IntArray = cdist(latent, found.fitted.latent(found.thetas[numbers])).argmin(axis=1)
    return nearest
