"""Reading road networks and trips from files.

Two formats, recognised by the files in the folder:

- the text format of the Borlange data, see `text_files`;
- CSV with a header, see `csv_files`.
"""

from __future__ import annotations

from pathlib import Path

from boirl.domains.roads.csv_files import CSV_FILES, load_csv
from boirl.domains.roads.network import RoadNetwork
from boirl.domains.roads.road_checks import AngleUnit, check_unit
from boirl.domains.roads.text_files import TEXT_FILES, load_text
from boirl.domains.roads.trips import Trips
from boirl.errors import InvalidInputError

__all__ = ["AngleUnit", "Trips", "load_road_network"]


def load_road_network(
    folder: str | Path, angles: AngleUnit = "radians"
) -> tuple[RoadNetwork, Trips]:
    """Read the network and the trips in a folder, in either format.

    Args:
        folder: With the files.
        angles: Unit of the angles of turns, `"radians"` or `"degrees"`.
    """
    check_unit(angles)
    where = Path(folder)
    if (where / TEXT_FILES["incidence"]).exists():
        return load_text(where, angles)
    if (where / "links.csv").exists():
        return load_csv(where, angles)
    raise InvalidInputError(
        f"{str(where)!r} holds no road network; expected {TEXT_FILES['incidence']} and the files "
        f"that go with it, or {', '.join(CSV_FILES)}"
    )
