"""Towns in CSV: attributes, travellers, weights, and what is wrong in files."""

import numpy as np
import pytest

import boirl
from boirl.domains.roads.csv_files import CSV_FILES, load_csv
from boirl.errors import InvalidInputError

from .test_files import FILES, write

LINKS = (
    "link,time,length,street,class\n"
    "12,0.2,1.2,Side,2\n10,0.5,1.0,Main,1\n11,0.5,1.1,Main,1\n13,0.3,1.3,Side,2\n"
)
TURNS = (
    "from,to,angle,right,lights\n"
    "10,11,3.14,0,0\n11,10,3.14,0,0\n10,12,-1.5,0,1\n12,13,3.14,0,0\n13,11,1.5,1,2\n"
)
TRIPS = (
    "trip,destination,position,link,traveller,weight\n"
    "1,99,1,11,5,2\n1,99,2,10,5,2\n1,99,3,12,5,2\n"
    "2,99,1,10,6,0.5\n2,99,2,12,6,0.5\n3,99,1,10,5,1\n3,99,2,12,5,1\n"
)


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path, FILES | {"links.csv": LINKS, "turns.csv": TURNS, "trips.csv": TRIPS})


def replace_in(path, old, new):
    path.write_text(path.read_text().replace(old, new))


def test_further_columns_of_numbers_are_attributes(folder):
    network, _ = load_csv(folder, "radians")
    assert set(CSV_FILES) == set(FILES)
    assert network.attribute_names[4:] == ("length", "class", "right", "lights")
    np.testing.assert_array_equal(network.link_attributes["length"], [1.0, 1.1, 1.2, 1.3])
    lights = {(0, 2): 1.0, (3, 1): 2.0}
    for turn, value in zip(network.turns.tolist(), network.turn_attributes["lights"], strict=True):
        assert value == lights.get(tuple(turn), 0.0)


def test_travellers_and_weights_are_kept(folder):
    _, trips = load_csv(folder, "radians")
    assert trips.travellers.tolist() == [5, 6, 5]
    assert trips.weights.tolist() == [2.0, 0.5, 1.0]
    replace_in(folder / "trips.csv", ",5,", ",ann,")
    assert load_csv(folder, "radians")[1].travellers.tolist() == ["ann", "6", "ann"]


@pytest.mark.parametrize("number", [2_000_000_000, 2**63 - 1])
def test_links_may_have_any_number(folder, number):
    before = load_csv(folder, "radians")[0]
    for name in CSV_FILES:
        replace_in(folder / name, "13,", f"{number},")
        replace_in(folder / name, ",13", f",{number}")
    network, trips = load_csv(folder, "radians")
    np.testing.assert_array_equal(network.turns, before.turns)
    assert len(trips) == 3


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("turns.csv", "10,12,-1.5", "10,12,-90", r"line 4: the angle is -90; .*angles='degrees'"),
        ("turns.csv", "13,11,1.5", "10,12,1.5", r"line 6: the turn from 10 to 12 stands .*line 4"),
        ("turns.csv", "lights", "left", r"line 1: found the column left; .*rename or remove it"),
        ("turns.csv", "lights", "length", r"line 1: found the column length; .*rename"),
        ("turns.csv", "lights", "a*b", r"line 1: found the column a\*b; .*rename"),
        ("turns.csv", "1.5,1,2", "1.5,1,two", r"line 6: found two in the column lights; .*remove"),
        ("links.csv", "Side,2\n10", "Side,\n10", r"line 2: found nothing in the column class"),
        ("links.csv", "length", "from_x", r"coordinates from_x alone; expected from_x, from_y"),
        ("trips.csv", "1,99,2,10", "1,98,2,10", r"line 3: trip 1 has the destination 98, and 99"),
        ("trips.csv", "10,5,2", "10,6,2", r"line 3: trip 1 has the traveller 6, and 5 on line 2"),
        ("trips.csv", "10,5,2", "10,5,3", r"line 3: trip 1 has the weight 3, and 2 on line 2"),
        ("trips.csv", "1,99,2,10", "1,99,1,10", r"line 3: trip and position 1 to 1 stands"),
        ("trips.csv", "6,0.5", "6,0", r"line 5: the weight is 0; expected a number above 0"),
        ("trips.csv", "6,0.5", "6,heavy", r"line 5: found heavy in the column weight"),
        ("trips.csv", ",6,", ",,", r"line 5: found no traveller"),
        ("trips.csv", "2,99,2,12,6", "2,99,2,12,", r"trip 2 has the traveller nothing, and 6 on"),
        ("trips.csv", "weight", "Weights", r"line 1: found the column Weights; expected weight"),
        ("trips.csv", "99", "97", r"line 4: trip 1 goes to the unknown destination 97"),
        ("links.csv", "13,", "9223372036854775808,", r"line 5: found 9223372036854775808 in the"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(folder, name, old, new, message):
    assert old in (folder / name).read_text()
    replace_in(folder / name, old, new)
    with pytest.raises(InvalidInputError, match=message) as error:
        load_csv(folder, "radians")
    assert str(folder / name) in str(error.value)
    assert "\n" not in str(error.value)


def test_the_same_number_may_be_written_in_two_ways(folder):
    replace_in(folder / "trips.csv", "1,99,2,10,5,2", "1,99.0,2,10,5,2.0")
    assert load_csv(folder, "radians")[1].weights.tolist() == [2.0, 0.5, 1.0]


def test_degrees_are_an_option(folder):
    before = boirl.load_road_network(folder)[0]
    for radians, degrees in (("3.14", "179.9"), ("-1.5", "-85.94"), ("1.5", "85.94")):
        replace_in(folder / "turns.csv", f",{radians}", f",{degrees}")
    network, _ = boirl.load_road_network(folder, angles="degrees")
    np.testing.assert_allclose(network.angles, before.angles, atol=1e-2)
    np.testing.assert_array_equal(network.features, before.features)
    with pytest.raises(InvalidInputError, match="angles='degrees'"):
        boirl.load_road_network(folder)


def test_a_byte_order_mark_is_read(folder):
    for name in CSV_FILES:
        path = folder / name
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_csv(folder, "radians")[0].n_links == 4
