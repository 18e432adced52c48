"""What has to be true of demonstrations; an error names trajectory and step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boirl.array_checks import any_in_row
from boirl.demonstrations.pairs import UNKNOWN
from boirl.errors import DemonstrationError

if TYPE_CHECKING:
    from boirl.demonstrations.trajectories import Demonstrations


def check_demonstrations(given: Demonstrations) -> None:
    """Refuse what is empty, torn, not finite, or of shapes that do not fit."""
    if len(given.lengths) == 0:
        raise DemonstrationError("there are no trajectories; expected at least one")
    empty = np.flatnonzero(given.lengths < 1)
    if empty.size:
        raise DemonstrationError(
            f"trajectory {empty[0]} has no steps; expected at least one (leave it out)"
        )
    total = int(given.lengths.sum())
    for name in ("states", "actions", "next_states"):
        values = getattr(given, name)
        if len(values) != total:
            raise DemonstrationError(
                f"{name} holds {len(values)} steps; expected {total}, the sum of the lengths"
            )
        _check_values(given, values, name)
    if given.states.shape[1:] != given.next_states.shape[1:]:
        raise DemonstrationError(
            f"states have shape {given.states.shape} and next states "
            f"{given.next_states.shape}; expected the same"
        )
    _check_starts(given)
    inside = np.flatnonzero(given.step_numbers > 0)
    found, following = given.next_states[inside - 1], given.states[inside]
    torn = np.zeros(total, dtype=bool)
    torn[inside - 1] = ~given.unknown_ends[inside - 1] & any_in_row(~np.isclose(found, following))
    raise_at(given, torn, given.next_states, "next_states", "the state of the step that follows")


def raise_at(
    given: Demonstrations,
    wrong: NDArray[np.bool_],
    values: NDArray[Any],
    name: str,
    expected: str,
) -> None:
    """Raise an error that names the first step that is wrong, if any is, `T`."""
    if wrong.any():
        step = int(np.flatnonzero(wrong)[0])
        raise DemonstrationError(
            f"trajectory {given.trajectory_numbers[step]}, step {given.step_numbers[step]}: "
            f"{name} is {values[step]}; expected {expected}"
        )


def _check_values(given: Demonstrations, values: NDArray[Any], name: str) -> None:
    ends = name == "next_states"
    if values.ndim == 1:
        lowest = UNKNOWN if ends else 0
        raise_at(given, values < lowest, values, name, f"a number from {lowest} on")
        return
    wrong = any_in_row(~np.isfinite(values))
    if ends:
        # A row of NaN says that nobody recorded the end.
        last = np.zeros(len(values), dtype=bool)
        last[np.cumsum(given.lengths) - 1] = True
        wrong &= ~(last & any_in_row(np.isnan(values)))
    raise_at(given, wrong, values, name, "finite numbers")


def _check_starts(given: Demonstrations) -> None:
    starts = given.start_states
    if starts is None:
        return
    if len(starts) != len(given.lengths):
        raise DemonstrationError(
            f"there are {len(starts)} start states for {len(given.lengths)} trajectories; "
            "expected one for each"
        )
    wrong = np.flatnonzero(any_in_row(~np.isfinite(starts)))
    if wrong.size:
        raise DemonstrationError(
            f"trajectory {wrong[0]} has the start state {starts[wrong[0]]}; expected finite numbers"
        )
