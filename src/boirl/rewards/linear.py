"""Rewards that are weighted sums of features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from boirl.errors import InvalidInputError
from boirl.rewards.family import DependsOn, RewardFamily, Transitions, as_float64, as_parameters
from boirl.rewards.feature_table import read_features
from boirl.types import FloatArray, Parameter


class LinearReward(RewardFamily):
    """`R_theta = theta . features`.

    Args:
        features: `S x p` for rewards on states, `S x A x p` for rewards on state-actions, or a
            function from `Transitions` to an array `T x p`.
        parameters: `{name: (low, high)}` or a sequence of `Parameter`, one per feature.
        depends_on: Needed only where `features` is a function.
        of_next: Whether a step is paid for the state that it leads to, by its features `S x p`, not
            for the one that it leaves. A terminal state is paid for on arrival or not at all.
    """

    def __init__(
        self,
        features: ArrayLike | Callable[[Transitions], ArrayLike],
        parameters: Mapping[str, tuple[float, float]] | Sequence[Parameter],
        depends_on: DependsOn | None = None,
        of_next: bool = False,
    ) -> None:
        self._function = features if callable(features) else None
        self._table = torch.empty(0) if callable(features) else as_float64(features)
        if self._function is None:
            if self._table.ndim not in (2, 3):
                raise InvalidInputError(
                    f"features have shape {tuple(self._table.shape)}; expected S x p (one row per "
                    "state) or S x A x p"
                )
            if not torch.isfinite(self._table).all():
                raise InvalidInputError("features hold NaN or infinity; expected finite numbers")
            depends_on = "state" if self._table.ndim == 2 else "state_action"
        self.of_next = of_next
        if of_next:
            if self._table.ndim != 2:
                raise InvalidInputError(
                    "of_next needs a table of features, S x p; a function of transitions can look "
                    "at their next_states itself"
                )
            depends_on = "transition"
        super().__init__(as_parameters(parameters), depends_on or "transition")
        if self._function is None and self._table.shape[-1] != len(self.parameters):
            raise InvalidInputError(
                f"there are {self._table.shape[-1]} features and {len(self.parameters)} "
                "parameters; expected one parameter per feature"
            )

    @classmethod
    def from_table(
        cls,
        table: Any,
        parameters: Mapping[str, tuple[float, float]] | Sequence[Parameter],
        states: Sequence[str] = (),
        of_next: bool = False,
        actions: Sequence[str] = (),
        *,
        state: str = "state",
        action: str = "action",
    ) -> LinearReward:
        """The family whose features are columns of a table with one row per state, or per state
        and action.

        Args:
            table: A `.csv` file, or a pandas, polars or other table, with a column for each
                parameter, of its name, and one of states: names or numbers. With a column of
                actions the features are those of taking them there.
            parameters: As in `LinearReward`.
            states: Names of the states in the order of their numbers, `mdp.state_names`; empty
                where the table numbers them.
            of_next: As in `LinearReward`.
            actions: Names of the actions, `mdp.action_names`; empty where the table numbers them.
            state: What the column of states is called.
            action: What the column of actions is called.
        """
        named = as_parameters(parameters)
        features = read_features(table, [one.name for one in named], states, actions, state, action)
        return cls(features, named, of_next=of_next)

    @property
    def table(self) -> FloatArray | None:
        """The features, `S x p` or `S x A x p`; None where a function computes them."""
        return None if self._function is not None else self._table.numpy()

    @property
    def features_function(self) -> Callable[[Transitions], ArrayLike] | None:
        """The function that computes features, where there is no table."""
        return self._function

    @property
    def table_shape(self) -> tuple[int, ...] | None:
        return None if self._function is not None else tuple(self._table.shape[:-1])

    def features(self, transitions: Transitions) -> Tensor:
        """Features `T x p` of the transitions, which projections sum up once and for all."""
        if self._function is not None:
            return as_float64(self._function(transitions))
        if self.of_next:
            return self._table[torch.as_tensor(transitions.next_states)]
        states = torch.as_tensor(transitions.states)
        if self.depends_on == "state":
            return self._table[states]
        return self._table[states, torch.as_tensor(transitions.actions)]

    def state_features(self, n_states: int) -> FloatArray:
        if self.depends_on != "state" and not self.of_next:
            return super().state_features(n_states)
        return self._table.numpy()

    def evaluate(self, theta: Tensor, transitions: Transitions) -> Tensor:
        return theta @ self.features(transitions).T
