"""The contract of a reward family: named, bounded parameters and a batched, differentiable R."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from boirl.errors import InvalidInputError
from boirl.types import Box, FloatArray, Parameter

DependsOn = Literal["state", "state_action", "transition"]


SHOWN = 4
"""Parameters that a representation lists."""


@dataclass(frozen=True, repr=False)
class Transitions:
    """`T` steps whose reward is asked for. What a family does not depend on may be left out.

    States and actions are `T` whole numbers or, in continuous environments, vectors: `T x k`.
    """

    states: NDArray[Any]
    actions: NDArray[Any] | None = None
    next_states: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        for name in ("states", "actions", "next_states"):
            values = getattr(self, name)
            if isinstance(values, np.ndarray) and not values.flags.writeable:
                # Torch warns of arrays that it may not write to.
                object.__setattr__(self, name, values.copy())

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"Transitions({len(self)} steps)"


class RewardFamily(ABC):
    """`R_theta(s, a, s')` for every theta of a box.

    Args:
        parameters: Every number the reward depends on, in order. Those with a `fixed` value are
            not part of theta.
        depends_on: `"state"`, `"state_action"` or `"transition"`: what a reward is paid for.
    """

    def __init__(self, parameters: Sequence[Parameter], depends_on: DependsOn = "state") -> None:
        names = [parameter.name for parameter in parameters]
        if len(set(names)) != len(names):
            raise InvalidInputError(f"parameter names {names} are not unique; rename one")
        if depends_on not in ("state", "state_action", "transition"):
            raise InvalidInputError(
                f"depends_on is {depends_on!r}; expected 'state', 'state_action' or 'transition'"
            )
        self.parameters = tuple(parameters)
        self.depends_on = depends_on

    @property
    def box(self) -> Box:
        """Names and bounds of the free parameters."""
        free = [parameter for parameter in self.parameters if parameter.fixed is None]
        if not free:
            raise InvalidInputError("every parameter is fixed; expected at least one free one")
        return Box(
            names=tuple(parameter.name for parameter in free),
            low=np.array([parameter.low for parameter in free], dtype=np.float64),
            high=np.array([parameter.high for parameter in free], dtype=np.float64),
        )

    def __repr__(self) -> str:
        shown = [
            f"{one.name} = {one.fixed:g}"
            if one.fixed is not None
            else f"{one.name} in [{one.low:g}, {one.high:g}]"
            for one in self.parameters[:SHOWN]
        ]
        further = len(self.parameters) - len(shown)
        listed = ", ".join(shown) + (f" and {further} more" if further else "")
        return f"{type(self).__name__}({listed})"

    def fix(self, **values: float) -> Self:
        """The same family with some parameters held at a value."""
        names = [parameter.name for parameter in self.parameters]
        unknown = set(values) - set(names)
        if unknown:
            raise InvalidInputError(f"there is no parameter {sorted(unknown)}; there are {names}")
        family = copy(self)
        family.parameters = tuple(
            Parameter(p.name, p.low, p.high, values.get(p.name, p.fixed)) for p in self.parameters
        )
        return family

    def with_fixed(self, theta: Tensor) -> Tensor:
        """Insert the fixed parameters: `... x d` to `... x p`."""
        if all(p.fixed is None for p in self.parameters):
            return theta
        free = iter(theta.unbind(-1))
        columns = [
            next(free) if p.fixed is None else theta.new_full(theta.shape[:-1], p.fixed)
            for p in self.parameters
        ]
        return torch.stack(columns, dim=-1)

    def __call__(self, theta: Tensor, transitions: Transitions) -> Tensor:
        """Rewards `... x T` of `T` transitions under thetas `... x d`, float64."""
        free = sum(p.fixed is None for p in self.parameters)
        if theta.shape[-1] != free:
            raise InvalidInputError(
                f"thetas have {theta.shape[-1]} numbers; {type(self).__name__} expects {free}"
            )
        rewards = torch.as_tensor(self.evaluate(self.with_fixed(theta), transitions)).double()
        expected = (*theta.shape[:-1], len(transitions))
        if tuple(rewards.shape) != expected:
            raise InvalidInputError(
                f"{type(self).__name__} returned rewards of shape {tuple(rewards.shape)} for "
                f"thetas of shape {tuple(theta.shape)}; expected {expected}, a reward for every "
                "theta and transition"
            )
        return rewards

    @property
    def table_shape(self) -> tuple[int, ...] | None:
        """States, or states and actions, that a table of features is for; None without a table."""
        return None

    def state_features(self, n_states: int) -> FloatArray:
        """Features of states, `S x k`, for rewards that are learned; by default one per state.

        Families that look at features of states give those.
        """
        return np.eye(n_states)

    @abstractmethod
    def evaluate(self, theta: Tensor, transitions: Transitions) -> Tensor:
        """Rewards `... x T` under full parameter vectors `... x p`, fixed ones included."""


class CallableReward(RewardFamily):
    """A family from any function written in torch.

    Args:
        function: `function(theta, transitions) -> rewards`, with `theta` of shape `n x p`
            (fixed parameters included), rewards of shape `n x T`, differentiable in `theta`.
        parameters: `{name: (low, high)}` or a sequence of `Parameter`.
        depends_on: What the function looks at; looking at less makes solving faster.

    Example:
        >>> height = torch.tensor([0.0, 1.0, 4.0], dtype=torch.float64)
        >>> def reward(theta, transitions):
        ...     return -theta[:, :1] * height[transitions.states] ** theta[:, 1:]
        >>> family = CallableReward(reward, {"weight": (0, 5), "power": (0.5, 3)})
    """

    def __init__(
        self,
        function: Callable[[Tensor, Transitions], Tensor],
        parameters: Mapping[str, tuple[float, float]] | Sequence[Parameter],
        depends_on: DependsOn = "state",
    ) -> None:
        super().__init__(as_parameters(parameters), depends_on)
        self.function = function

    def evaluate(self, theta: Tensor, transitions: Transitions) -> Tensor:
        rows = theta.reshape(-1, theta.shape[-1])
        rewards = torch.as_tensor(self.function(rows, transitions))
        expected = (len(rows), len(transitions))
        if tuple(rewards.shape) != expected:
            advice = "transpose it" if tuple(rewards.shape) == expected[::-1] else "check its shape"
            raise InvalidInputError(
                f"the reward function returned shape {tuple(rewards.shape)} for {expected[0]} "
                f"thetas and {expected[1]} transitions; expected {expected}, one row per theta: "
                f"{advice}"
            )
        return rewards.reshape(*theta.shape[:-1], len(transitions))


def as_parameters(
    parameters: Mapping[str, tuple[float, float]] | Sequence[Parameter],
) -> list[Parameter]:
    """Accept `{name: (low, high)}` where a sequence of `Parameter` is meant."""
    if isinstance(parameters, Mapping):
        for name, bounds in parameters.items():
            if np.shape(bounds) != (2,):
                raise InvalidInputError(
                    f"parameter {name!r} has bounds {bounds!r}; expected a lower and an upper one"
                )
        return [
            Parameter(name, float(low), float(high)) for name, (low, high) in parameters.items()
        ]
    return list(parameters)


def as_float64(values: Any) -> Tensor:
    """A float64 tensor that shares no memory with what was given."""
    return torch.tensor(np.array(values, dtype=np.float64))
