"""Demonstrations from tables with one row per step, and from episodes as lists of steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from boirl.errors import DemonstrationError, InvalidInputError
from boirl.tables import Table, read_table

Gaps = Literal["refuse", "split"]
"""Where steps of an episode are missing: raise an error, or make two trajectories."""

Columned = str | Sequence[str]

OTHER_NAMES = {
    "episode": "episode_index",
    "step": "frame_index",
    "state": "observation.state",
}
"""What LeRobot calls the columns."""

OPTIONAL = ("step", "next_state")

EPISODE_NAMES = (("states", "observations", "obs"), ("actions", "acts"))
"""What files with one row per episode call the columns of states and of actions."""


@dataclass(frozen=True)
class Columns:
    """Which column holds what; see `Demonstrations.from_table`."""

    episode: str | None = "episode"
    step: str | None = "step"
    state: Columned = "state"
    action: Columned = "action"
    next_state: Columned | None = "next_state"

    def found_in(self, table: Table) -> Columns:
        """The same with LeRobot's names where the usual ones are missing, and None for columns
        that need not be there."""
        chosen = {}
        for role, usual in vars(Columns()).items():
            name = getattr(self, role)
            if name == usual and name not in table.columns:
                other = OTHER_NAMES.get(role)
                if other in table.columns:
                    name = other
                elif role in OPTIONAL:
                    name = None
            chosen[role] = name
        return Columns(**chosen)


class _Step(NamedTuple):
    """A row: where it stands, its number if known, and what was seen and done; None if missing."""

    row: int
    number: int | None
    state: Any
    action: Any
    next_state: Any


Pair = tuple[list[Any], list[Any]]


def read_episodes(source: Any, columns: Columns, gaps: Gaps) -> list[Pair]:
    """States and actions of each trajectory in a table; see `Demonstrations.from_table`."""
    table = read_table(source)
    if len(table) == 0:
        raise DemonstrationError(
            f"{table.title} has no rows; expected one per step, with the columns episode, step, "
            "state and action"
        )
    found = columns.found_in(table)
    whole = _whole_episodes(table, found)
    if whole:
        return whole
    labels = _cells(table, found.episode, "episode")
    steps = _numbers(table, found.step)
    states = _cells(table, found.state, "state")
    actions = _cells(table, found.action, "action")
    ends = _cells(table, found.next_state, "next_state")
    episodes: dict[Any, list[_Step]] = {}
    for row, label in enumerate(labels):
        if label is None and found.episode is not None:
            raise DemonstrationError(
                f"{table.place(row)}: found nothing in the column {found.episode}; expected the "
                "episode that the step belongs to"
            )
        step = _Step(row, steps[row], states[row], actions[row], ends[row])
        episodes.setdefault(label, []).append(step)
    return _pairs(episodes, gaps, table)


def _whole_episodes(table: Table, columns: Columns) -> list[Pair]:
    """States and actions of a table with one row per episode, as Hugging Face has them; none where
    it is not of that form."""
    usual = Columns()
    if (columns.state, columns.action) != (usual.state, usual.action):
        return []
    names = [next((one for one in some if one in table.columns), None) for some in EPISODE_NAMES]
    if None in names or {"state", "action"} & set(table.columns):
        return []
    episodes = [[_listed(cell) for cell in table.columns[str(name)]] for name in names]
    for row, parts in enumerate(zip(*episodes, strict=True)):
        for name, part in zip(names, parts, strict=True):
            if not isinstance(part, list):
                raise DemonstrationError(
                    f"{table.place(row)}: found {part!r} in the column {name}; expected a list "
                    "with one entry per step of the episode, or columns called episode, step, "
                    "state and action where rows are steps"
                )
    return list(zip(*episodes, strict=True))


def _listed(cell: Any) -> Any:
    """Arrays of arrays as lists of lists."""
    plain = cell.tolist() if hasattr(cell, "tolist") else cell
    return [_listed(one) for one in plain] if isinstance(plain, (list, tuple)) else plain


def read_steps(episodes: Iterable[Iterable[Any]], gaps: Gaps) -> list[Pair]:
    """States and actions of episodes that are lists of steps; see `Demonstrations.from_steps`."""
    places: list[tuple[int, int]] = []
    rows: dict[Any, list[_Step]] = {}
    for number, episode in enumerate(episodes):
        if isinstance(episode, tuple) and episode and all(map(_is_row, episode)):
            raise DemonstrationError(
                f"episode {number} is a tuple of {len(episode)} lists; expected a list of steps "
                "(state, action); for (states, actions) call Demonstrations.from_trajectories"
            )
        for index, step in enumerate(episode):
            parts = _parts(step, f"episode {number}, step {index}")
            rows.setdefault(number, []).append(_Step(len(places), index, *parts))
            places.append((number, index))
    if not rows:
        raise DemonstrationError("there are no episodes with steps; expected at least one")

    def place(row: int) -> str:
        return "episode {}, step {}".format(*places[row])

    return _pairs(rows, gaps, Table("the list of steps", {}, place))


def _is_row(part: Any) -> bool:
    return isinstance(part, (list, np.ndarray))


def _parts(step: Any, label: str) -> tuple[Any, Any, Any]:
    if isinstance(step, Mapping):
        missing = [key for key in ("state", "action") if key not in step]
        if missing:
            raise DemonstrationError(
                f"{label} has {', '.join(map(str, step))} and no {missing[0]}; expected the keys "
                "state, action and, if you have it, next_state"
            )
        return step["state"], step["action"], step.get("next_state")
    if isinstance(step, (tuple, list)) and len(step) in (2, 3):
        state, action, *further = step
        return state, action, further[0] if further else None
    raise DemonstrationError(
        f"{label} is {step!r}; expected (state, action), (state, action, next_state), or a mapping "
        "with these keys"
    )


def _cells(table: Table, name: Columned | None, role: str) -> list[Any]:
    """Cells of a column; a tuple of numbers where there are several columns."""
    if name is None:
        return [None] * len(table)
    if isinstance(name, str):
        return table.column(name, role)
    several = [table.column(one, role) for one in name]
    return [None if None in row else row for row in zip(*several, strict=True)]


def _numbers(table: Table, name: str | None) -> list[int | None]:
    """Numbers of steps; None where rows are in order."""
    if name is None:
        return [None] * len(table)
    numbers = table.numbers(name, "step")
    wrong = np.flatnonzero(numbers != np.round(numbers))
    if wrong.size:
        raise DemonstrationError(
            f"{table.place(int(wrong[0]))}: the step is {numbers[wrong[0]]:g}; expected a whole "
            "number, 1 more than that of the step before (for rows in order pass step=None)"
        )
    return numbers.astype(int).tolist()


def _pairs(episodes: Mapping[Any, list[_Step]], gaps: Gaps, table: Table) -> list[Pair]:
    if gaps not in ("refuse", "split"):
        raise InvalidInputError(f"gaps is {gaps!r}; expected 'refuse' or 'split'")
    pairs = []
    for label, steps in episodes.items():
        title = f"episode {label!r}" if isinstance(label, str) else f"episode {label}"
        if steps[0].number is not None:
            steps = _in_order(steps, title, table)
        if gaps == "refuse":
            _refuse_gaps(steps, title, table)
        pairs += [pair for pair in map(_pair, _pieces(steps)) if pair[1]]
    if not pairs:
        raise DemonstrationError(
            f"{table.title} has no step with a state and an action; expected at least one"
        )
    return pairs


def _in_order(steps: Sequence[_Step], title: str, table: Table) -> list[_Step]:
    ordered = sorted(steps, key=lambda step: (step.number, step.row))
    for one, other in pairwise(ordered):
        if one.number == other.number:
            raise DemonstrationError(
                f"{table.place(other.row)}: {title} has step {one.number} twice, first at "
                f"{table.place(one.row)}; expected each once: remove one, or give episodes numbers "
                "of their own"
            )
    return ordered


def _refuse_gaps(steps: Sequence[_Step], title: str, table: Table) -> None:
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        missing = "state" if step.state is None else "action" if step.action is None else None
        # A last row without an action is the state at the end.
        if missing == "action" and following is None and len(steps) > 1:
            continue
        gap = f"has no {missing} here" if missing else _gap(step, following)
        if gap is not None:
            raise DemonstrationError(
                f"{table.place(step.row)}: {title} {gap}; complete it, or pass gaps='split' to "
                "make two trajectories of it"
            )


def _gap(step: _Step, following: _Step | None) -> str | None:
    """What is wrong between a step and the one after it, or None."""
    if following is None:
        return None
    if step.number is not None and following.number != step.number + 1:
        return f"goes from step {step.number} to step {following.number}"
    if step.next_state is not None and not _same(step.next_state, following.state):
        return f"leads to {step.next_state!r}, and the next step is in {following.state!r}"
    return None


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str) or other is None:
        return bool(one == other)
    return np.shape(one) == np.shape(other) and bool(np.allclose(one, other))


def _pieces(steps: Sequence[_Step]) -> Iterator[list[_Step]]:
    """Runs of steps without a gap. A run may end with a state in which no action is known."""
    piece: list[_Step] = []
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if step.state is not None:
            piece.append(step)
        if step.state is None or step.action is None or _gap(step, following) is not None:
            yield piece
            piece = []
    yield piece


def _pair(piece: list[_Step]) -> Pair:
    taken = [step for step in piece if step.action is not None]
    states = [step.state for step in piece]
    if len(states) == len(taken) and piece and piece[-1].next_state is not None:
        states.append(piece[-1].next_state)
    return states, [step.action for step in taken]
