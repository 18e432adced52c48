"""One trajectory, from its states and its actions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boirl.array_checks import as_numbers
from boirl.demonstrations.names import number_names
from boirl.errors import DemonstrationError

UNKNOWN = -1
"""Next state of a last step that nobody recorded; a row of NaN where states are vectors."""


class Trajectory(NamedTuple):
    """One demonstration: `states`, `actions` and `next_states`, each of length `L`."""

    states: NDArray[Any]
    actions: NDArray[Any]
    next_states: NDArray[Any]

    def __repr__(self) -> str:
        return f"Trajectory({len(self.actions)} steps from {self.states[0]})"


class NamedTrajectories(NamedTuple):
    """Trajectories by number, and the names of states and actions where there are some."""

    parts: list[Trajectory]
    state_names: tuple[str, ...]
    action_names: tuple[str, ...]


def read_pairs(trajectories: Iterable[Any]) -> NamedTrajectories:
    """Trajectories of `(states, actions)` or `(states, actions, next_states)` each."""
    given = [_checked(index, one) for index, one in enumerate(trajectories)]
    if not given:
        raise DemonstrationError("there are no trajectories; expected at least one")
    ends = [one[2] for one in given if len(one) == 3]
    numbered, state_names = number_names([one[0] for one in given] + ends)
    actions, action_names = number_names([one[1] for one in given])
    following = iter(numbered[len(given) :])
    parts = [
        _joined(index, numbered[index], actions[index], next(following) if len(one) == 3 else None)
        for index, one in enumerate(given)
    ]
    for index, part in enumerate(parts):
        for name, own, first in zip(Trajectory._fields, part, parts[0], strict=True):
            if own.shape[1:] != first.shape[1:]:
                raise DemonstrationError(
                    f"trajectory {index} has {name} of shape {own.shape}, trajectory 0 of "
                    f"shape {first.shape}; expected all of them alike but for the length"
                )
    return NamedTrajectories(parts, state_names, action_names)


def _checked(index: int, trajectory: Any) -> tuple[Any, ...]:
    """The parts of a trajectory; steps in their place are not misread."""
    steps = isinstance(trajectory, list) and all(isinstance(one, tuple) for one in trajectory)
    parts = tuple(trajectory)
    single = any(np.iterable(one) is False for one in parts)
    if (
        (steps and parts)
        or single
        or len(parts) not in (2, 3)
        or any(isinstance(one, dict) for one in parts)
    ):
        raise DemonstrationError(
            f"trajectory {index} has {len(parts)} parts"
            + (", all of them tuples" if steps else ", single values among them" if single else "")
            + "; expected a pair (states, actions), or (states, actions, next_states); for a list "
            "of steps (state, action) call Demonstrations.from_steps"
        )
    return parts


def _joined(index: int, states: Any, actions: Any, next_states: Any | None) -> Trajectory:
    label = f"trajectory {index}"
    visited, taken = as_numbers(states, label), as_numbers(actions, label)
    steps = len(taken)
    if len(visited) not in (steps, steps + 1):
        raise DemonstrationError(
            f"trajectory {index} has {len(visited)} states and {steps} actions; "
            "expected as many states as actions, or one more (the state at the end)"
        )
    if next_states is not None:
        reached = as_numbers(next_states, label)
        if len(reached) != steps:
            raise DemonstrationError(
                f"trajectory {index} has {len(reached)} next states and {steps} "
                "actions; expected as many of each"
            )
        return Trajectory(visited[:steps], taken, reached)
    unknown = UNKNOWN if visited.ndim == 1 else np.nan
    reached = np.full((steps, *visited.shape[1:]), unknown, dtype=visited.dtype)
    following = visited[1 : steps + 1]
    reached[: len(following)] = following
    return Trajectory(visited[:steps], taken, reached)
