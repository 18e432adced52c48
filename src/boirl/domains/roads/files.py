"""Reading road networks and trips from files.

Two formats, recognised by the files in the folder:

- the text format of the Borlange data, rows of numbers counted from 1: `linkIncidence.txt`
  (link, next link, 1), `ATTRIBUTEestimatedtime.txt` (link, next link, time of the next link),
  `ATTRIBUTEturnangles.txt` (link, next link, angle) and `observationsForEstimBAI.txt` (trip,
  position, link). Links that none leads on from are destinations. A trip starts with its
  destination, then come the links from the origin on, and the destination again;
- CSV with a header: `links.csv` (`link,time`, and for maps `from_x,from_y,to_x,to_y`), `turns.csv`
  (`from,to,angle`), `destinations.csv` (`destination,link`: the links that lead to it) and
  `trips.csv` (`trip,destination,position,link`, the links from the origin on). Links and trips are
  whole numbers, in any order and with gaps.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boirl.domains.roads.network import RoadNetwork
from boirl.errors import InvalidInputError
from boirl.types import FloatArray, IntArray

TEXT_FILES = {
    "incidence": "linkIncidence.txt",
    "times": "ATTRIBUTEestimatedtime.txt",
    "angles": "ATTRIBUTEturnangles.txt",
    "trips": "observationsForEstimBAI.txt",
}
COORDINATES = ("from_x", "from_y", "to_x", "to_y")


@dataclass(frozen=True, eq=False)
class Trips:
    """Trips of people: for each, its destination and its links from the origin on."""

    destinations: IntArray
    links: tuple[IntArray, ...]

    def __len__(self) -> int:
        return len(self.links)

    def to(self, destination: int) -> tuple[IntArray, ...]:
        """The links of the trips to one destination."""
        chosen = np.flatnonzero(self.destinations == destination)
        return tuple(self.links[number] for number in chosen)


@dataclass(frozen=True)
class _Rows:
    """Numbers of a file with the line each row stands on, for errors."""

    path: Path
    lines: Sequence[int]
    values: FloatArray

    def fail(self, row: int, problem: str) -> InvalidInputError:
        return InvalidInputError(f"{self.path}, line {self.lines[row]}: {problem}")

    def whole(self, column: int) -> IntArray:
        numbers = self.values[:, column]
        wrong = np.flatnonzero((numbers != np.round(numbers)) | (numbers < 0))
        if wrong.size:
            raise self.fail(int(wrong[0]), f"found {numbers[wrong[0]]:g}; expected a whole number")
        return numbers.astype(np.int64)


def load_road_network(folder: str | Path) -> tuple[RoadNetwork, Trips]:
    """Read the network and the trips in a folder, in either format."""
    where = Path(folder)
    if (where / TEXT_FILES["incidence"]).exists():
        return _load_text(where)
    if (where / "links.csv").exists():
        return _load_csv(where)
    raise InvalidInputError(
        f"{str(where)!r} holds no road network; expected {TEXT_FILES['incidence']} and the files "
        "that go with it, or links.csv, turns.csv, destinations.csv and trips.csv"
    )


def _load_text(folder: Path) -> tuple[RoadNetwork, Trips]:
    incidence = _read_text(folder / TEXT_FILES["incidence"])
    times = _read_text(folder / TEXT_FILES["times"])
    angles = _read_text(folder / TEXT_FILES["angles"])
    pairs = np.stack([incidence.whole(0), incidence.whole(1)], axis=1)
    n_links = int(pairs[:, 0].max())
    to_road = pairs[:, 1] <= n_links
    link_times = np.full(n_links + 1, np.nan)
    timed = times.whole(1)
    _no_negative_times(times, 2)
    inside = timed <= n_links
    link_times[timed[inside]] = times.values[inside, 2]
    entered = np.unique(pairs[to_road, 1])
    untimed = entered[np.isnan(link_times[entered])]
    if untimed.size:
        raise InvalidInputError(f"{times.path} holds no time for link {untimed[0]}")
    turns = pairs[to_road] - 1
    order = np.lexsort((turns[:, 0], turns[:, 1]))
    network = RoadNetwork(
        times=np.nan_to_num(link_times[1:]),
        turns=turns[order],
        angles=_angles_of(turns[order], angles, n_links),
        destinations=_group(pairs[~to_road, 1], pairs[~to_road, 0] - 1),
    )
    return network, _text_trips(network, folder / TEXT_FILES["trips"])


def _angles_of(turns: IntArray, angles: _Rows, n_links: int) -> FloatArray:
    """The angle of each turn; 0 where the file has none."""
    keys = turns[:, 1] * n_links + turns[:, 0]
    wanted = (angles.whole(1) - 1) * n_links + angles.whole(0) - 1
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    known = keys[place] == wanted
    result = np.zeros(len(turns))
    result[place[known]] = angles.values[known, 2]
    return result


def _text_trips(network: RoadNetwork, path: Path) -> Trips:
    rows = _read_text(path)
    trip, position, link = rows.whole(0), rows.whole(1), rows.whole(2)
    order = np.lexsort((position, trip))
    groups = np.split(order, np.flatnonzero(np.diff(trip[order])) + 1)
    destinations, links = [], []
    for members in groups:
        destination, path_of_trip = int(link[members[0]]), members[1:]
        if len(path_of_trip) and link[path_of_trip[-1]] == destination:
            path_of_trip = path_of_trip[:-1]
        destinations.append(destination)
        links.append(link[path_of_trip] - 1)
        _check_trip(network, rows, path_of_trip, links[-1], destination, int(trip[members[0]]))
    return Trips(np.array(destinations), tuple(links))


def _load_csv(folder: Path) -> tuple[RoadNetwork, Trips]:
    links = _read_csv(folder / "links.csv", ("link", "time"), optional=COORDINATES)
    turns = _read_csv(folder / "turns.csv", ("from", "to", "angle"))
    ends = _read_csv(folder / "destinations.csv", ("destination", "link"))
    names = links.whole(0)
    _no_negative_times(links, 1)
    if len(np.unique(names)) != len(names):
        repeated = next(i for i in range(len(names)) if names[i] in names[:i])
        raise links.fail(repeated, f"link {names[repeated]} stands in the file before")
    by_name = np.argsort(names)
    names = names[by_name]
    pairs = np.stack([_numbers_of(turns, column, names) for column in (0, 1)], axis=1)
    order = np.lexsort((pairs[:, 0], pairs[:, 1]))
    network = RoadNetwork(
        times=links.values[by_name, 1],
        turns=pairs[order],
        angles=turns.values[order, 2],
        destinations=_group(ends.whole(0), _numbers_of(ends, 1, names)),
        ends=links.values[by_name, 2:].reshape(-1, 2, 2) if links.values.shape[1] > 2 else None,
    )
    trips = _read_csv(folder / "trips.csv", ("trip", "destination", "position", "link"))
    trip, destination, position = trips.whole(0), trips.whole(1), trips.whole(2)
    link = _numbers_of(trips, 3, names)
    order = np.lexsort((position, trip))
    groups = np.split(order, np.flatnonzero(np.diff(trip[order])) + 1)
    for members in groups:
        _check_trip(
            network,
            trips,
            members,
            link[members],
            int(destination[members[0]]),
            int(trip[members[0]]),
        )
    return network, Trips(
        np.array([destination[members[0]] for members in groups]),
        tuple(link[members] for members in groups),
    )


def _check_trip(
    network: RoadNetwork,
    rows: _Rows,
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
            f"trip {trip} has a gap: no turn leads from its link number {gaps[0] + 1} to the next",
        )
    if links[-1] not in network.feeders(destination):
        raise rows.fail(
            int(members[-1]),
            f"trip {trip} ends on a link that has no route to its destination {destination}",
        )


def _numbers_of(rows: _Rows, column: int, names: IntArray) -> IntArray:
    """Positions in the sorted `names` of the links in a column."""
    wanted = rows.whole(column)
    place = np.minimum(np.searchsorted(names, wanted), len(names) - 1)
    unknown = np.flatnonzero(names[place] != wanted)
    if unknown.size:
        raise rows.fail(
            int(unknown[0]), f"unknown link {wanted[unknown[0]]}; expected one of links.csv"
        )
    return place


def _no_negative_times(rows: _Rows, column: int) -> None:
    wrong = np.flatnonzero(~(rows.values[:, column] >= 0))
    if wrong.size:
        found = rows.values[wrong[0], column]
        raise rows.fail(int(wrong[0]), f"the travel time is {found:g}; expected 0 or more")


def _group(keys: IntArray, members: IntArray) -> dict[int, IntArray]:
    return {int(key): np.unique(members[keys == key]) for key in np.unique(keys)}


def _read_text(path: Path) -> _Rows:
    rows = [(number, line.split()) for number, line in enumerate(_lines(path), 1) if line.strip()]
    return _parse(path, rows, 3)


def _read_csv(path: Path, columns: tuple[str, ...], optional: tuple[str, ...] = ()) -> _Rows:
    """Read columns in the order they are named; optional ones where the header has them all."""
    lines = list(csv.reader(_lines(path)))
    header = tuple(cell.strip() for cell in lines[0]) if lines else ()
    if optional and set(optional) <= set(header):
        columns = (*columns, *optional)
    missing = [column for column in columns if column not in header]
    if missing:
        raise InvalidInputError(
            f"{path} has the columns {', '.join(header)}; expected {', '.join(columns)}"
        )
    places = [header.index(column) for column in columns]
    rows = [
        (number, [cells[place] if place < len(cells) else "" for place in places])
        for number, cells in enumerate(lines[1:], 2)
        if cells
    ]
    return _parse(path, rows, len(columns))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {str(path)!r}") from None
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is not a text file ({error})") from None


def _parse(path: Path, rows: list[tuple[int, list[str]]], width: int) -> _Rows:
    if not rows:
        raise InvalidInputError(f"{path} is empty; expected rows of {width} numbers")
    try:
        values = np.array([cells for _, cells in rows], dtype=np.float64)
        if values.shape[1] == width and np.isfinite(values).all():
            return _Rows(path, [number for number, _ in rows], values)
    except ValueError:
        pass
    for number, cells in rows:
        try:
            good = len(cells) == width and bool(np.isfinite([float(cell) for cell in cells]).all())
        except ValueError:
            good = False
        if not good:
            raise InvalidInputError(
                f"{path}, line {number}: found {' '.join(cells)!r}; expected {width} numbers"
            )
    raise InvalidInputError(f"{path} could not be read as rows of {width} numbers")
