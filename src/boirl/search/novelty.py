"""No theta is handed out twice.

Expected improvement converges, and proposes next to the best from then on. One at a time that is a
slow refinement; with several evaluations at once it is the same evaluation several times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from boirl.maximise import maximise
from boirl.search.acquisitions import (
    Acquisition,
    Proposal,
    ResolvePosterior,
    least_predicted,
)
from boirl.surrogate import FittedSurrogate
from boirl.types import Box, FloatArray

SAME_THETA = 1e-4
"""Share of the box, in each parameter, by which two thetas that are evaluated at the same time
differ at least: nothing is learned from the second that the first does not tell."""


@dataclass(frozen=True, eq=False)
class Tried:
    """The thetas that were handed out before.

    Attributes:
        box: The rewards under consideration.
        running: Under evaluation, `n x d`.
        finished: Evaluated, `m x d`; none under noise, where a theta may be worth another
            evaluation.
    """

    box: Box
    running: FloatArray
    finished: FloatArray

    def is_new(self, unit: FloatArray) -> bool:
        """Whether a point of the unit cube, `d`, is not under evaluation, nor evaluated exactly."""
        near = (np.abs(self.box.to_unit(self.running) - unit) <= SAME_THETA).all(axis=1)
        same = (self.finished == self.box.from_unit(unit)).all(axis=1)
        return not near.any() and not same.any()


def new_proposal(
    acquisition: Acquisition,
    surrogate: FittedSurrogate,
    tried: Tried,
    rng: np.random.Generator,
) -> Proposal:
    """What an acquisition proposes, where it is new; else what is least certain or, where that is
    not new either, least well predicted.

    Args:
        acquisition: Asked first.
        surrogate: Has seen pending evaluations as if they came out as expected.
        tried: What was handed out before.
        rng: All randomness comes from here.
    """
    proposal = acquisition(surrogate, rng)
    if tried.is_new(proposal.unit):
        return proposal
    unit, _ = maximise(ResolvePosterior(surrogate), surrogate.best_unit, rng)
    while not tried.is_new(unit):
        unit = least_predicted(surrogate, rng)
    return Proposal(unit, "resolve")


def is_same(theta: FloatArray, params: Mapping[str, float], box: Box) -> bool:
    """Whether the parameters of a trial that runs are a theta, `d`."""
    if len(params) < box.dimension:
        return False
    other = np.array([params[name] for name in box.names])
    return bool((np.abs(box.to_unit(other) - box.to_unit(theta)) <= SAME_THETA).all())
