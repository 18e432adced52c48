"""Samples of the posterior over rewards, each with the behaviour that it is nearest to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from boirl.report.group_cards import GroupCard
from boirl.report.numbers import short
from boirl.results import Result, RewardSet
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
    return _placed(found, found.sample(SAMPLES), found.fitted.latent, cards, drawn)


def returned_samples(
    run: Result, cards: Sequence[GroupCard], drawn: Sequence[int]
) -> PosteriorSamples | None:
    """The samples that another method returned; None where it returned none.

    It knows no latent space: the nearest reward is that in the box of rewards.
    """
    thetas: FloatArray | None = getattr(run, "samples", None)
    if thetas is None or not len(thetas):
        return None
    kept = np.unique(np.linspace(0, len(thetas) - 1, SAMPLES).round().astype(int))
    return _placed(run, thetas[kept], run.problem.box.to_unit, cards, drawn)


def _placed(
    result: Result,
    thetas: FloatArray,
    latent: Callable[[FloatArray], FloatArray],
    cards: Sequence[GroupCard],
    drawn: Sequence[int],
) -> PosteriorSamples:
    """Samples with the group and the evaluation that each is nearest to."""
    owners = np.concatenate([np.full(len(card.indices), card.number) for card in cards])
    members = np.concatenate([card.indices for card in cards])
    places, around = latent(thetas), latent(result.thetas)
    groups = owners[cdist(places, around[members]).argmin(axis=1)]
    known = np.array(drawn, dtype=np.int64)
    nearest = np.full(len(thetas), -1)
    if len(known):
        nearest = known[cdist(places, around[known]).argmin(axis=1)]
    return PosteriorSamples(result.problem.box.names, thetas, groups, nearest)
