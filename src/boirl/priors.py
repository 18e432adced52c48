"""What is believed of theta before any demonstration is seen.

A prior is a log density over the box, up to a constant, written in torch so that it has gradients.
It enters the posterior over rewards as `-N NLL(theta) + log_density(theta)`.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.quasirandom import SobolEngine

from boirl.errors import CodeNeededError, InvalidInputError
from boirl.types import Box, FloatArray

LogDensity = Callable[[Tensor], Tensor]
"""From thetas `n x d` to log densities `n`, up to a constant; `-inf` where theta is impossible."""

PROBES = 16
"""Thetas all over the box at which a density is checked, and told from another one."""


class Prior(ABC):
    """A log density over theta, up to a constant."""

    @abstractmethod
    def log_density(self, theta: Tensor) -> Tensor:
        """Of thetas `n x d`, float64: `n`, differentiable."""

    @abstractmethod
    def facts(self, box: Box) -> dict[str, Any]:
        """What tells this prior from another one, ready for JSON."""

    def log_prior(self, thetas: FloatArray) -> FloatArray:
        """`log_density` of thetas `n x d`, without gradients: `n`."""
        with torch.no_grad():
            values = self.log_density(torch.as_tensor(thetas, dtype=torch.float64))
        return np.asarray(values.numpy(), dtype=np.float64)

    @property
    def is_uniform(self) -> bool:
        return False

    def check(self, box: Box) -> None:
        """Raise `InvalidInputError` where this is no density over the box."""
        thetas = _probes(box)
        try:
            values = self.log_density(thetas)
        except (RuntimeError, TypeError, IndexError) as error:
            raise InvalidInputError(
                f"the prior fails for a tensor of {PROBES} x {box.dimension} thetas ({error}); "
                "expected a function from n x d thetas to n log densities, in torch"
            ) from error
        if not isinstance(values, Tensor) or values.shape != (PROBES,):
            shape = tuple(values.shape) if isinstance(values, Tensor) else type(values).__name__
            raise InvalidInputError(
                f"the prior returned {shape} for {PROBES} x {box.dimension} thetas; expected a "
                f"tensor of {PROBES} log densities"
            )
        if bool(torch.isnan(values).any() | (values == torch.inf).any()):
            raise InvalidInputError(
                "the prior is NaN or infinite somewhere in the box; expected log densities below "
                "infinity"
            )
        if not bool(torch.isfinite(values).any()):
            raise InvalidInputError(
                f"the prior excludes all of {PROBES} thetas spread over the box; expected one that "
                "allows for a good part of it: narrow the box in place of that"
            )


class UniformPrior(Prior):
    """Every theta of the box is as probable as any other."""

    def log_density(self, theta: Tensor) -> Tensor:
        return theta.new_zeros(theta.shape[:-1])

    def facts(self, box: Box) -> dict[str, Any]:
        return {"kind": "uniform"}

    @property
    def is_uniform(self) -> bool:
        return True

    def __repr__(self) -> str:
        return "UniformPrior()"


class NormalPrior(Prior):
    """Independent normal distributions, cut off at the bounds of the box.

    Args:
        mean: Of each parameter, `d`.
        sd: Standard deviation of each, `d`; infinite where nothing is believed of a parameter.
    """

    def __init__(self, mean: ArrayLike, sd: ArrayLike) -> None:
        self.mean = np.atleast_1d(np.asarray(mean, dtype=np.float64))
        self.sd = np.atleast_1d(np.asarray(sd, dtype=np.float64))
        if self.mean.ndim != 1 or self.mean.shape != self.sd.shape:
            raise InvalidInputError(
                f"mean and sd have shapes {self.mean.shape} and {self.sd.shape}; expected one "
                "number per parameter in each"
            )
        if not np.isfinite(self.mean).all() or not (self.sd > 0.0).all():
            raise InvalidInputError(
                f"mean is {self.mean.tolist()} and sd {self.sd.tolist()}; expected finite means "
                "and standard deviations above 0"
            )

    def log_density(self, theta: Tensor) -> Tensor:
        standardised = (theta - torch.as_tensor(self.mean)) / torch.as_tensor(self.sd)
        return -0.5 * standardised.square().sum(dim=-1)

    def facts(self, box: Box) -> dict[str, Any]:
        # JSON has no infinity.
        sd = [float(one) if np.isfinite(one) else None for one in self.sd]
        return {"kind": "normal", "mean": self.mean.tolist(), "sd": sd}

    def check(self, box: Box) -> None:
        if len(self.mean) != box.dimension:
            raise InvalidInputError(
                f"the prior is of {len(self.mean)} parameters; expected {box.dimension}: "
                f"{', '.join(box.names)}"
            )
        super().check(box)

    def __repr__(self) -> str:
        return f"NormalPrior(mean={self.mean.tolist()}, sd={self.sd.tolist()})"


class DensityPrior(Prior):
    """Any log density that is written in torch; see `LogDensity`."""

    def __init__(self, function: LogDensity) -> None:
        self.function = function

    def log_density(self, theta: Tensor) -> Tensor:
        return self.function(theta)

    def facts(self, box: Box) -> dict[str, Any]:
        values = np.round(self.log_prior(_probes(box).numpy()), 9)
        name = getattr(self.function, "__qualname__", type(self.function).__name__)
        digest = hashlib.sha256(values.tobytes()).hexdigest()[:16]
        return {"kind": "density", "name": name, "values": digest}

    def __repr__(self) -> str:
        return f"DensityPrior({self.function!r})"


class UnloadedPrior(Prior):
    """A prior that a file could only name, because it is code."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts = dict(facts)

    def log_density(self, theta: Tensor) -> Tensor:
        raise CodeNeededError(
            f"the prior {self._facts['name']!r} is code, which a file cannot carry; pass it with "
            "found.with_prior(...)"
        )

    def facts(self, box: Box) -> dict[str, Any]:
        return self._facts


UNIFORM = UniformPrior()


def as_prior(given: Prior | LogDensity | None, box: Box) -> Prior:
    """The prior that a user means, checked against the box; None for the uniform one."""
    if given is None:
        return UNIFORM
    if not isinstance(given, Prior) and not callable(given):
        raise InvalidInputError(
            f"the prior is {given!r}; expected None, boirl.NormalPrior(mean, sd) or a function "
            "from n x d thetas to n log densities, in torch"
        )
    prior = given if isinstance(given, Prior) else DensityPrior(given)
    prior.check(box)
    return prior


def prior_from_facts(facts: Mapping[str, Any]) -> Prior:
    """The inverse of `Prior.facts`, as far as that is possible without code."""
    if facts["kind"] == "uniform":
        return UNIFORM
    if facts["kind"] == "normal":
        sd = [np.inf if one is None else one for one in facts["sd"]]
        return NormalPrior(facts["mean"], sd)
    return UnloadedPrior(facts)


def _probes(box: Box) -> Tensor:
    """Thetas all over the box, `n x d`."""
    unit = SobolEngine(box.dimension, scramble=True, seed=0).draw(PROBES, dtype=torch.float64)
    low, high = torch.as_tensor(box.low), torch.as_tensor(box.high)
    return low + (high - low) * unit
