"""What must hold of a network and its trips, whichever files they come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from boirl.domains.roads.network import RoadNetwork
from boirl.errors import InvalidInputError
from boirl.rows import Rows
from boirl.types import FloatArray, IntArray

AngleUnit = Literal["radians", "degrees"]
FULL_TURN = {"radians": 2.0 * np.pi, "degrees": 360.0}
ROUNDING = 0.01
"""Radians by which a u-turn may be more than pi."""


def check_unit(unit: str) -> None:
    if unit not in get_args(AngleUnit):
        raise InvalidInputError(f"angles is {unit!r}; expected 'radians' or 'degrees'")


def read_angles(rows: Rows, column: str, unit: AngleUnit) -> FloatArray:
    """Angles in radians in [-pi, pi]; those in another unit are named."""
    angles, full = rows.numbers(column), FULL_TURN[unit]
    wrong = np.flatnonzero(np.abs(angles) > full + ROUNDING)
    if wrong.size:
        advice = "; for degrees, pass angles='degrees'" if unit == "radians" else ""
        raise rows.fail(
            int(wrong[0]),
            f"the {column} is {angles[wrong[0]]:g}; expected {unit}, at most {full:.4g} either way"
            f"{advice}",
        )
    turned = np.flatnonzero(angles)
    if unit == "degrees" and turned.size and np.abs(angles).max() <= FULL_TURN["radians"]:
        raise rows.fail(
            int(turned[0]),
            f"the {column} is {angles[turned[0]]:g}, and none is above {FULL_TURN['radians']:.4g}; "
            "expected degrees; for radians, pass angles='radians'",
        )
    angles = angles * (2.0 * np.pi / full)
    wrapped = (angles + np.pi) % (2.0 * np.pi) - np.pi
    return np.where(np.abs(angles) > np.pi + ROUNDING, wrapped, angles)


def read_times(rows: Rows, column: str) -> FloatArray:
    times = rows.numbers(column)
    wrong = np.flatnonzero(times < 0.0)
    if wrong.size:
        raise rows.fail(
            int(wrong[0]), f"the travel {column} is {times[wrong[0]]:g}; expected 0 or more"
        )
    return times


def check_once(rows: Rows, columns: Sequence[IntArray], what: str) -> None:
    """Refuse a row that says what another one said."""
    order = np.lexsort(tuple(columns)[::-1])
    same = np.ones(len(order) - 1, dtype=bool)
    for values in columns:
        same &= values[order[1:]] == values[order[:-1]]
    if same.any():
        # Sorting is stable, so the second of two is the one further down.
        pairs = np.stack([order[:-1][same], order[1:][same]], axis=1)
        first, second = pairs[pairs[:, 1].argmin()]
        shown = " to ".join(str(values[second]) for values in columns)
        raise rows.fail(
            int(second),
            f"{what} {shown} stands in the file before, on line {rows.lines[first]}; expected "
            "each once: remove one",
        )


def check_trip(
    network: RoadNetwork,
    rows: Rows,
    members: IntArray,
    links: IntArray,
    destination: int,
    trip: int,
) -> None:
    """A trip goes along turns of the network and ends on a link that leads to its destination."""
    if not len(members):
        raise InvalidInputError(f"{rows.path}: trip {trip} has no links; expected at least one")
    if links.max() >= network.n_links or links.min() < 0:
        wrong = int(np.flatnonzero((links >= network.n_links) | (links < 0))[0])
        raise rows.fail(int(members[wrong]), f"trip {trip} uses an unknown link")
    gaps = np.flatnonzero(network.turn_number(links[:-1], links[1:]) < 0)
    if gaps.size:
        raise rows.fail(
            int(members[gaps[0] + 1]),
            f"trip {trip} has a gap: no turn leads from its link number {gaps[0] + 1} to the next; "
            "expected links that follow one another: add the turn or split the trip",
        )
    if destination not in network.destinations:
        raise rows.fail(
            int(members[-1]),
            f"trip {trip} goes to the unknown destination {destination}; expected one of "
            f"{', '.join(map(str, sorted(network.destinations)[:5]))}...: add it to the "
            "destinations",
        )
    if links[-1] not in network.feeders(destination):
        raise rows.fail(
            int(members[-1]),
            f"trip {trip} ends on a link that has no route to its destination {destination}; "
            "expected a link that leads there: complete the trip, or list the link among those "
            "that lead to the destination",
        )


def group_links(keys: IntArray, members: IntArray) -> dict[int, IntArray]:
    """The distinct members of each key."""
    order = np.lexsort((members, keys))
    starts = np.flatnonzero(np.diff(keys[order], prepend=keys[order[0]] - 1))
    groups = np.split(members[order], starts[1:])
    return {int(keys[order[at]]): np.unique(own) for at, own in zip(starts, groups, strict=True)}
