"""Hyperparameters for evaluations on one scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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

    def most_probable(self, start: FloatArray | None) -> tuple[float, Component]:
        """The log probability and the process of hyperparameters that short climbs end at, from a
        start or from the medians."""
        best, height = self._maximise(start, WARM_FIT_STEPS)
        return height + self.log_units, self.component(best)

    def log_probability(self, vector: FloatArray) -> float:
        """Of the evaluations and of hyperparameters, in units that all scales share."""
        return self.evidence.log_probability(vector) + self.log_units

    def log_evidence(self) -> float:
        """Log probability at hyperparameters that a short climb from the medians ends at."""
        return self.most_probable(None)[0]

    def laplace(self, start: FloatArray | None) -> Laplace:
        """The Gaussian around the most probable hyperparameters."""
        steps = COLD_FIT_STEPS if start is None else WARM_FIT_STEPS
        return Laplace.around(self.evidence, *self._maximise(start, steps))

    def _maximise(self, start: FloatArray | None, steps: int) -> tuple[FloatArray, float]:
        """The higher end of two climbs, from a start or from the medians.

        The probability often has two peaks, as evaluations far from the best are explained closely
        or hardly at all. The second climb begins on the side of the other one.
        """
        begin = np.zeros(self.evidence.size) if start is None else start
        names = np.repeat([prior.name for prior in self.evidence.priors], self.evidence.sizes)
        (doubts,) = np.nonzero(names == DOUBT.name)
        begins = [begin]
        if doubts.size:
            other = begin.copy()
            other[doubts] = np.where(begin[doubts] > 0.5 * TRUSTING, TRUSTING, 0.0)
            begins.append(other)
        return max((self.evidence.maximise(one, steps) for one in begins), key=lambda one: one[1])

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
