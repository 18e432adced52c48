"""Constraints on the parameters of a reward: known beforehand, nothing has to be evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from boirl.errors import InvalidInputError
from boirl.types import Box


@dataclass(frozen=True)
class LinearConstraint:
    """`sum of weight * parameter <= limit`.

    Attributes:
        weights: Of parameters by name; those left out have none.
        limit: The largest sum.
        name: In messages.
    """

    weights: Mapping[str, float]
    limit: float
    name: str

    def check(self, box: Box) -> None:
        """Raise `InvalidInputError` where parameters are missing or nothing is left."""
        unknown = set(self.weights) - set(box.names)
        if unknown or not any(self.weights.values()):
            found = ", ".join(sorted(self.weights)) or "nothing"
            raise InvalidInputError(
                f"constraint {self.name!r} is about {found}; "
                f"expected some of the free parameters {', '.join(box.names)}"
            )
        least = sum(
            weight * (box.low if weight > 0.0 else box.high)[box.names.index(name)]
            for name, weight in self.weights.items()
        )
        if least > self.limit:
            raise InvalidInputError(
                f"constraint {self.name!r} leaves nothing of the box: the sum is {least:g} at "
                f"least; expected a limit above that, not {self.limit:g}"
            )

    def margin(self, thetas: Tensor, box: Box) -> Tensor:
        """How far thetas `n x d` are from the limit, as a share of the box, `n`; 0 or more is fine.

        Differentiable.
        """
        row = torch.tensor([float(self.weights.get(name, 0.0)) for name in box.names])
        row = row.double()
        width = float((row.abs() * torch.as_tensor(box.high - box.low)).sum())
        return (self.limit - thetas @ row) / width

    def facts(self) -> dict[str, Any]:
        """What tells it from another one, ready for JSON."""
        weights = {name: float(weight) for name, weight in sorted(self.weights.items())}
        return {"kind": "linear", "name": self.name, "weights": weights, "limit": self.limit}


def linear(
    weights: Mapping[str, float],
    at_most: float | None = None,
    at_least: float | None = None,
    name: str | None = None,
) -> list[LinearConstraint]:
    """Constraints on a weighted sum of parameters: `at_least <= sum <= at_most`."""
    if at_most is None and at_least is None:
        raise InvalidInputError("neither at_most nor at_least is given; expected one at least")
    text = " + ".join(f"{weight:g} {key}" for key, weight in weights.items())
    found = []
    if at_most is not None:
        label = name or f"{text} <= {at_most:g}"
        found.append(LinearConstraint(dict(weights), float(at_most), label))
    if at_least is not None:
        label = name or f"{text} >= {at_least:g}"
        turned = {key: -weight for key, weight in weights.items()}
        found.append(LinearConstraint(turned, -float(at_least), label))
    return found


def bounds(**limits: tuple[float | None, float | None]) -> list[LinearConstraint]:
    """Constraints on single parameters: `name=(low, high)`, None where there is no limit."""
    found = []
    for name, pair in limits.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidInputError(
                f"the bounds of {name!r} are {pair!r}; expected a lower and an upper one, or None"
            )
        low, high = pair
        if low is not None or high is not None:
            found += linear({name: 1.0}, at_most=high, at_least=low)
    return found
