"""States and actions that have names: numbers in their place, and back.

The names belong to the dynamics, which say in which order they are counted. Demonstrations that
were given by name carry the names they met, and are renumbered when a problem is made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boirl.errors import DemonstrationError
from boirl.types import IntArray

if TYPE_CHECKING:
    from boirl.demonstrations.trajectories import Demonstrations

SHOWN = 3
"""Names that a message lists as examples."""


def number_names(parts: Sequence[Any]) -> tuple[list[Any], tuple[str, ...]]:
    """Numbers in place of names, where all parts hold names; else the parts as they are.

    Args:
        parts: Sequences of names, one per trajectory.

    Returns:
        The parts by number, and the names in the order in which they are met.
    """
    if not parts or not all(_holds_names(part) for part in parts):
        return list(parts), ()
    numbers: dict[str, int] = {}
    numbered = [[numbers.setdefault(str(name), len(numbers)) for name in part] for part in parts]
    return numbered, tuple(numbers)


def _holds_names(part: Any) -> bool:
    # Rows of different lengths have no shape.
    rows = isinstance(part, (list, tuple)) and any(map(np.iterable, part))
    return (rows or np.ndim(part) == 1) and any(isinstance(one, str) for one in part)


def renumber(
    demonstrations: Demonstrations, state_names: Sequence[str], action_names: Sequence[str]
) -> Demonstrations:
    """Demonstrations with the numbers that dynamics give to names; nothing is named afterwards.

    Args:
        demonstrations: By name or by number; numbers stay as they are.
        state_names: Of the dynamics, in the order of their numbers; empty where they have none.
        action_names: The same for actions.

    Raises:
        DemonstrationError: A name is not one of the dynamics; says where it is first.
    """
    given = demonstrations
    if not given.state_names and not given.action_names:
        return given
    return replace(
        given,
        states=_places(given, "state", given.state_names, state_names, given.states),
        actions=_places(given, "action", given.action_names, action_names, given.actions),
        next_states=_places(given, "next state", given.state_names, state_names, given.next_states),
        state_names=(),
        action_names=(),
    )


def _places(
    given: Demonstrations,
    kind: str,
    own: tuple[str, ...],
    known: Sequence[str],
    numbers: NDArray[Any],
) -> NDArray[Any]:
    if not own:
        return numbers
    _check(given, kind, own, known, numbers)
    lookup = {name: number for number, name in enumerate(known)}
    # The last entry serves -1, an end that nobody recorded.
    return np.array([*(lookup.get(name, -1) for name in own), -1])[numbers]


def _check(
    given: Demonstrations,
    kind: str,
    own: tuple[str, ...],
    known: Sequence[str],
    numbers: IntArray,
) -> None:
    plural = f"{kind.removeprefix('next ')}s"
    if not known:
        raise DemonstrationError(
            f"the demonstrations name {plural} ({_examples(own)}), and the problem numbers them; "
            f"name those of the dynamics: TabularMDP.with_names({plural}=[...]), in the order of "
            "their numbers"
        )
    strange = np.array([name not in known for name in own])
    wrong = np.flatnonzero((numbers >= 0) & strange[numbers])
    if wrong.size:
        step = int(wrong[0])
        name = own[numbers[step]]
        close = get_close_matches(name, known, 1)
        advice = f"did you mean {close[0]!r}?" if close else f"such as {_examples(known)}"
        raise DemonstrationError(
            f"trajectory {given.trajectory_numbers[step]}, step {given.step_numbers[step]}: the "
            f"{kind} is {name!r}; expected one of the {len(known)} {plural} of the dynamics, "
            f"{advice}"
        )


def _examples(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:SHOWN]))
    return f"{shown}, ..." if len(names) > SHOWN else shown
