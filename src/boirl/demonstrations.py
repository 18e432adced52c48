"""Trajectories of the demonstrator: checked when they are made, immutable afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boirl.array_checks import (
    any_in_row,
    as_numbers,
    as_whole_numbers,
    concatenate_or_none,
)
from boirl.errors import DemonstrationError, InvalidInputError
from boirl.files import damage_reported, read_arrays, write_arrays
from boirl.types import FloatArray, IntArray

UNKNOWN = -1
"""Next state of a last step that nobody recorded; a row of NaN where states are vectors."""


_ARRAYS = ("states", "actions", "next_states", "lengths", "start_states")


class Trajectory(NamedTuple):
    """One demonstration: `states`, `actions` and `next_states`, each of length `L`."""

    states: NDArray[Any]
    actions: NDArray[Any]
    next_states: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Demonstrations:
    """A sequence of trajectories of any lengths, stored end to end.

    Args:
        states: The state of every step of every trajectory: `T` whole numbers, or `T x k` where
            states (observations) are vectors.
        actions: The action taken there: `T` whole numbers, or vectors, `T x m`.
        next_states: The state that followed, as `states`; `UNKNOWN`, or a row of NaN, in the last
            step of a trajectory whose end was not recorded.
        lengths: The number of steps of each trajectory, `N`, summing to `T`.
        start_states: What to set a simulator to for each trajectory to begin as it did, `N x q`;
            None where the first state says it all.

    Most people call `from_arrays` or `from_trajectories`.
    """

    states: NDArray[Any]
    actions: NDArray[Any]
    next_states: NDArray[Any]
    lengths: IntArray
    start_states: FloatArray | None = None

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            given = getattr(self, name)
            if given is not None:
                read = as_whole_numbers if name == "lengths" else as_numbers
                own = read(given, name)
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
            self._check_values(values, name)
        if self.states.shape[1:] != self.next_states.shape[1:]:
            raise DemonstrationError(
                f"states have shape {self.states.shape} and next states "
                f"{self.next_states.shape}; expected the same"
            )
        self._check_starts()
        inside = np.flatnonzero(self.step_numbers > 0)
        found, following = self.next_states[inside - 1], self.states[inside]
        torn = np.zeros(total, dtype=bool)
        torn[inside - 1] = ~self.unknown_ends[inside - 1] & any_in_row(
            ~np.isclose(found, following)
        )
        self._raise_at(torn, self.next_states, "next_states", "the state of the step that follows")

    def _check_values(self, values: NDArray[Any], name: str) -> None:
        ends = name == "next_states"
        if values.ndim == 1:
            lowest = UNKNOWN if ends else 0
            self._raise_at(values < lowest, values, name, f"a number from {lowest} on")
            return
        wrong = any_in_row(~np.isfinite(values))
        if ends:
            # A row of NaN says that nobody recorded the end.
            last = np.zeros(len(values), dtype=bool)
            last[np.cumsum(self.lengths) - 1] = True
            wrong &= ~(last & any_in_row(np.isnan(values)))
        self._raise_at(wrong, values, name, "finite numbers")

    def _check_starts(self) -> None:
        starts = self.start_states
        if starts is None:
            return
        if len(starts) != len(self.lengths):
            raise DemonstrationError(
                f"there are {len(starts)} start states for {len(self.lengths)} trajectories; "
                "expected one for each"
            )
        wrong = np.flatnonzero(any_in_row(~np.isfinite(starts)))
        if wrong.size:
            raise DemonstrationError(
                f"trajectory {wrong[0]} has the start state {starts[wrong[0]]}; expected finite "
                "numbers"
            )

    @classmethod
    def from_arrays(
        cls, states: ArrayLike, actions: ArrayLike, next_states: ArrayLike | None = None
    ) -> Demonstrations:
        """Make demonstrations of one common length from arrays.

        Args:
            states: `N x L`, or `N x (L + 1)` where the state after the last action is known; with
                a further axis `k` where states are vectors.
            actions: `N x L`, or `N x L x m`.
            next_states: `N x L`, or `N x L x k`; where it is left out it follows from `states`.
        """
        state_rows, action_rows = np.asarray(states), np.asarray(actions)
        if state_rows.ndim not in (2, 3) or action_rows.ndim not in (2, 3):
            raise DemonstrationError(
                f"states and actions have shapes {state_rows.shape} and {action_rows.shape}; "
                "expected two-dimensional arrays, one row per trajectory (three-dimensional ones "
                "for vectors; for trajectories of different lengths call "
                "Demonstrations.from_trajectories)"
            )
        if len(state_rows) != len(action_rows):
            raise DemonstrationError(
                f"there are {len(state_rows)} rows of states and {len(action_rows)} of actions; "
                "expected a row of each for every trajectory"
            )
        if next_states is None:
            return cls.from_trajectories(zip(state_rows, action_rows, strict=True))
        next_rows = np.asarray(next_states)
        if next_rows.shape[:2] != action_rows.shape[:2]:
            raise DemonstrationError(
                f"next_states have shape {next_rows.shape} and actions {action_rows.shape}; "
                "expected the same"
            )
        return cls.from_trajectories(zip(state_rows, action_rows, next_rows, strict=True))

    @classmethod
    def from_trajectories(
        cls,
        trajectories: Iterable[Sequence[ArrayLike] | Trajectory],
        start_states: ArrayLike | None = None,
    ) -> Demonstrations:
        """Make demonstrations from `(states, actions)` or `(states, actions, next_states)`.

        `states` may hold one state more than there are actions: the one after the last action.
        States and actions are whole numbers, or vectors (`L x k`).
        """
        parts: list[Trajectory] = []
        for index, trajectory in enumerate(trajectories):
            given = [as_numbers(part, f"trajectory {index}") for part in trajectory]
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
                unknown = UNKNOWN if states.ndim == 1 else np.nan
                next_states = np.full((steps, *states.shape[1:]), unknown, dtype=states.dtype)
                following = states[1 : steps + 1]
                next_states[: len(following)] = following
            parts.append(Trajectory(states[:steps], actions, next_states))
        if not parts:
            raise DemonstrationError("there are no trajectories; expected at least one")
        for index, part in enumerate(parts):
            for name, own, first in zip(Trajectory._fields, part, parts[0], strict=True):
                if own.shape[1:] != first.shape[1:]:
                    raise DemonstrationError(
                        f"trajectory {index} has {name} of shape {own.shape}, trajectory 0 of "
                        f"shape {first.shape}; expected all of them alike but for the length"
                    )
        return cls(
            states=np.concatenate([part.states for part in parts]),
            actions=np.concatenate([part.actions for part in parts]),
            next_states=np.concatenate([part.next_states for part in parts]),
            lengths=np.array([len(part.actions) for part in parts]),
            start_states=None if start_states is None else np.asarray(start_states),
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
    def starts(self) -> NDArray[Any]:
        """Where every trajectory starts: its start state or else its first state, a row each."""
        if self.start_states is not None:
            return self.start_states
        return self.states[np.cumsum(self.lengths) - self.lengths]

    @cached_property
    def unknown_ends(self) -> NDArray[np.bool_]:
        """Whether the next state of a step is unknown, `T`."""
        if self.next_states.ndim == 1:
            return self.next_states == UNKNOWN
        return any_in_row(np.isnan(self.next_states))

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
        return Demonstrations.from_trajectories(
            [self[int(index)] for index in chosen],
            None if self.start_states is None else self.start_states[chosen],
        )

    @classmethod
    def concatenate(cls, several: Sequence[Demonstrations]) -> Demonstrations:
        """All trajectories of all `several`, in order."""
        shapes = {(one.states.shape[1:], one.actions.shape[1:]) for one in several}
        if len(shapes) > 1:
            raise DemonstrationError(
                f"states and actions have the shapes {sorted(shapes)}; expected one for all"
            )
        return cls(
            states=np.concatenate([one.states for one in several]),
            actions=np.concatenate([one.actions for one in several]),
            next_states=np.concatenate([one.next_states for one in several]),
            lengths=np.concatenate([one.lengths for one in several]),
            start_states=concatenate_or_none([one.start_states for one in several]),
        )

    def check_fits(self, n_states: int, n_actions: int) -> None:
        """Raise an error that names the first step outside a problem of this size."""
        if self.states.ndim != 1 or self.actions.ndim != 1:
            raise DemonstrationError(
                f"states have shape {self.states.shape} and actions {self.actions.shape}; expected "
                "one whole number per step, the index of a state and of an action"
            )
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
        with damage_reported(path, "demonstrations"):
            if "lengths" in arrays and "next_states" in arrays:
                return cls.from_dict(arrays)
            if "lengths" in arrays:
                ends = np.cumsum(arrays["lengths"])[:-1]
                parts = (np.split(arrays[name], ends) for name in ("states", "actions"))
                return cls.from_trajectories(zip(*parts, strict=True), arrays.get("start_states"))
            read = cls.from_arrays(arrays["states"], arrays["actions"], arrays.get("next_states"))
            return replace(read, start_states=arrays.get("start_states"))

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """The arrays by name, for a file."""
        given = {name: getattr(self, name) for name in _ARRAYS}
        return {name: array for name, array in given.items() if array is not None}

    @classmethod
    def from_dict(cls, arrays: Mapping[str, NDArray[Any]]) -> Demonstrations:
        """The inverse of `to_dict`."""
        required = {name: arrays[name] for name in _ARRAYS[:-1]}
        return cls(**required, start_states=arrays.get("start_states"))

    def _raise_at(
        self, wrong: NDArray[np.bool_], values: NDArray[Any], name: str, expected: str
    ) -> None:
        if wrong.any():
            step = int(np.flatnonzero(wrong)[0])
            raise DemonstrationError(
                f"trajectory {self.trajectory_numbers[step]}, step {self.step_numbers[step]}: "
                f"{name} is {values[step]}; expected {expected}"
            )
