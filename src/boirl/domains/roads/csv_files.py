"""Road networks and trips in CSV files with a header.

- `links.csv`: `link,time`, for maps `from_x,from_y,to_x,to_y`, and further attributes of links;
- `turns.csv`: `from,to,angle`, and further attributes of turns;
- `destinations.csv`: `destination,link`, the links that lead to it;
- `trips.csv`: `trip,destination,position,link`, the links from the origin on, and where there are
  several travellers or weights, `traveller` and `weight`, the same in all rows of a trip.

Links, trips and destinations are whole numbers, in any order and with gaps. Further columns of
numbers of the first two files are attributes; columns in which no cell is a number are labels and
left out, as are further columns of the other files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boirl.domains.roads.attributes import FEATURES, PRODUCT
from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.road_checks import (
    AngleUnit,
    check_once,
    check_trip,
    group_links,
    read_angles,
    read_times,
)
from boirl.domains.roads.trips import Trips
from boirl.errors import InvalidInputError
from boirl.rows import Rows, read_csv
from boirl.types import FloatArray, IntArray

CSV_FILES = ("links.csv", "turns.csv", "destinations.csv", "trips.csv")
LINK_COLUMNS = ("link", "time")
TURN_COLUMNS = ("from", "to", "angle")
COORDINATES = ("from_x", "from_y", "to_x", "to_y")
MISSPELT = {"weights": "weight", "travellers": "traveller", "traveler": "traveller"}


def load_csv(folder: Path, unit: AngleUnit) -> tuple[RoadNetwork, Trips]:
    """The network and the trips in a folder."""
    links = read_csv(folder / "links.csv", LINK_COLUMNS)
    turns = read_csv(folder / "turns.csv", TURN_COLUMNS)
    ends = read_csv(folder / "destinations.csv", ("destination", "link"))
    names = links.whole("link")
    check_once(links, (names,), "link")
    by_name = np.argsort(names)
    names = names[by_name]
    left, entered = turns.whole("from"), turns.whole("to")
    pairs = np.stack([_places(turns, column, names) for column in ("from", "to")], axis=1)
    check_once(turns, (left, entered), "the turn from")
    order = np.lexsort((pairs[:, 0], pairs[:, 1]))
    of_links = _attributes(links, (*LINK_COLUMNS, *COORDINATES), FEATURES)
    of_turns = _attributes(turns, TURN_COLUMNS, (*FEATURES, *of_links))
    coordinates = _coordinates(links)
    network = RoadNetwork(
        times=read_times(links, "time")[by_name],
        turns=pairs[order],
        angles=read_angles(turns, "angle", unit)[order],
        destinations=group_links(ends.whole("destination"), _places(ends, "link", names)),
        ends=None if coordinates is None else coordinates[by_name],
        link_attributes={name: values[by_name] for name, values in of_links.items()},
        turn_attributes={name: values[order] for name, values in of_turns.items()},
    )
    return network, _trips(network, names, folder / "trips.csv")


def _places(rows: Rows, column: str, names: IntArray) -> IntArray:
    """Positions in the sorted `names` of the links in a column."""
    wanted = rows.whole(column)
    place = np.minimum(np.searchsorted(names, wanted), len(names) - 1)
    unknown = np.flatnonzero(names[place] != wanted)
    if unknown.size:
        raise rows.fail(
            int(unknown[0]),
            f"unknown link {wanted[unknown[0]]}; expected one of links.csv: add it there",
        )
    return place


def _coordinates(links: Rows) -> FloatArray | None:
    """Start and end of each link, `n x 2 x 2`, where the file has them."""
    present = [column for column in COORDINATES if column in links.cells]
    if not present:
        return None
    if len(present) < len(COORDINATES):
        raise InvalidInputError(
            f"{links.path}, line 1: found of the coordinates {', '.join(present)} alone; expected "
            f"{', '.join(COORDINATES)}: add the others, or remove them"
        )
    return np.stack([links.numbers(column) for column in COORDINATES], 1).reshape(-1, 2, 2)


def _attributes(rows: Rows, own: tuple[str, ...], taken: tuple[str, ...]) -> dict[str, FloatArray]:
    """The further columns of numbers."""
    attributes = {}
    for column in rows.cells:
        if column in own or rows.is_label(column):
            continue
        if column in taken or PRODUCT in column:
            raise InvalidInputError(
                f"{rows.path}, line 1: found the column {column}; expected a name that no other "
                f"attribute has ({', '.join(taken)}) and without {PRODUCT!r}: rename or remove it"
            )
        attributes[column] = rows.numbers(column)
    return attributes


def _trips(network: RoadNetwork, names: IntArray, path: Path) -> Trips:
    rows = read_csv(path, ("trip", "destination", "position", "link"))
    misspelt = next((column for column in rows.cells if column.lower() in MISSPELT), None)
    if misspelt is not None:
        raise InvalidInputError(
            f"{path}, line 1: found the column {misspelt}; expected "
            f"{MISSPELT[misspelt.lower()]}: rename it"
        )
    trip, position = rows.whole("trip"), rows.whole("position")
    destination = rows.whole("destination")
    link = _places(rows, "link", names)
    order = np.lexsort((position, trip))
    groups = np.split(order, np.flatnonzero(np.diff(trip[order])) + 1)
    weight = _weights(rows) if "weight" in rows.cells else None
    _check_one_per_trip(rows, "destination", destination, trip, order)
    if "traveller" in rows.cells:
        _check_one_per_trip(rows, "traveller", np.array(rows.cells["traveller"]), trip, order)
    if weight is not None:
        _check_one_per_trip(rows, "weight", weight, trip, order)
    check_once(rows, (trip, position), "trip and position")
    for members in groups:
        check_trip(
            network,
            rows,
            members,
            link[members],
            int(destination[members[0]]),
            int(trip[members[0]]),
        )
    first = np.array([members[0] for members in groups])
    return Trips(
        destination[first],
        tuple(link[members] for members in groups),
        _travellers(rows, first) if "traveller" in rows.cells else None,
        None if weight is None else weight[first],
    )


def _check_one_per_trip(
    rows: Rows, column: str, values: NDArray[Any], trip: IntArray, order: IntArray
) -> None:
    """A trip has one destination, one traveller and one weight."""
    first, second = order[:-1], order[1:]
    differs = np.flatnonzero((trip[first] == trip[second]) & (values[first] != values[second]))
    if differs.size:
        before, row = int(first[differs[0]]), int(second[differs[0]])
        cells = rows.cells[column]
        raise rows.fail(
            row,
            f"trip {trip[row]} has the {column} {cells[row] or 'nothing'}, and {cells[before]} on "
            f"line {rows.lines[before]}; expected one for all rows of a trip: "
            "correct it, or give the trips numbers of their own",
        )


def _travellers(rows: Rows, first: IntArray) -> NDArray[Any]:
    """Whole numbers where all are, else names."""
    cells = [rows.cells["traveller"][row] for row in first.tolist()]
    empty = next((number for number, cell in enumerate(cells) if not cell), None)
    if empty is not None:
        raise rows.fail(int(first[empty]), "found no traveller; expected a number or a name")
    try:
        return rows.whole("traveller")[first]
    except InvalidInputError:
        return np.array(cells)


def _weights(rows: Rows) -> FloatArray:
    weights = rows.numbers("weight")
    wrong = np.flatnonzero(weights <= 0.0)
    if wrong.size:
        raise rows.fail(
            int(wrong[0]),
            f"the weight is {weights[wrong[0]]:g}; expected a number above 0: leave out trips "
            "that do not count",
        )
    return weights
