"""Trajectories of the demonstrator: checked when they are made, immutable afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boirl.array_checks import any_in_row, as_numbers, as_whole_numbers, concatenate_or_none
from boirl.demonstrations.checks import check_demonstrations, raise_at
from boirl.demonstrations.names import renumber
from boirl.demonstrations.pairs import UNKNOWN, Trajectory, read_pairs
from boirl.errors import DemonstrationError
from boirl.files import write_arrays
from boirl.types import FloatArray, IntArray

if TYPE_CHECKING:
    from boirl.demonstrations.tables import Gaps

_ARRAYS = ("states", "actions", "next_states", "lengths", "start_states")
_NAMES = ("state_names", "action_names")


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
        state_names: What the states are called, where they were given by name; a problem numbers
            them as its dynamics do. Empty where they were given by number.
        action_names: The same for actions.

    Most people call `from_arrays`, `from_trajectories`, `from_steps`, `from_table` or `load`.
    """

    states: NDArray[Any]
    actions: NDArray[Any]
    next_states: NDArray[Any]
    lengths: IntArray
    start_states: FloatArray | None = None
    state_names: tuple[str, ...] = ()
    action_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in _NAMES:
            object.__setattr__(self, name, tuple(map(str, getattr(self, name))))
        for name in _ARRAYS:
            given = getattr(self, name)
            if given is not None:
                read = as_whole_numbers if name == "lengths" else as_numbers
                own = read(given, name)
                own.setflags(write=False)
                object.__setattr__(self, name, own)
        check_demonstrations(self)

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
        States and actions are whole numbers, vectors (`L x k`), or names.
        """
        parts, state_names, action_names = read_pairs(trajectories)
        return cls(
            states=np.concatenate([part.states for part in parts]),
            actions=np.concatenate([part.actions for part in parts]),
            next_states=np.concatenate([part.next_states for part in parts]),
            lengths=np.array([len(part.actions) for part in parts]),
            start_states=None if start_states is None else np.asarray(start_states),
            state_names=state_names,
            action_names=action_names,
        )

    @classmethod
    def from_steps(cls, episodes: Iterable[Iterable[Any]], gaps: Gaps = "refuse") -> Demonstrations:
        """Make demonstrations from episodes that are lists of steps.

        Args:
            episodes: Lists of `(state, action)` or `(state, action, next_state)`, or of mappings
                with these keys. A last step whose action is None is the state at the end.
            gaps: Whether to `"refuse"` or to `"split"` an episode that has holes.

        Example:
            >>> Demonstrations.from_steps([[("house 2", "right"), ("house 3", "right")]])
        """
        from boirl.demonstrations.tables import read_steps

        return cls.from_trajectories(read_steps(episodes, gaps))

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        episode: str | None = "episode",
        step: str | None = "step",
        state: str | Sequence[str] = "state",
        action: str | Sequence[str] = "action",
        next_state: str | Sequence[str] | None = "next_state",
        gaps: Gaps = "refuse",
    ) -> Demonstrations:
        """Make demonstrations from a table with one row per step.

        Args:
            table: A pandas, polars or Arrow table, a mapping of columns, a list of mappings, or a
                file: `.csv`, `.jsonl` or `.parquet`, or a folder of those.
            episode: The column that says which episode a row belongs to; None where the table is
                one episode.
            step: The column of the number of a step within its episode; where the table has none,
                rows are in order.
            state: The column of states: numbers, names, or lists of numbers; several columns of
                numbers for vectors.
            action: The same for actions. Where the last row of an episode has none, its state is
                the one at the end.
            next_state: The column of the states that followed, where the table has one.
            gaps: Whether to `"refuse"` an episode in which steps or cells are missing, or to
                `"split"` it there.

        The columns of LeRobot's files (`episode_index`, `frame_index`, `observation.state`) are
        found without being named, and so are those of tables with one row per episode: lists in
        `states`, `observations` or `obs`, and in `actions` or `acts`.
        """
        from boirl.demonstrations.tables import Columns, read_episodes

        columns = Columns(episode, step, state, action, next_state)
        return cls.from_trajectories(read_episodes(table, columns, gaps))

    @classmethod
    def from_minari(
        cls, dataset: Any, episodes: Iterable[int] | None = None, *, download: bool = False
    ) -> Demonstrations:
        """Make demonstrations from a Minari dataset.

        Args:
            dataset: Its id, such as `"D4RL/door/human-v2"`, or the dataset.
            episodes: Numbers of the episodes to take; by default all.
            download: Whether to fetch a dataset that is not there.
        """
        from boirl.demonstrations.minari_datasets import read_minari

        return cls.from_trajectories(read_minari(dataset, episodes, download))

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
        trajectories = "1 trajectory" if len(self) == 1 else f"{len(self)} trajectories"
        return f"Demonstrations({trajectories} of {span} step{'' if span == '1' else 's'})"

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
        plain = Demonstrations.from_trajectories(
            [self[int(index)] for index in chosen],
            None if self.start_states is None else self.start_states[chosen],
        )
        return replace(plain, state_names=self.state_names, action_names=self.action_names)

    @classmethod
    def concatenate(cls, several: Sequence[Demonstrations]) -> Demonstrations:
        """All trajectories of all `several`, in order."""
        shapes = {(one.states.shape[1:], one.actions.shape[1:]) for one in several}
        if len(shapes) > 1:
            raise DemonstrationError(
                f"states and actions have the shapes {sorted(shapes)}; expected one for all"
            )
        names = {}
        for kind in _NAMES:
            own = [getattr(one, kind) for one in several]
            if any(own) and not all(own):
                raise DemonstrationError(f"some have {kind}, some have none; expected all or none")
            names[kind] = tuple(dict.fromkeys(name for some in own for name in some))
        several = [one.numbered(**names) for one in several]
        return cls(
            states=np.concatenate([one.states for one in several]),
            actions=np.concatenate([one.actions for one in several]),
            next_states=np.concatenate([one.next_states for one in several]),
            lengths=np.concatenate([one.lengths for one in several]),
            start_states=concatenate_or_none([one.start_states for one in several]),
            **names,
        )

    def numbered(
        self, state_names: Sequence[str] = (), action_names: Sequence[str] = ()
    ) -> Demonstrations:
        """The same with names replaced by their places in these lists.

        Raises:
            DemonstrationError: A name is not in the list, or the list is empty; says where.
        """
        return renumber(self, state_names, action_names)

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
            raise_at(self, values >= limit, values, name, f"a number below {limit}, counted from 0")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an `.npz` file that `load` reads."""
        write_arrays(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str], **columns: Any) -> Demonstrations:
        """Read demonstrations from a file.

        Args:
            path: An `.npz` file that `save` wrote, or any with `states` and `actions` of shape
                `N x L`; or a table of steps, `.csv`, `.jsonl` or `.parquet`, or a folder of those.
            **columns: For tables of steps, see `from_table`.
        """
        from boirl.demonstrations.files import load_demonstrations

        return load_demonstrations(path, **columns)

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """The arrays by name, for a file."""
        given = {name: getattr(self, name) for name in _ARRAYS}
        named = {name: np.array(getattr(self, name)) for name in _NAMES if getattr(self, name)}
        return {name: array for name, array in given.items() if array is not None} | named

    @classmethod
    def from_dict(cls, arrays: Mapping[str, NDArray[Any]]) -> Demonstrations:
        """The inverse of `to_dict`."""
        required: dict[str, Any] = {name: arrays[name] for name in _ARRAYS[:-1]}
        further: dict[str, Any] = {
            name: arrays[name] for name in ("start_states", *_NAMES) if name in arrays
        }
        return cls(**required, **further)
