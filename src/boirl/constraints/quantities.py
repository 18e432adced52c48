"""Numbers that describe behaviour: how probable a place is to be reached, how long a way takes.

On a table they are exact, by following the distribution over states step by step, and so are their
derivatives. Elsewhere they are means over roll-outs, with their standard errors; the same starts
and random numbers serve all policies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boirl.constraints.quantity_checks import (
    all_pairs,
    check_gains,
    check_places,
    check_walk,
    is_among,
)
from boirl.constraints.tabular_walk import TabularWalk
from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.problem import Problem, TabularProblem
from boirl.problem.simulated import GymProblem
from boirl.problem.walks import horizon_of, walk_from
from boirl.types import FloatArray

QUANTITY_STREAM = 35
EPISODES = 200
"""Roll-outs of a policy, where it is measured by some and the simulator does not say how many."""


class Measured(NamedTuple):
    """A number, its standard error, 0 where it is exact, and its derivative by theta, `d`, if that
    is known."""

    value: float
    standard_error: float = 0.0
    gradient: Sequence[float] | None = None


class Quantity(ABC):
    """A number that describes what a policy does."""

    name: str

    @abstractmethod
    def measure(self, problem: Problem[Any], policy: Any) -> Measured:
        """The number for a policy in the environment of a problem."""

    def by_choice(self, problem: Problem[Any], policy: Any) -> FloatArray | None:
        """Its derivative by the probability of each choice of the policy, `S x A`; None where
        there is none, or nobody says so."""
        return None

    def check(self, problem: Problem[Any]) -> None:  # noqa: B027
        """Raise `InvalidInputError` where it cannot be measured in a problem."""

    def facts(self) -> dict[str, Any] | None:
        """What makes it again (`quantity_from_facts`), ready for JSON; None where code does."""
        return None


class Reach(Quantity):
    """Probability that a trajectory comes to one of some states, its start included.

    Args:
        where: States by number, or a function from observations `T x k` to which of them count.
        start: Distribution of the first state of a table, `S`; by default that of the problem.
        steps: Within so many steps; by default those of the problem.
        name: In messages; by default the states.
    """

    def __init__(
        self,
        where: ArrayLike | Callable[[Any], Any],
        start: ArrayLike | None = None,
        steps: int | None = None,
        name: str | None = None,
    ) -> None:
        self.where = where if callable(where) else np.atleast_1d(np.asarray(where))
        self.start, self.steps = start, steps
        described = getattr(where, "__name__", None) if callable(where) else _listed(self.where)
        self.name = name or f"reaching {described}"

    def check(self, problem: Problem[Any]) -> None:
        check_walk(self.name, problem, self.start, self.steps)
        check_places(self.name, problem, self.where)

    def facts(self) -> dict[str, Any] | None:
        if callable(self.where):
            return None
        given = {"where": self.where, "start": self.start, "steps": self.steps, "name": self.name}
        return {"kind": "reach", **_as_lists(given)}

    def measure(self, problem: Problem[Any], policy: Any) -> Measured:
        if isinstance(problem, TabularProblem):
            return Measured(self._walk(problem, policy).reach(self._places(problem)))
        drawn = roll_out(problem, policy, self.steps)
        reached = is_among(drawn.states, self.where) | is_among(drawn.next_states, self.where)
        hits = np.bincount(drawn.trajectory_numbers, reached, len(drawn)) > 0.0
        return _mean(hits.astype(np.float64))

    def by_choice(self, problem: Problem[Any], policy: Any) -> FloatArray | None:
        if not isinstance(problem, TabularProblem):
            return None
        return self._walk(problem, policy).reach_by_choice(self._places(problem))

    def _walk(self, problem: TabularProblem, policy: Any) -> TabularWalk:
        return TabularWalk(problem, policy, self.start, self.steps)

    def _places(self, problem: TabularProblem) -> Any:
        return is_among(np.arange(problem.mdp.n_states), self.where)


class ExpectedTotal(Quantity):
    """What adds up along a trajectory on average: steps, time, cost.

    Args:
        per_step: What a step adds: a number for each state, `S`, or state-action, `S x A`; or a
            function of observations and actions. None counts steps.
        until: States from which on nothing is added, by number or by a function, as for `Reach`.
        start: As of `Reach`.
        steps: As of `Reach`.
        name: In messages.
    """

    def __init__(
        self,
        per_step: ArrayLike | Callable[[Any, Any], Any] | None = None,
        until: ArrayLike | Callable[[Any], Any] | None = None,
        start: ArrayLike | None = None,
        steps: int | None = None,
        name: str | None = None,
    ) -> None:
        if per_step is None or callable(per_step):
            self.per_step: Any = per_step
        else:
            self.per_step = np.asarray(per_step, dtype=np.float64)
        self.until: Any = until
        if until is not None and not callable(until):
            self.until = np.atleast_1d(np.asarray(until))
        self.start, self.steps = start, steps
        self.name = name or ("steps" if per_step is None else "total")

    def check(self, problem: Problem[Any]) -> None:
        check_walk(self.name, problem, self.start, self.steps)
        check_gains(self.name, problem, self.per_step)
        if self.until is not None:
            check_places(self.name, problem, self.until)

    def facts(self) -> dict[str, Any] | None:
        if callable(self.per_step) or callable(self.until):
            return None
        given = {name: getattr(self, name) for name in ("per_step", "until", "start", "steps")}
        return {"kind": "total", **_as_lists({**given, "name": self.name})}

    def measure(self, problem: Problem[Any], policy: Any) -> Measured:
        if isinstance(problem, TabularProblem):
            walk = TabularWalk(problem, policy, self.start, self.steps)
            return Measured(walk.total(*self._table(problem)))
        drawn = roll_out(problem, policy, self.steps)
        added = self._added(drawn)
        if self.until is not None:
            ended = is_among(drawn.states, self.until)
            gone = np.maximum.accumulate(np.where(ended, np.arange(len(ended)), -1))
            begins = np.arange(len(ended)) - drawn.step_numbers
            added = np.where(gone >= begins, 0.0, added)
        sums = np.bincount(drawn.trajectory_numbers, added, len(drawn))
        return _mean(sums.astype(np.float64))

    def by_choice(self, problem: Problem[Any], policy: Any) -> FloatArray | None:
        if not isinstance(problem, TabularProblem):
            return None
        walk = TabularWalk(problem, policy, self.start, self.steps)
        return walk.total_by_choice(*self._table(problem))

    def _table(self, problem: TabularProblem) -> tuple[FloatArray, Any]:
        """What a step adds, `S x A`, and the states from which on nothing is added, a mask `S`."""
        mdp = problem.mdp
        given = self.per_step
        if callable(given):
            found = given(*all_pairs(mdp.n_states, mdp.n_actions))
            given = np.asarray(found, dtype=np.float64).reshape(-1, mdp.n_actions)
        table = np.ones(mdp.n_states) if given is None else given
        by_action = table if table.ndim == 2 else np.tile(table[:, None], (1, mdp.n_actions))
        return by_action, is_among(
            np.arange(mdp.n_states), () if self.until is None else self.until
        )

    def _added(self, drawn: Demonstrations) -> Any:
        if self.per_step is None:
            return np.ones(len(drawn.states))
        if callable(self.per_step):
            return np.asarray(self.per_step(drawn.states, drawn.actions), dtype=np.float64)
        table = self.per_step
        return table[drawn.states] if table.ndim == 1 else table[drawn.states, drawn.actions]


class Function(Quantity):
    """Any number that a function gives.

    Args:
        function: From a problem and a policy to a number, or to a number and its standard error.
        name: In messages.
    """

    def __init__(self, function: Callable[[Any, Any], Any], name: str | None = None) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", "quantity"))

    def measure(self, problem: Problem[Any], policy: Any) -> Measured:
        found = self.function(problem, policy)
        value, error = found if isinstance(found, tuple) and len(found) == 2 else (found, 0.0)
        try:
            return Measured(float(value), float(error))
        except (TypeError, ValueError):
            raise InvalidInputError(
                f"the function of {self.name!r} gives {found!r}; expected a number, or a number "
                "and its standard error"
            ) from None


def quantity_from_facts(facts: Mapping[str, Any] | None) -> Quantity | None:
    """The inverse of `Quantity.facts`."""
    if facts is None:
        return None
    kinds: dict[str, type[Quantity]] = {"reach": Reach, "total": ExpectedTotal}
    return kinds[facts["kind"]](**{name: facts[name] for name in facts if name != "kind"})


def _as_lists(given: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: value for name, value in given.items() if value is not None}
    return {
        name: value if isinstance(value, str | int) else np.asarray(value).tolist()
        for name, value in plain.items()
    }


def roll_out(problem: Problem[Any], policy: Any, steps: int | None) -> Demonstrations:
    """Trajectories of a policy from where the environment, or else demonstrations, start."""
    rng = np.random.default_rng([0, QUANTITY_STREAM])
    if isinstance(problem, GymProblem):
        count = problem.simulator.rollouts_to_measure
        return problem.simulator.roll_out(policy, count, steps or problem.steps, rng)
    starts = problem.demonstrations.starts
    chosen = starts[rng.integers(len(starts), size=EPISODES)]
    return walk_from(problem, policy, chosen, steps or horizon_of(problem), rng)


def _mean(values: FloatArray) -> Measured:
    """The mean of a number per trajectory; a share that is 0 or 1 has an error all the same."""
    n = len(values)
    spread = float(values.std(ddof=1)) / n**0.5 if n > 1 else 0.0
    return Measured(float(values.mean()), max(spread, 0.5 / n if spread == 0.0 else 0.0))


def _listed(states: Any) -> str:
    shown = ", ".join(map(str, states[:4].tolist()))
    return f"state{'s' if len(states) > 1 else ''} {shown}{', ...' if len(states) > 4 else ''}"
