"""Two stories about the same replacements: where they differ, and what would tell them apart.

A story is a problem (with its discount) and a theta. An observed month in bin `x` of a bus whose
manager follows story 1 adds `KL(p1(x) || p2(x))` nats, on average, to the log-likelihood ratio of
story 1 against story 2, where `p(x)` is the probability of a replacement.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from boirl.domains.bus_engines.problem import BusEngineProblem
from boirl.policies import TabularPolicy
from boirl.types import FloatArray

EVIDENCE = float(np.log(20.0))
"""Log-likelihood ratio at which two stories count as told apart: 20 to 1."""

MAX_REFIT_POLICIES = 400


@dataclass(frozen=True, eq=False)
class Story:
    """A manager: a problem, whose discount is the manager's, and the costs."""

    problem: BusEngineProblem
    theta: FloatArray

    @cached_property
    def policy(self) -> TabularPolicy:
        return self.problem.policy(self.theta)

    @property
    def replacement_probabilities(self) -> FloatArray:
        """By bin, `S`."""
        return self.policy.probabilities[:, 1]

    @cached_property
    def long_run(self) -> FloatArray:
        """Share of months that buses under this manager spend in each bin in the long run, `S`."""
        chain = self.problem.mdp.chain(self.policy.probabilities).toarray()
        n = len(chain)
        # Balance equations; one of them follows from the others and gives way to the total.
        system = np.vstack([(chain.T - np.eye(n))[:-1], np.ones(n)])
        shares = np.linalg.solve(system, np.eye(n)[-1])
        return np.maximum(shares, 0.0)

    @property
    def replacements_per_year(self) -> float:
        """Of one bus, in the long run."""
        return 12.0 * float(self.long_run @ self.replacement_probabilities)

    def with_price(self, factor: float) -> Story:
        """The same manager when replacing costs this factor of what it does."""
        return Story(self.problem, self.theta * np.array([1.0, factor]))


@dataclass(frozen=True, eq=False)
class TellingApart:
    """How soon observed months tell a true story from a rival.

    Attributes:
        by_bin: Nats per month observed in each bin, `S`.
        per_month: Nats per month of an ordinary bus, in the long run of the true story.
    """

    by_bin: FloatArray
    per_month: float

    @property
    def months_needed(self) -> float:
        """Bus-months until the true story is expected to be 20 times as likely."""
        return EVIDENCE / max(self.per_month, 1e-300)

    @property
    def best_bin(self) -> int:
        """The bin in which a month tells most."""
        return int(self.by_bin.argmax())

    @property
    def months_needed_in_best_bin(self) -> float:
        """The same, if all months were spent in the bin that tells most."""
        return EVIDENCE / max(float(self.by_bin.max()), 1e-300)


def tell_apart(truth: Story, rival: Story) -> TellingApart:
    """What observing a bus of the true story says against the rival."""
    by_bin = divergence(truth.replacement_probabilities, rival.replacement_probabilities)
    return TellingApart(by_bin, float(truth.long_run @ by_bin))


def divergence(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """`KL(first || second)` of probabilities of a replacement, in nats, elementwise."""
    p, q = (np.clip(np.asarray(one, dtype=np.float64), 1e-300, 1.0) for one in (first, second))
    kept_p, kept_q = (np.clip(1.0 - one, 1e-300, 1.0) for one in (p, q))
    return p * np.log(p / q) + kept_p * np.log(kept_p / kept_q)


def largest_difference(first: Story, second: Story) -> int:
    """The bin in which the two replace engines with the most different probabilities."""
    gap = np.abs(first.replacement_probabilities - second.replacement_probabilities)
    return int(gap.argmax())


def refit(truth: Story, rival: Story) -> Story:
    """The rival with the costs that endless records of the true story would give it.

    They minimise the nats per month that tell the two apart: however many ordinary months are
    observed, the rival may be fitted to all of them.
    """
    box = rival.problem.box

    def nats(unit: FloatArray) -> float:
        if not ((unit >= 0.0) & (unit <= 1.0)).all():
            return np.inf
        return tell_apart(truth, Story(rival.problem, box.from_unit(unit))).per_month

    start = box.to_unit(rival.theta)
    found = minimize(
        nats,
        start,
        method="Nelder-Mead",
        options={"maxfev": MAX_REFIT_POLICIES, "xatol": 1e-7, "fatol": 1e-14},
    )
    return Story(rival.problem, box.from_unit(found.x))
