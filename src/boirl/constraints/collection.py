"""All constraints of a search: which evaluations meet them, and by how much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from boirl.constraints.behaviour import BehaviourConstraint
from boirl.constraints.quantities import Measured
from boirl.constraints.theta import LinearConstraint
from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.problem import Problem
from boirl.types import Box, FloatArray

MEASURED = "constraints"
"""Where the facts of an evaluation hold what was measured of its policy, by name."""

Given = Iterable[Any] | None


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints on theta and on behaviour.

    Attributes:
        linear: On theta.
        behaviour: On what policies do.
    """

    linear: tuple[LinearConstraint, ...] = ()
    behaviour: tuple[BehaviourConstraint, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.linear or self.behaviour)

    @classmethod
    def of(cls, given: Given, problem: Problem[Any]) -> Constraints:
        """What a user gives: constraints, or lists of some, as the functions here return them."""
        flat: list[Any] = []
        for one in [given] if isinstance(given, Constraints) else given or ():
            if isinstance(one, Constraints):
                flat += [*one.linear, *one.behaviour]
            else:
                flat += list(one) if isinstance(one, list | tuple) else [one]
        wrong = [x for x in flat if not isinstance(x, LinearConstraint | BehaviourConstraint)]
        if wrong:
            raise InvalidInputError(
                f"a constraint is {wrong[0]!r}; expected those of boirl.constraints: bounds, "
                "linear, reaches, expects or custom"
            )
        names = [one.name for one in flat]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InvalidInputError(
                f"two constraints are called {twice[0]!r}; pass name=... to tell them apart"
            )
        found = cls(
            tuple(one for one in flat if isinstance(one, LinearConstraint)),
            tuple(one for one in flat if isinstance(one, BehaviourConstraint)),
        )
        for one in found.linear:
            one.check(problem.box)
        for own in found.behaviour:
            if own.quantity is not None:
                own.quantity.check(problem)
        return found

    @property
    def is_measurable(self) -> bool:
        """Whether behaviour can be measured: a file does not carry functions."""
        return all(one.quantity is not None for one in self.behaviour)

    def measured(self, problem: Problem[Any], evaluation: Evaluation) -> Evaluation:
        """The evaluation with what was measured of its policy among its facts; nothing is solved.

        Of several policies, the mean; their spread adds to the standard error.
        """
        if not self.behaviour or not evaluation.ok:
            return evaluation
        if not evaluation.policies:
            raise InvalidInputError(
                f"the evaluation of theta {evaluation.theta} keeps no policy, so that constraint "
                f"{self.behaviour[0].name!r} cannot be checked; tell a boirl.Evaluation with "
                "policies, as problem.evaluate returns it"
            )
        policies = problem.policies_of(evaluation)
        values = {}
        for one in self.behaviour:
            each = [one.measure(problem, policy) for policy in policies]
            mean = float(np.mean([found.value for found in each]))
            spread = float(np.std([found.value for found in each])) / len(each) ** 0.5
            error = float(np.mean([found.standard_error for found in each])) / len(each) ** 0.5
            gradient = one.gradient(problem, evaluation, policies[0]) if len(each) == 1 else None
            values[one.name] = [mean, float(np.hypot(spread, error)), gradient]
        return replace(evaluation, facts={**evaluation.facts, MEASURED: values})

    def values(self, evaluation: Evaluation) -> list[Measured]:
        """What was measured of an evaluation, for each constraint on behaviour."""
        known = evaluation.facts.get(MEASURED, {})
        try:
            return [Measured(*known.get(one.name, (np.nan, 0.0))) for one in self.behaviour]
        except (AttributeError, TypeError) as error:
            raise InvalidInputError(
                f"what was measured at theta {evaluation.theta} is {known!r}; expected a value, a "
                "standard error and perhaps a gradient for the name of each constraint"
            ) from error

    def violations(self, evaluation: Evaluation, box: Box) -> list[str]:
        """The constraints that an evaluation does not meet, in words."""
        margins = self.theta_margins(np.array([evaluation.theta]), box)[0]
        found = [
            f"{one.name}: theta is beyond it"
            for one, margin in zip(self.linear, margins, strict=True)
            if margin < -1e-12
        ]
        rows = zip(self.behaviour, self.values(evaluation), strict=True)
        return found + [one.describe(value) for one, value in rows if not one.holds(value)]

    def feasible(self, evaluations: Sequence[Evaluation], box: Box) -> Any:
        """Which evaluations succeeded and meet all constraints, `n`."""
        return np.array(
            [one.ok and not self.violations(one, box) for one in evaluations], dtype=bool
        )

    def theta_margins(self, thetas: FloatArray, box: Box) -> FloatArray:
        """How far thetas `n x d` are from each limit on theta, `n x c`; see `LinearConstraint`."""
        given = torch.tensor(thetas)
        rows = [one.margin(given, box).numpy() for one in self.linear]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(thetas)).T

    def facts(self) -> list[dict[str, Any]]:
        """What tells them from others, ready for JSON."""
        on_theta, on_behaviour = self.linear, self.behaviour
        return [one.facts() for one in on_theta] + [one.facts() for one in on_behaviour]

    @classmethod
    def from_facts(cls, facts: Sequence[Mapping[str, Any]]) -> Constraints:
        """The inverse of `facts`, without the functions that behaviour is measured by."""
        linear = [one for one in facts if one["kind"] == "linear"]
        behaviour = [one for one in facts if one["kind"] == "behaviour"]
        return cls(
            tuple(LinearConstraint(one["weights"], one["limit"], one["name"]) for one in linear),
            tuple(BehaviourConstraint.from_facts(one) for one in behaviour),
        )


NO_CONSTRAINTS = Constraints()
