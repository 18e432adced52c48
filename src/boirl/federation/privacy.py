"""Sums with noise, so that they say little about any single trajectory.

The unit of privacy is one trajectory: two sets of demonstrations are neighbours where one
trajectory is replaced by another. Their number is public.

- *Sensitivity*: the NLL of a trajectory has no upper bound, so each is clipped to `[0, clip]` nats
  before they are summed. Replacing one then changes the sum by at most `clip`.
- *Mechanism*: clipped NLLs are rounded to a grid, summed exactly, and a discrete Gaussian of
  standard deviation `sigma` is added (`boirl.federation.discrete_gaussian`). One answer is
  `clip^2 / (2 sigma^2)`-zCDP.
- *Accounting*: zero-concentrated differential privacy adds up. All `evaluations` answers together
  are `rho`-zCDP with `rho = evaluations clip^2 / (2 sigma^2)`, which gives
  `epsilon = rho + 2 sqrt(rho log(1 / delta))` (Bun and Steinke, 2016), however the thetas were
  chosen. `sigma` is set so that this is the epsilon asked for. After that many different thetas
  the site answers no more; a theta that was answered before gets the same answer again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

import numpy as np

from boirl.errors import InvalidInputError, SiteError, StorageError
from boirl.federation.discrete_gaussian import discrete_gaussian
from boirl.files import damage_reported, write_bytes
from boirl.types import FloatArray

GRID = 2**16
"""Steps of the grid that clipped NLLs are rounded to, from 0 to `clip`."""


@dataclass(frozen=True)
class PrivacyTerms:
    """What a site promises to those whose trajectories it holds.

    Args:
        epsilon: Of all answers together.
        delta: Probability with which epsilon may not hold; well below one in the number of
            trajectories.
        clip: Nats that the NLL of a trajectory counts for at most.
        evaluations: Different thetas that are answered at most.
    """

    epsilon: float
    delta: float
    clip: float
    evaluations: int

    def __post_init__(self) -> None:
        for name in ("epsilon", "clip"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise InvalidInputError(
                    f"{name} is {value}; expected a finite number above 0: without one, what a "
                    "single trajectory may change has no bound"
                )
        if not 0.0 < self.delta < 1.0:
            raise InvalidInputError(f"delta is {self.delta}; expected a probability in (0, 1)")
        if not (isinstance(self.evaluations, int) and self.evaluations >= 1):
            raise InvalidInputError(f"evaluations is {self.evaluations}; expected at least 1")

    @property
    def rho(self) -> float:
        """The same promise as zero-concentrated differential privacy."""
        log_delta = math.log(1.0 / self.delta)
        return (math.sqrt(self.epsilon + log_delta) - math.sqrt(log_delta)) ** 2

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise of a sum, in nats."""
        return self.clip * math.sqrt(self.evaluations / (2.0 * self.rho))

    def spent(self, answers: int) -> float:
        """Epsilon, at this delta, of so many answers."""
        rho = self.rho * answers / self.evaluations
        return rho + 2.0 * math.sqrt(rho * math.log(1.0 / self.delta))


@dataclass
class Ledger:
    """Which thetas a site has answered, and how: the one record of the budget.

    Args:
        terms: What is promised.
        path: File that it is kept in, so that a restart does not renew the budget; None for
            memory.
        random: Where the noise comes from; by default the operating system.
    """

    terms: PrivacyTerms
    path: Path | None = None
    random: Random = field(default_factory=SystemRandom)
    answers: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path is None or not self.path.exists():
            return
        with damage_reported(self.path, "the ledger of a site"):
            kept: Mapping[str, Any] = json.loads(self.path.read_text())
            if kept["terms"] != asdict(self.terms):
                raise InvalidInputError(
                    f"the ledger {str(self.path)!r} was begun with {kept['terms']}; expected the "
                    "same terms: another promise needs other demonstrations and another ledger"
                )
            self.answers = {str(theta): int(units) for theta, units in kept["answers"].items()}

    def noisy_sum(self, theta: tuple[float, ...], nll: FloatArray) -> float:
        """The sum of clipped NLLs, `N`, with noise; the same for the same theta.

        Kept before it is returned.

        Raises:
            SiteError: The budget is spent.
        """
        key = ",".join(value.hex() for value in theta)
        if key not in self.answers:
            terms, spent = self.terms, len(self.answers)
            if spent >= terms.evaluations:
                raise SiteError(
                    f"all {spent} evaluations that epsilon {terms.epsilon:g} allows were answered; "
                    "more would break the promise to those whose trajectories these are"
                )
            clipped = np.clip(nll, 0.0, terms.clip) / terms.clip
            units = int(np.rint(clipped * GRID).astype(np.int64).sum())
            variance = Fraction((terms.sigma * GRID / terms.clip) ** 2)
            self.answers[key] = units + discrete_gaussian(variance, self.random)
            self._write()
        return self.answers[key] * self.terms.clip / GRID

    def _write(self) -> None:
        if self.path is None:
            return
        kept = {"terms": asdict(self.terms), "answers": self.answers}
        try:
            write_bytes(self.path, json.dumps(kept, indent=1).encode())
        except StorageError:
            # What is not on record was not answered, and its noise is not used again.
            self.answers.popitem()
            raise
