"""Hyperparameters for evaluations on one scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from boirl.surrogate.component import Component
from boirl.surrogate.doubt import DOUBT, Doubt
from boirl.surrogate.evidence import Evidence, Laplace, to_vector
from boirl.surrogate.latent import LatentSpace
from boirl.surrogate.process import Process
from boirl.surrogate.warping import OutputScale, Scale
from boirl.types import FloatArray

COLD_FIT_STEPS, WARM_FIT_STEPS = 60, 8
"""Steps of L-BFGS: until nothing changes, or as many as an evaluation more may call for."""

TRUSTING = -3.0
"""Prior standard deviations from the median of the doubt: next to none."""


class Climb(NamedTuple):
    """Hyperparameters, and their log probability in units that all scales share."""

    vector: FloatArray
    height: float


@dataclass(frozen=True, eq=False)
class Task:
    """The data on one scale, and what to make of hyperparameters for it."""

    evidence: Evidence
    space: LatentSpace
    output: OutputScale
    scale: Scale
    centre: float
    spread: float
    log_units: float
    doubt: Doubt

    def component(self, vector: FloatArray) -> Component:
        """The process with hyperparameters."""
        values = self.evidence.values(torch.as_tensor(vector))
        process = Process(self.evidence.kernel, self.evidence.data, values)
        plain = {name: value.tolist() for name, value in values.items()}
        return Component(
            process,
            self.space,
            self.output,
            self.scale,
            plain,
            self.centre,
            self.spread,
            self.doubt,
        )

    def most_probable(self, start: FloatArray | None) -> Climb:
        """Where a short climb from a start ends, or one of twice as many steps from the medians."""
        if start is None:
            return self._climb(np.zeros(self.evidence.size), 2 * WARM_FIT_STEPS)
        return self._climb(start, WARM_FIT_STEPS)

    def other_peak(self, climb: Climb) -> Climb:
        """The higher end of a climb and of another one, towards the other peak.

        The probability often has two peaks, as evaluations far from the best are explained closely
        or hardly at all.
        """
        return self._higher(climb, WARM_FIT_STEPS)

    def _higher(self, climb: Climb, steps: int) -> Climb:
        names = np.repeat([prior.name for prior in self.evidence.priors], self.evidence.sizes)
        (doubts,) = np.nonzero(names == DOUBT.name)
        if not doubts.size:
            return climb
        begin = climb.vector.copy()
        begin[doubts] = np.where(begin[doubts] > 0.5 * TRUSTING, TRUSTING, 0.0)
        return max(climb, self._climb(begin, steps), key=lambda one: one.height)

    def _climb(self, begin: FloatArray, steps: int) -> Climb:
        vector, height = self.evidence.maximise(begin, steps)
        return Climb(vector, height + self.log_units)

    def log_probability(self, vector: FloatArray) -> float:
        """Of the evaluations and of hyperparameters, in units that all scales share."""
        return self.evidence.log_probability(vector) + self.log_units

    def log_evidence(self) -> float:
        """Log probability at hyperparameters that a short climb from the medians ends at."""
        return self.most_probable(None).height

    def laplace(self, start: FloatArray | None) -> Laplace:
        """The Gaussian around the most probable hyperparameters."""
        steps = COLD_FIT_STEPS if start is None else WARM_FIT_STEPS
        begin = np.zeros(self.evidence.size) if start is None else start
        found = self._higher(self._climb(begin, steps), steps)
        return Laplace.around(self.evidence, found.vector, found.height - self.log_units)

    def centre_of(self, warm_start: Mapping[str, Any] | None) -> FloatArray | None:
        """The middle of the hyperparameters of an earlier fit on this scale; None without one."""
        earlier = [] if warm_start is None else warm_start["components"]
        vectors = [
            to_vector(self.evidence.priors, one["values"])
            for one in earlier
            if one["scale"] == self.scale
        ]
        found = [vector for vector in vectors if vector is not None]
        return np.mean(found, axis=0) if found else None
