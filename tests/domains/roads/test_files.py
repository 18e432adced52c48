"""Road networks and trips from files: both formats, and what is wrong in them."""

import numpy as np
import pytest

from boirl.domains.roads.files import Trips, load_road_network
from boirl.errors import InvalidInputError

# Two streets that meet: 10 and 11 are one street in both directions, 12 leads off to the left and
# 13 back from it. Destination 99 lies at the end of 12.
FILES = {
    "links.csv": "link,time\n10,0.5\n11,0.5\n12,0.2\n13,0.3\n",
    "turns.csv": "from,to,angle\n10,11,3.14\n11,10,3.14\n10,12,-1.5\n12,13,3.14\n13,11,1.5\n",
    "destinations.csv": "destination,link\n99,12\n",
    "trips.csv": "trip,destination,position,link\n1,99,1,11\n1,99,2,10\n1,99,3,12\n",
}
# The same in the text format, with links 1 to 4 and destination 5.
TEXT_FILES = {
    "linkIncidence.txt": "1 2 1\n2 1 1\n1 3 1\n3 4 1\n4 2 1\n3 5 1\n",
    "ATTRIBUTEestimatedtime.txt": "1 2 .5\n2 1 .5\n1 3 .2\n3 4 .3\n4 2 .5\n3 5 0\n",
    "ATTRIBUTEturnangles.txt": "1 2 3.14\n2 1 3.14\n1 3 -1.5\n3 4 3.14\n4 2 1.5\n",
    "observationsForEstimBAI.txt": "1 1 5\n1 2 2\n1 3 1\n1 4 3\n1 5 5\n",
}


def write(folder, files):
    for name, content in files.items():
        (folder / name).write_text(content)
    return folder


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path, FILES)


def test_a_town_in_csv_is_read(folder):
    network, trips = load_road_network(folder)
    assert network.n_links == 4
    assert network.ends is None
    assert trips.links[0].tolist() == [1, 0, 2]
    assert trips.destinations.tolist() == [99]
    np.testing.assert_array_equal(network.times, [0.5, 0.5, 0.2, 0.3])
    np.testing.assert_array_equal(network.feeders(99), [2])


def test_both_formats_hold_the_same_town(folder, tmp_path):
    text = tmp_path / "text"
    text.mkdir()
    csv, text_read = load_road_network(folder), load_road_network(write(text, TEXT_FILES))
    for name in ("times", "turns", "angles"):
        np.testing.assert_array_equal(getattr(csv[0], name), getattr(text_read[0], name), name)
    np.testing.assert_array_equal(text_read[0].feeders(5), csv[0].feeders(99))
    assert text_read[1].links[0].tolist() == csv[1].links[0].tolist()
    assert text_read[1].destinations.tolist() == [5]


def test_coordinates_are_read_where_there_are_some(folder):
    rows = ["link,time,from_x,from_y,to_x,to_y"]
    rows += [f"{link},0.5,0,{link},1,{link}" for link in (13, 10, 12, 11)]
    (folder / "links.csv").write_text("\n".join(rows))
    network, _ = load_road_network(folder)
    assert network.ends is not None
    np.testing.assert_array_equal(network.ends[2], [[0.0, 12.0], [1.0, 12.0]])
    assert network.layout is network.ends


def test_trips_are_chosen_by_destination():
    links = tuple(np.array([number]) for number in range(3))
    trips = Trips(np.array([7, 9, 7]), links)
    assert len(trips) == 3
    assert [one.tolist() for one in trips.to(7)] == [[0], [2]]
    assert trips.to(8) == ()


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("links.csv", "14,-1", r"links.csv, line 6: the travel time is -1"),
        ("links.csv", "10,1", r"links.csv, line 6: link 10 stands in the file before"),
        ("turns.csv", "10,77,0", r"turns.csv, line 7: unknown link 77"),
        (
            "turns.csv",
            "10,x,0",
            r"turns.csv, line 7: found x in the column to; expected",
        ),
        ("trips.csv", "2,99,1,55", r"trips.csv, line 5: unknown link 55"),
        ("trips.csv", "2,99,1,11\n2,99,2,12", r"trips.csv, line 6: trip 2 has a gap"),
        ("trips.csv", "2,99,1,11\n2,99,2,10", r"trips.csv, line 6: trip 2 ends .* no route"),
        ("destinations.csv", "98,1.5", r"destinations.csv, line 3: found 1.5"),
    ],
)
def test_a_wrong_line_is_named(folder, name, line, message):
    with (folder / name).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InvalidInputError, match=message):
        load_road_network(folder)


def test_missing_files_and_columns_are_named(folder, tmp_path):
    (folder / "turns.csv").write_text("a,b,c\n1,2,3\n")
    with pytest.raises(InvalidInputError, match="expected from, to, angle"):
        load_road_network(folder)
    (folder / "turns.csv").unlink()
    with pytest.raises(InvalidInputError, match=r"there is no file .*turns.csv"):
        load_road_network(folder)
    with pytest.raises(InvalidInputError, match="holds no road network"):
        load_road_network(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "is empty"), (b"\xff\xfe\x00", "is not a text file")]
)
def test_files_without_rows_are_named(tmp_path, content, message):
    write(tmp_path, TEXT_FILES)
    (tmp_path / "ATTRIBUTEturnangles.txt").write_bytes(content)
    with pytest.raises(InvalidInputError, match=rf"ATTRIBUTEturnangles\.txt {message}"):
        load_road_network(tmp_path)


def test_the_data_of_borlange_are_read(borlange_folder):
    network, trips = load_road_network(borlange_folder)
    assert (network.n_links, len(trips)) == (7288, 1832)
    assert len(np.unique(trips.destinations)) == 466
    assert network.ends is None
