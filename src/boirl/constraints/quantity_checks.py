"""Whether a quantity can be measured in a problem, before anything is solved or learned for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.problem import Problem, TabularProblem
from boirl.problem.simulated import GymProblem
from boirl.types import IntArray

SHOWN_STEPS = 2
"""Steps that show what the observations of a simulator are."""


def is_among(states: Any, where: Any) -> NDArray[np.bool_]:
    """Which of some states count: by number, or by a function of them."""
    found = where(states) if callable(where) else np.isin(states, where)
    return np.asarray(found, dtype=bool)


def all_pairs(n_states: int, n_actions: int) -> tuple[IntArray, IntArray]:
    """The states and the actions of all pairs, `S A` each."""
    states, actions = np.indices((n_states, n_actions)).reshape(2, -1)
    return states, actions


def check_walk(name: str, problem: Problem[Any], start: Any, steps: Any) -> None:
    """Refuse steps that are no number of them, and starts that are no distribution."""
    if steps is not None and not (isinstance(steps, int | np.integer) and steps >= 1):
        raise InvalidInputError(f"the steps of {name!r} are {steps!r}; expected 1 or more")
    if start is None:
        return
    if not isinstance(problem, TabularProblem):
        raise InvalidInputError(
            f"{name!r} has a start, and problem {problem.name!r} is no table; expected none: "
            "roll-outs start where the environment does"
        )
    n = problem.mdp.n_states
    given = np.asarray(start, dtype=np.float64)
    if given.shape != (n,) or given.min() < 0.0 or not np.isclose(given.sum(), 1.0):
        raise InvalidInputError(
            f"the start of {name!r} has shape {given.shape} and the sum {given.sum():.4g}; "
            f"expected {n} probabilities, one per state, that sum to 1"
        )


def check_places(name: str, problem: Problem[Any], where: Any) -> None:
    """Refuse states that there are not, and functions that do not say which count."""
    if callable(where):
        shown = _states_of(problem)
        found = np.shape(where(shown))
        if found != (len(shown),):
            raise InvalidInputError(
                f"the function of {name!r} gives shape {found} for {len(shown)} states; expected "
                "one yes or no for each"
            )
    elif isinstance(problem, TabularProblem):
        n = problem.mdp.n_states
        if where.dtype.kind not in "iu" or not ((where >= 0) & (where < n)).all():
            raise InvalidInputError(
                f"the states are {where.tolist()}; expected numbers from 0 to {n - 1}"
            )
    elif np.ndim(_states_of(problem)) > 1:
        raise InvalidInputError(
            f"the states of {name!r} are {where.tolist()}, and observations of problem "
            f"{problem.name!r} are vectors; expected a function from observations, T x k, to which "
            "of them count"
        )


def check_gains(name: str, problem: Problem[Any], per_step: Any) -> None:
    """Refuse what is no number for each step."""
    if per_step is None:
        return
    if callable(per_step):
        if isinstance(problem, TabularProblem):
            states, actions = all_pairs(problem.mdp.n_states, problem.mdp.n_actions)
        else:
            drawn = _shown(problem)
            states, actions = drawn.states, drawn.actions
        found = np.shape(per_step(states, actions))
        if found != (len(states),):
            raise InvalidInputError(
                f"the function of {name!r} gives shape {found} for {len(states)} states and "
                "actions; expected as many numbers"
            )
    elif isinstance(problem, TabularProblem):
        shape = (problem.mdp.n_states, problem.mdp.n_actions)
        if np.shape(per_step) not in (shape[:1], shape):
            raise InvalidInputError(
                f"what a step adds to {name!r} has shape {np.shape(per_step)}; expected {shape[0]} "
                f"numbers, one per state, or {shape[0]} x {shape[1]}"
            )
    elif np.ndim(_states_of(problem)) > 1:
        raise InvalidInputError(
            f"what a step adds to {name!r} is an array, and observations of problem "
            f"{problem.name!r} are vectors; expected a function of observations and actions"
        )


def _states_of(problem: Problem[Any]) -> Any:
    """Some states, or all of a table."""
    if isinstance(problem, TabularProblem):
        return np.arange(problem.mdp.n_states)
    return _shown(problem).states


def _shown(problem: Problem[Any]) -> Demonstrations:
    """Some steps in an environment."""
    if isinstance(problem, GymProblem):
        return problem.simulator.roll_out(None, 1, SHOWN_STEPS, np.random.default_rng(0))
    return problem.demonstrations
