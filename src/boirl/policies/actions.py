"""How a network's outputs become a distribution over actions.

The likelihood of continuous actions decides what a search finds, so that it is chosen by how the
policy acts:

- `CensoredGaussian`: a Gaussian whose draws are clipped to the bounds, as PPO and TRPO act. A
  clipped action says only that the draw was beyond the bound, so that its probability is that of
  the whole tail. The plain density at the bound explodes as the policy sharpens.
- `SquashedGaussian`: a Gaussian behind a tanh, as SAC acts. Its density diverges towards the bounds
  and recorded actions are rounded there, so that the last thousandth on each side is one bin.
- `Categorical`: a choice of one of `n` actions.
- `Gaussian`: unbounded actions.
- `PartOfActions`: a policy on some of the dimensions; the others don't matter to the environment.
- `UniformMixture`: with a small probability any action, so that a poor policy has a large but
  finite NLL.

Outputs are `T x p`: means and log standard deviations (`p = 2 m`), or logits. A model is a frozen
record; `describe` and `action_model` take it to a file and back.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr, log_softmax

from boirl.errors import InvalidInputError
from boirl.types import FloatArray

LOG_SQRT_2_PI = 0.5 * math.log(2.0 * math.pi)
LOG_SD_RANGE = (-20.0, 2.0)
"""Log standard deviations that a network computes are clipped to this, as SAC does."""

BIN = 1e-3
"""Width of the bin at each end of a squashed Gaussian, in units of tanh."""


class ActionModel(ABC):
    """A distribution over actions for every row of a network's outputs."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of a network's outputs, `p`."""

    @abstractmethod
    def log_prob(self, outputs: FloatArray, actions: Any) -> FloatArray:
        """Log probability (density inside the bounds) of `T` actions."""

    @abstractmethod
    def log_uniform(self, actions: Any) -> FloatArray:
        """The same for a policy that takes any action, in units of the same kind."""

    @abstractmethod
    def sample(self, outputs: FloatArray, rng: np.random.Generator) -> Any:
        """An action a row."""

    @abstractmethod
    def mode(self, outputs: FloatArray) -> Any:
        """The typical action of each row, without noise."""

    def describe(self) -> dict[str, Any]:
        """What `action_model` makes the same model from."""
        return {"kind": type(self).__name__, **asdict(self)}  # type: ignore[call-overload]


@dataclass(frozen=True)
class Gaussian(ActionModel):
    """`a ~ N(mean, sd)` in `dimension` dimensions, unbounded."""

    dimension: int

    @property
    def size(self) -> int:
        return 2 * self.dimension

    def log_prob(self, outputs: FloatArray, actions: FloatArray) -> FloatArray:
        mean, log_sd = np.split(outputs, 2, axis=1)
        return _log_normal(actions, mean, log_sd).sum(axis=1)

    def log_uniform(self, actions: FloatArray) -> FloatArray:
        """There is no uniform distribution over all numbers; one of scale 10 takes its place."""
        wide = np.full_like(actions, math.log(10.0))
        return _log_normal(actions, np.zeros_like(actions), wide).sum(axis=1)

    def sample(self, outputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        mean, log_sd = np.split(outputs, 2, axis=1)
        return mean + np.exp(log_sd) * rng.standard_normal(mean.shape)

    def mode(self, outputs: FloatArray) -> FloatArray:
        return outputs[:, : self.dimension]


@dataclass(frozen=True)
class _Bounded(ActionModel):
    """Actions between `low` and `high`, one number per dimension."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        low, high = (tuple(float(x) for x in np.ravel(b)) for b in (self.low, self.high))
        if len(low) != len(high) or not all(
            math.isfinite(a) and math.isfinite(b) and a < b for a, b in zip(low, high, strict=True)
        ):
            raise InvalidInputError(
                f"actions are bounded by {low} and {high}; expected finite bounds, the lower first"
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def size(self) -> int:
        return 2 * len(self.low)

    def _widths(self) -> FloatArray:
        return np.subtract(self.high, self.low)


@dataclass(frozen=True)
class CensoredGaussian(_Bounded):
    """`a = clip(N(mean, sd), low, high)`: a density inside, the mass of a tail at each bound."""

    def log_prob(self, outputs: FloatArray, actions: FloatArray) -> FloatArray:
        mean, log_sd = np.split(outputs, 2, axis=1)
        sd = np.exp(log_sd)
        below = log_ndtr((self.low - mean) / sd)
        above = log_ndtr((mean - self.high) / sd)
        inside = _log_normal(actions, mean, log_sd)
        each = np.where(actions <= self.low, below, np.where(actions >= self.high, above, inside))
        return each.sum(axis=1)

    def log_uniform(self, actions: FloatArray) -> FloatArray:
        """A third at each bound and a third evenly between."""
        at_bound = (actions <= self.low) | (actions >= self.high)
        each = -np.log(3.0) - np.where(at_bound, 0.0, np.log(self._widths()))
        return each.sum(axis=1)

    def sample(self, outputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        mean, log_sd = np.split(outputs, 2, axis=1)
        return np.clip(mean + np.exp(log_sd) * rng.standard_normal(mean.shape), self.low, self.high)

    def mode(self, outputs: FloatArray) -> FloatArray:
        return np.clip(outputs[:, : len(self.low)], self.low, self.high)


@dataclass(frozen=True)
class SquashedGaussian(_Bounded):
    """`a = tanh(N(mean, sd))`, stretched to the bounds; flat within `BIN` of each."""

    def log_prob(self, outputs: FloatArray, actions: FloatArray) -> FloatArray:
        mean, log_sd = _clipped(outputs)
        sd = np.exp(log_sd)
        unit = 2.0 * (actions - self.low) / self._widths() - 1.0
        edge = math.atanh(1.0 - BIN)
        inner = np.clip(unit, BIN - 1.0, 1.0 - BIN)
        inside = _log_normal(np.arctanh(inner), mean, log_sd) - np.log1p(-(inner**2))
        below = log_ndtr((-edge - mean) / sd) - math.log(BIN)
        above = log_ndtr((mean - edge) / sd) - math.log(BIN)
        each = np.where(unit <= BIN - 1.0, below, np.where(unit >= 1.0 - BIN, above, inside))
        return (each - np.log(0.5 * self._widths())).sum(axis=1)

    def log_uniform(self, actions: FloatArray) -> FloatArray:
        return np.full(len(actions), -np.log(self._widths()).sum())

    def sample(self, outputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        mean, log_sd = _clipped(outputs)
        return self._stretch(mean + np.exp(log_sd) * rng.standard_normal(mean.shape))

    def mode(self, outputs: FloatArray) -> FloatArray:
        return self._stretch(outputs[:, : len(self.low)])

    def _stretch(self, before: FloatArray) -> FloatArray:
        return np.asarray(self.low) + 0.5 * (np.tanh(before) + 1.0) * self._widths()


@dataclass(frozen=True)
class Categorical(ActionModel):
    """One of `count` actions, numbered from 0, by logits."""

    count: int

    @property
    def size(self) -> int:
        return self.count

    def log_prob(self, outputs: FloatArray, actions: Any) -> FloatArray:
        logs: FloatArray = log_softmax(outputs, axis=1)
        return logs[np.arange(len(logs)), actions]

    def log_uniform(self, actions: Any) -> FloatArray:
        return np.full(len(actions), -math.log(self.count))

    def sample(self, outputs: FloatArray, rng: np.random.Generator) -> Any:
        return (outputs + rng.gumbel(size=outputs.shape)).argmax(axis=1)

    def mode(self, outputs: FloatArray) -> Any:
        return outputs.argmax(axis=1)


@dataclass(frozen=True)
class PartOfActions(ActionModel):
    """`model` on the named columns of actions of dimension `dimension`; the others are 0.

    They are left out of the likelihood: FetchReach, for one, ignores its fingers.
    `outputs_for_all` says that the network has means and log standard deviations of all dimensions.
    """

    model: ActionModel
    columns: tuple[int, ...]
    dimension: int
    outputs_for_all: bool = False

    @property
    def size(self) -> int:
        return 2 * self.dimension if self.outputs_for_all else self.model.size

    def log_prob(self, outputs: FloatArray, actions: FloatArray) -> FloatArray:
        return self.model.log_prob(self._own(outputs), actions[:, self.columns])

    def log_uniform(self, actions: FloatArray) -> FloatArray:
        return self.model.log_uniform(actions[:, self.columns])

    def sample(self, outputs: FloatArray, rng: np.random.Generator) -> FloatArray:
        return self._fill(self.model.sample(self._own(outputs), rng))

    def mode(self, outputs: FloatArray) -> FloatArray:
        return self._fill(self.model.mode(self._own(outputs)))

    def _own(self, outputs: FloatArray) -> FloatArray:
        if not self.outputs_for_all:
            return outputs
        return outputs[:, [*self.columns, *(self.dimension + column for column in self.columns)]]

    def _fill(self, part: FloatArray) -> FloatArray:
        actions = np.zeros((len(part), self.dimension))
        actions[:, self.columns] = part
        return actions

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "model": self.model.describe()}


@dataclass(frozen=True)
class UniformMixture(ActionModel):
    """`(1 - share) model + share uniform`, over whole actions."""

    model: ActionModel
    share: float = 0.02

    def __post_init__(self) -> None:
        if not 0.0 < self.share < 1.0:
            raise InvalidInputError(
                f"the uniform share is {self.share}; expected a number between 0 and 1"
            )

    @property
    def size(self) -> int:
        return self.model.size

    def log_prob(self, outputs: FloatArray, actions: Any) -> FloatArray:
        return np.logaddexp(
            math.log1p(-self.share) + self.model.log_prob(outputs, actions),
            math.log(self.share) + self.model.log_uniform(actions),
        )

    def log_uniform(self, actions: Any) -> FloatArray:
        return self.model.log_uniform(actions)

    def sample(self, outputs: FloatArray, rng: np.random.Generator) -> Any:
        """The policy itself acts; the uniform part only guards the likelihood."""
        return self.model.sample(outputs, rng)

    def mode(self, outputs: FloatArray) -> Any:
        return self.model.mode(outputs)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "model": self.model.describe()}


_KINDS: dict[str, type[ActionModel]] = {
    kind.__name__: kind
    for kind in (
        Gaussian,
        CensoredGaussian,
        SquashedGaussian,
        Categorical,
        PartOfActions,
        UniformMixture,
    )
}


def action_model(description: Mapping[str, Any]) -> ActionModel:
    """The model that `ActionModel.describe` described."""
    values = dict(description)
    kind = _KINDS[values.pop("kind")]
    for name, value in values.items():
        if isinstance(value, Mapping):
            values[name] = action_model(value)
        elif isinstance(value, list):
            values[name] = tuple(value)
    return kind(**values)


def _clipped(outputs: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean, log_sd = np.split(outputs, 2, axis=1)
    return mean, np.clip(log_sd, *LOG_SD_RANGE)


def _log_normal(x: FloatArray, mean: FloatArray, log_sd: FloatArray) -> FloatArray:
    return -0.5 * ((x - mean) * np.exp(-log_sd)) ** 2 - log_sd - LOG_SQRT_2_PI
