"""The text format of the Borlange data: rows of numbers, counted from 1.

`linkIncidence.txt` (link, next link, 1), `ATTRIBUTEestimatedtime.txt` (link, next link, time of the
next link), `ATTRIBUTEturnangles.txt` (link, next link, angle) and `observationsForEstimBAI.txt`
(trip, position, link). Links that none leads on from are destinations. A trip starts with its
destination, then come the links from the origin on, and the destination again.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

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
from boirl.rows import Rows, read_text
from boirl.types import FloatArray, IntArray

TEXT_FILES = {
    "incidence": "linkIncidence.txt",
    "times": "ATTRIBUTEestimatedtime.txt",
    "angles": "ATTRIBUTEturnangles.txt",
    "trips": "observationsForEstimBAI.txt",
}
SPARSEST = 100
"""Links per row of the incidence from which on numbers of links are not counted from 1."""


def load_text(folder: Path, unit: AngleUnit) -> tuple[RoadNetwork, Trips]:
    """The network and the trips in a folder."""
    incidence = read_text(folder / TEXT_FILES["incidence"], ("link", "next link", "connected"))
    times = read_text(folder / TEXT_FILES["times"], ("link", "next link", "time"))
    angles = read_text(folder / TEXT_FILES["angles"], ("link", "next link", "angle"))
    pairs = np.stack([incidence.whole("link"), incidence.whole("next link")], axis=1)
    _check_numbering(incidence, pairs)
    _check_connected(incidence)
    check_once(incidence, (pairs[:, 0], pairs[:, 1]), "the turn from")
    n_links = int(pairs[:, 0].max())
    to_road = pairs[:, 1] <= n_links
    if to_road.all():
        raise InvalidInputError(
            f"{incidence.path} holds no destination: every link leads on; expected links, such as "
            f"{n_links + 1}, that turns lead to and that none leads on from"
        )
    link_times = np.full(n_links + 1, np.nan)
    timed, read = times.whole("next link"), read_times(times, "time")
    inside = timed <= n_links
    link_times[timed[inside]] = read[inside]
    entered = np.unique(pairs[to_road, 1])
    untimed = entered[np.isnan(link_times[entered])]
    if untimed.size:
        raise InvalidInputError(
            f"{times.path} holds no time for link {untimed[0]}; expected a row for each turn"
        )
    turns = pairs[to_road] - 1
    order = np.lexsort((turns[:, 0], turns[:, 1]))
    network = RoadNetwork(
        times=np.nan_to_num(link_times[1:]),
        turns=turns[order],
        angles=_angles_of(turns[order], angles, read_angles(angles, "angle", unit), n_links),
        destinations=group_links(pairs[~to_road, 1], pairs[~to_road, 0] - 1),
    )
    return network, _trips(network, folder / TEXT_FILES["trips"])


def _check_numbering(incidence: Rows, pairs: IntArray) -> None:
    """Memory is taken for every link up to the largest, and a destination far beyond is a slip."""
    zero = np.flatnonzero((pairs == 0).any(axis=1))
    if zero.size:
        raise incidence.fail(int(zero[0]), "found link 0; expected links counted from 1")
    largest = pairs.max(axis=1)
    highest = int(largest.argmax())
    if largest[highest] > SPARSEST * len(pairs):
        raise incidence.fail(
            highest,
            f"found link {largest[highest]} among {len(pairs)} turns; expected links counted from "
            "1 without large gaps: renumber them, or use CSV, where links have any numbers",
        )


def _check_connected(incidence: Rows) -> None:
    connected = incidence.whole("connected")
    other = np.flatnonzero(connected != 1)
    if other.size:
        raise incidence.fail(
            int(other[0]),
            f"found {connected[other[0]]} as what connects two links; expected 1: leave links out "
            "that are not connected",
        )


def _angles_of(turns: IntArray, rows: Rows, angles: FloatArray, n_links: int) -> FloatArray:
    """The angle of each turn; 0 where the file has none."""
    left, entered = rows.whole("link") - 1, rows.whole("next link") - 1
    inside = (left >= 0) & (left < n_links) & (entered >= 0) & (entered < n_links)
    keys = turns[:, 1] * n_links + turns[:, 0]
    wanted = entered[inside] * n_links + left[inside]
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    known = keys[place] == wanted
    result = np.zeros(len(turns))
    result[place[known]] = angles[inside][known]
    return result


def _trips(network: RoadNetwork, path: Path) -> Trips:
    rows = read_text(path, ("trip", "position", "link"))
    trip, position, link = (rows.whole(column) for column in ("trip", "position", "link"))
    order = np.lexsort((position, trip))
    groups = np.split(order, np.flatnonzero(np.diff(trip[order])) + 1)
    destinations, links = [], []
    for members in groups:
        destination, path_of_trip = int(link[members[0]]), members[1:]
        if len(path_of_trip) and link[path_of_trip[-1]] == destination:
            path_of_trip = path_of_trip[:-1]
        destinations.append(destination)
        links.append(link[path_of_trip] - 1)
        check_trip(network, rows, path_of_trip, links[-1], destination, int(trip[members[0]]))
    return Trips(np.array(destinations), tuple(links))
