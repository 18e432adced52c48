"""Constraints on what the policy of a reward does: known once it has been evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boirl.constraints.quantities import (
    ExpectedTotal,
    Function,
    Measured,
    Quantity,
    Reach,
    quantity_from_facts,
)
from boirl.errors import CodeNeededError, InvalidInputError
from boirl.evaluation import Evaluation
from boirl.problem import Problem, TabularProblem
from boirl.types import FloatArray

CONFIDENT = 1.645
"""Standard errors by which an estimate has to be on the right side: 95 %, one-sided."""

ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class BehaviourConstraint:
    """A quantity with a limit.

    Attributes:
        quantity: What is measured; None where a file could only name it.
        limit: The largest or smallest value.
        at_most: Whether it is the largest.
        name: In messages.
    """

    quantity: Quantity | None
    limit: float
    at_most: bool
    name: str

    def measure(self, problem: Problem[Any], policy: Any) -> Measured:
        """The quantity for a policy.

        Raises:
            CodeNeededError: The constraint came from a file, which does not carry functions.
        """
        if self.quantity is None:
            raise CodeNeededError(
                f"constraint {self.name!r} came from a file, which does not carry what it "
                "measures; pass constraints=[...] again"
            )
        return self.quantity.measure(problem, policy)

    def gradient(
        self, problem: Problem[Any], evaluation: Evaluation, policy: Any
    ) -> list[float] | None:
        """Derivative of the quantity by theta, `d`, for the policy of an evaluation; None where it
        is not known."""
        if not isinstance(problem, TabularProblem) or evaluation.reward is not None:
            return None
        if self.quantity is None:
            return None
        by_choice = self.quantity.by_choice(problem, policy)
        if by_choice is None:
            return None
        found = problem.gradient_of(np.array(evaluation.theta), policy, by_choice)
        return None if found is None or not np.isfinite(found).all() else found.tolist()

    def margin_gradient(self, measured: Measured) -> FloatArray | None:
        """The derivative of `margin` by theta, `d`, where it is known."""
        if measured.gradient is None:
            return None
        return np.array(measured.gradient, dtype=np.float64) * (-1.0 if self.at_most else 1.0)

    def margin(self, value: float) -> float:
        """How far a value is on the right side of the limit; below 0 it is on the wrong one."""
        return self.limit - value if self.at_most else value - self.limit

    def holds(self, measured: Measured) -> bool:
        """Whether it is met: exactly, or at 95 % where the value is an estimate."""
        slack = CONFIDENT * measured.standard_error
        return self.margin(measured.value) - slack >= -ROUNDING

    def describe(self, measured: Measured) -> str:
        """A value beside its limit."""
        sign = "<=" if self.at_most else ">="
        error = f" ± {measured.standard_error:.2g}" if measured.standard_error else ""
        return f"{self.name}: {measured.value:.4g}{error}, expected {sign} {self.limit:g}"

    def facts(self) -> dict[str, Any]:
        """What tells it from another one, ready for JSON."""
        return {
            "kind": "behaviour",
            "name": self.name,
            "limit": self.limit,
            "at_most": self.at_most,
            "quantity": None if self.quantity is None else self.quantity.facts(),
        }

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> BehaviourConstraint:
        """The inverse of `facts`, as far as files carry what is measured."""
        quantity = quantity_from_facts(facts.get("quantity"))
        return cls(quantity, facts["limit"], facts["at_most"], facts["name"])


def limited(
    quantity: Quantity, at_most: float | None, at_least: float | None
) -> list[BehaviourConstraint]:
    """The constraints of one quantity."""
    if at_most is None and at_least is None:
        raise InvalidInputError(
            f"neither at_most nor at_least of {quantity.name!r} is given; expected one at least"
        )
    for limit in (at_most, at_least):
        if limit is not None and not isinstance(limit, int | float | np.number):
            raise InvalidInputError(
                f"the limit of {quantity.name!r} is {limit!r}; expected a number"
            )
    name = quantity.name
    found = []
    if at_most is not None:
        found.append(BehaviourConstraint(quantity, float(at_most), True, name))
    if at_least is not None:
        label = name if at_most is None else f"{name} (at least)"
        found.append(BehaviourConstraint(quantity, float(at_least), False, label))
    return found


def reaches(
    where: ArrayLike | Callable[[Any], Any],
    at_most: float | None = None,
    at_least: float | None = None,
    **options: Any,
) -> list[BehaviourConstraint]:
    """Limits on the probability that a trajectory comes to some states; see `Reach`."""
    found = limited(Reach(where, **options), at_most, at_least)
    for one in found:
        if not 0.0 <= one.limit <= 1.0:
            raise InvalidInputError(
                f"the limit of {one.name!r} is {one.limit:g}; expected a probability from 0 to 1, "
                "such as 0.05 for 5 %"
            )
    return found


def expects(
    per_step: ArrayLike | Callable[[Any, Any], Any] | None = None,
    at_most: float | None = None,
    at_least: float | None = None,
    **options: Any,
) -> list[BehaviourConstraint]:
    """Limits on what adds up along a trajectory, such as time; see `ExpectedTotal`."""
    return limited(ExpectedTotal(per_step, **options), at_most, at_least)


def custom(
    function: Callable[[Any, Any], Any],
    at_most: float | None = None,
    at_least: float | None = None,
    name: str | None = None,
) -> list[BehaviourConstraint]:
    """Limits on any number that a function of problem and policy gives; see `Function`."""
    return limited(Function(function, name), at_most, at_least)
