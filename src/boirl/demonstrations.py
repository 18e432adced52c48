"""Trajectories of the demonstrator: checked when they are made, immutable afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boirl.errors import DemonstrationError, InvalidInputError
from boirl.files import read_arrays, write_arrays
from boirl.types import IntArray

UNKNOWN = -1
"""Next state of a last step that nobody recorded."""

LARGEST = 2.0**53
"""Whole numbers below this are exact in float64."""


class Trajectory(NamedTuple):
    """One demonstration: `states`, `actions` and `next_states`, each of length `L`."""

    states: NDArray[Any]
    actions: NDArray[Any]
    next_states: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Demonstrations:
    """A sequence of trajectories of any lengths, stored end to end.

    Args:
        states: The state of every step of every trajectory, `T`.
        actions: The action taken there, `T`.
        next_states: The state that followed, `T`; `UNKNOWN` in the last step of a trajectory
            whose end was not recorded.
        lengths: The number of steps of each trajectory, `N`, summing to `T`.

    Most people call `from_arrays` or `from_trajectories`.
    """

    states: IntArray
    actions: IntArray
    next_states: IntArray
    lengths: IntArray

    def __post_init__(self) -> None:
        for name in ("states", "actions", "next_states", "lengths"):
            own = _whole_numbers(getattr(self, name), name)
            own.setflags(write=False)
            object.__setattr__(self, name, own)
        if len(self.lengths) == 0:
            raise DemonstrationError("there are no trajectories; expected at least one")
        empty = np.flatnonzero(self.lengths < 1)
        if empty.size:
            raise DemonstrationError(
                f"trajectory {empty[0]} has no steps; expected at least one (leave it out)"
            )
        total = int(self.lengths.sum())
        for name in ("states", "actions", "next_states"):
            values = getattr(self, name)
            if len(values) != total:
                raise DemonstrationError(
                    f"{name} holds {len(values)} steps; expected {total}, the sum of the lengths"
                )
            lowest = UNKNOWN if name == "next_states" else 0
            self._raise_at(values < lowest, values, name, f"a number from {lowest} on")
        inside = np.flatnonzero(self.step_numbers > 0)
        found, following = self.next_states[inside - 1], self.states[inside]
        torn = np.zeros(total, dtype=bool)
        torn[inside - 1] = (found != UNKNOWN) & (found != following)
        self._raise_at(torn, self.next_states, "next_states", "the state of the step that follows")

    @classmethod
    def from_arrays(
        cls, states: ArrayLike, actions: ArrayLike, next_states: ArrayLike | None = None
    ) -> Demonstrations:
        """Make demonstrations of one common length from arrays.

        Args:
            states: `N x L`, or `N x (L + 1)` where the state after the last action is known.
            actions: `N x L`.
            next_states: `N x L`; where it is left out it follows from `states`.
        """
        state_rows, action_rows = np.asarray(states), np.asarray(actions)
        if state_rows.ndim != 2 or action_rows.ndim != 2:
            raise DemonstrationError(
                f"states and actions have shapes {state_rows.shape} and {action_rows.shape}; "
                "expected two-dimensional arrays, a row a trajectory (for trajectories of "
                "different lengths call Demonstrations.from_trajectories)"
            )
        if len(state_rows) != len(action_rows):
            raise DemonstrationError(
                f"there are {len(state_rows)} rows of states and {len(action_rows)} of actions; "
                "expected a row of each for every trajectory"
            )
        if next_states is None:
            return cls.from_trajectories(zip(state_rows, action_rows, strict=True))
        next_rows = np.asarray(next_states)
        if next_rows.shape != action_rows.shape:
            raise DemonstrationError(
                f"next_states have shape {next_rows.shape} and actions {action_rows.shape}; "
                "expected the same"
            )
        return cls.from_trajectories(zip(state_rows, action_rows, next_rows, strict=True))

    @classmethod
    def from_trajectories(
        cls, trajectories: Iterable[Sequence[ArrayLike] | Trajectory]
    ) -> Demonstrations:
        """Make demonstrations from `(states, actions)` or `(states, actions, next_states)`.

        `states` may hold one state more than there are actions: the one after the last action.
        """
        parts: list[Trajectory] = []
        for index, trajectory in enumerate(trajectories):
            given = [_whole_numbers(part, f"trajectory {index}") for part in trajectory]
            if len(given) not in (2, 3):
                raise DemonstrationError(
                    f"trajectory {index} has {len(given)} parts; expected states, actions and, "
                    "if you have them, next states"
                )
            states, actions = given[0], given[1]
            steps = len(actions)
            if len(states) not in (steps, steps + 1):
                raise DemonstrationError(
                    f"trajectory {index} has {len(states)} states and {steps} actions; "
                    "expected as many states as actions, or one more (the state at the end)"
                )
            if len(given) == 3:
                next_states = given[2]
                if len(next_states) != steps:
                    raise DemonstrationError(
                        f"trajectory {index} has {len(next_states)} next states and {steps} "
                        "actions; expected as many of each"
                    )
            else:
                next_states = np.full(steps, UNKNOWN)
                following = states[1 : steps + 1]
                next_states[: len(following)] = following
            parts.append(Trajectory(states[:steps], actions, next_states))
        if not parts:
            raise DemonstrationError("there are no trajectories; expected at least one")
        return cls(
            states=np.concatenate([part.states for part in parts]),
            actions=np.concatenate([part.actions for part in parts]),
            next_states=np.concatenate([part.next_states for part in parts]),
            lengths=np.array([len(part.actions) for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> Trajectory:
        if not -len(self) <= index < len(self):
            raise IndexError(f"trajectory {index} of {len(self)}")
        end = int(np.cumsum(self.lengths)[index])
        steps = slice(end - int(self.lengths[index]), end)
        return Trajectory(self.states[steps], self.actions[steps], self.next_states[steps])

    def __iter__(self) -> Iterator[Trajectory]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        shortest, longest = int(self.lengths.min()), int(self.lengths.max())
        span = f"{shortest}" if shortest == longest else f"{shortest} to {longest}"
        return f"Demonstrations({len(self)} trajectories of {span} steps)"

    @cached_property
    def starts(self) -> IntArray:
        """First state of every trajectory, `N`."""
        return self.states[np.cumsum(self.lengths) - self.lengths]

    @cached_property
    def step_numbers(self) -> IntArray:
        """`t` of every step within its own trajectory, `T`."""
        first = np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)
        return np.arange(len(self.states)) - first

    @cached_property
    def trajectory_numbers(self) -> IntArray:
        """The trajectory that every step belongs to, `T`."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def subset(self, indices: ArrayLike) -> Demonstrations:
        """The trajectories with these numbers, in this order, or those that a mask is true for."""
        chosen = np.asarray(indices)
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        return Demonstrations.from_trajectories([self[int(index)] for index in chosen])

    @classmethod
    def concatenate(cls, several: Sequence[Demonstrations]) -> Demonstrations:
        """All trajectories of all `several`, in order."""
        return cls(
            states=np.concatenate([one.states for one in several]),
            actions=np.concatenate([one.actions for one in several]),
            next_states=np.concatenate([one.next_states for one in several]),
            lengths=np.concatenate([one.lengths for one in several]),
        )

    def check_fits(self, n_states: int, n_actions: int) -> None:
        """Raise an error that names the first step outside a problem of this size."""
        for name, limit in (
            ("states", n_states),
            ("actions", n_actions),
            ("next_states", n_states),
        ):
            values = getattr(self, name)
            self._raise_at(values >= limit, values, name, f"a number below {limit}, counted from 0")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an `.npz` file that `load` reads."""
        write_arrays(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Demonstrations:
        """Read what `save` wrote, or any `.npz` with `states` and `actions` of shape `N x L`."""
        arrays = read_arrays(path, "demonstrations")
        missing = {"states", "actions"} - set(arrays)
        if missing:
            raise InvalidInputError(
                f"{os.fspath(path)!r} holds {sorted(arrays)} and lacks {sorted(missing)}; "
                "expected arrays states and actions of shape N x L"
            )
        if "lengths" in arrays and "next_states" in arrays:
            return cls.from_dict(arrays)
        if "lengths" in arrays:
            ends = np.cumsum(arrays["lengths"])[:-1]
            parts = (np.split(arrays[name], ends) for name in ("states", "actions"))
            return cls.from_trajectories(zip(*parts, strict=True))
        return cls.from_arrays(arrays["states"], arrays["actions"], arrays.get("next_states"))

    def to_dict(self) -> dict[str, IntArray]:
        """The four arrays by name, for a file."""
        return {
            "states": self.states,
            "actions": self.actions,
            "next_states": self.next_states,
            "lengths": self.lengths,
        }

    @classmethod
    def from_dict(cls, arrays: dict[str, NDArray[Any]]) -> Demonstrations:
        """The inverse of `to_dict`."""
        return cls(arrays["states"], arrays["actions"], arrays["next_states"], arrays["lengths"])

    def _raise_at(
        self, wrong: NDArray[np.bool_], values: IntArray, name: str, expected: str
    ) -> None:
        if wrong.any():
            step = int(np.flatnonzero(wrong)[0])
            raise DemonstrationError(
                f"trajectory {self.trajectory_numbers[step]}, step {self.step_numbers[step]}: "
                f"{name} is {values[step]}; expected {expected}"
            )


def _whole_numbers(part: ArrayLike, label: str) -> IntArray:
    try:
        array = np.asarray(part, dtype=np.float64)
    except (TypeError, ValueError):
        raise DemonstrationError(
            f"{label} holds something that is not a number; expected whole numbers"
        ) from None
    if array.ndim != 1:
        raise DemonstrationError(
            f"{label} holds an array of shape {array.shape}; expected one number a step"
        )
    wrong = np.flatnonzero(~(np.abs(array) < LARGEST) | (array != np.round(array)))
    if wrong.size:
        raise DemonstrationError(
            f"{label}, step {wrong[0]}: found {array[wrong[0]]}; "
            "expected a whole number (the index of a state or an action)"
        )
    return array.astype(np.int64)
