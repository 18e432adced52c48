"""The translated logistic reward of the paper's Gridworld."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from boirl.errors import InvalidInputError
from boirl.rewards.family import RewardFamily, Transitions, as_float64, as_parameters
from boirl.types import FloatArray, Parameter


class LogisticReward(RewardFamily):
    """`R(s) = height / (1 + exp(-steepness (feature(s) - midpoint))) + translation`.

    Args:
        feature: One number per state, `S`.
        parameters: Steepness, midpoint and translation, in this order.
        height: Value that the logistic part approaches.
        zero_states: States whose logistic part is 0 whatever theta is, such as a sink.
    """

    def __init__(
        self,
        feature: ArrayLike,
        parameters: Mapping[str, tuple[float, float]] | Sequence[Parameter],
        height: float = 10.0,
        zero_states: Sequence[int] = (),
    ) -> None:
        super().__init__(as_parameters(parameters), "state")
        if len(self.parameters) != 3:
            raise InvalidInputError(
                f"there are {len(self.parameters)} parameters; expected three: steepness, "
                "midpoint and translation (fix one with fix(name=value))"
            )
        self._feature = as_float64(feature)
        if self._feature.ndim != 1 or not torch.isfinite(self._feature).all():
            raise InvalidInputError(
                f"the feature has shape {tuple(self._feature.shape)}; expected one finite number "
                "per state"
            )
        self._height = torch.full_like(self._feature, height)
        self._height[list(zero_states)] = 0.0

    @property
    def tables(self) -> dict[str, FloatArray]:
        """The feature and the height of each state, `S` each."""
        return {"feature": self._feature.numpy(), "height": self._height.numpy()}

    @classmethod
    def from_tables(
        cls, parameters: Sequence[Parameter], tables: Mapping[str, FloatArray]
    ) -> LogisticReward:
        """The inverse of `tables`."""
        family = cls(tables["feature"], parameters)
        family._height = as_float64(tables["height"])
        return family

    @property
    def table_shape(self) -> tuple[int, ...]:
        return (len(self._feature),)

    def state_features(self, n_states: int) -> FloatArray:
        """The feature, and which states are zero states."""
        zero = (self._height == 0.0).double()
        return torch.stack([self._feature, zero], dim=1).numpy()

    def evaluate(self, theta: Tensor, transitions: Transitions) -> Tensor:
        steepness, midpoint, translation = (column.unsqueeze(-1) for column in theta.unbind(-1))
        states = torch.as_tensor(transitions.states)
        step = torch.sigmoid(steepness * (self._feature[states] - midpoint))
        return self._height[states] * step + translation
