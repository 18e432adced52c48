"""Reading records of buses: what is right is read, what is wrong is named with its line."""

import numpy as np
import pytest

from boirl.domains.bus_engines.records import read_buses
from boirl.errors import InvalidInputError


def test_lines_become_records(folder):
    records = read_buses(folder)
    assert records.buses.tolist() == [1, 1, 1, 1, 2, 2]
    assert records.bins.tolist() == [0, 1, 3, 0, 0, 1]
    assert records.replaced.tolist() == [0, 0, 1, 0, 0, 0]
    assert repr(records) == "BusRecords(2 buses, 6 months, 1 replacements)"


def test_rises_are_counted_from_0_after_a_replacement(folder):
    np.testing.assert_allclose(read_buses(folder).increments, [0.25, 0.5, 0.25])
    np.testing.assert_allclose(read_buses(folder).of_group(3).increments, [0.0, 1.0, 0.0])


def test_every_bus_is_a_demonstration(folder):
    first, second = read_buses(folder).demonstrations()
    assert first.states.tolist() == [0, 1, 3, 0]
    assert first.actions.tolist() == [0, 0, 1, 0]
    assert second.states.tolist() == [0, 1]


def test_an_unknown_group_is_named(folder):
    with pytest.raises(InvalidInputError, match="no group 7 of buses; expected one of 3, 4"):
        read_buses(folder).of_group(7)


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (1, "group,bus,month,bin", "line 1: found the columns group, bus, month, bin; expected"),
        (3, "4,1,2,7.0,1", r"line 3: found '4,1,2,7.0,1'; expected 6 numbers .*: complete"),
        (3, "4,1,2,7.0,one,0", r"line 3: found '4,1,2,7.0,one,0'; expected 6 numbers"),
        (3, "4,1,2,nan,1,0", r"line 3: found '4,1,2,nan,1,0'; expected 6 numbers"),
        (3, "4,1,2,7.0,1.5,0", r"line 3: bin is 1.5; expected a whole number"),
        (3, "4,1,2,7.0,90,0", r"line 3: bin is 90; expected a whole number from 0 to 89: count"),
        (3, "4,1,2,7.0,1,2", r"line 3: replaced is 2; expected 0 or 1: write 1"),
        (2, "4,1,1,-3.5,0,0", r"line 2: mileage_thousands is -3.5; expected 0 or more"),
        (2, "4,1,5,3.5,0,0", r"line 2: bus 1 starts with month 5; expected month 1"),
        (3, "4,1,3,7.0,1,0", r"line 3: bus 1 has month 3 after month 1; expected month 2: sort"),
        (3, "3,1,2,7.0,1,0", r"line 3: bus 1 is in group 3 and was in group 4; expected one"),
        (3, "4,1,2,2.0,1,0", r"line 3: the mileage of bus 1 falls from 3.5 to 2; expected"),
        (
            4,
            "4,1,3,16.5,4,1",
            r"line 4: bus 1 is in bin 4 in the month after bin 1; expected",
        ),
        (5, "4,1,4,17.5,3,0", r"line 5: bus 1 is in bin 3 in the month after a replacement"),
        (7, "4,1,5,17.5,0,0", r"line 7: bus 1 appears again after other buses; expected all"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(folder, line, text, message):
    path = folder / "buses.csv"
    lines = path.read_text().splitlines()
    lines[line - 1] = text
    path.write_text("\n".join(lines))
    with pytest.raises(InvalidInputError, match=message) as raised:
        read_buses(folder)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_files_that_are_none_are_named(folder, tmp_path):
    (folder / "buses.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInputError, match="not a text file"):
        read_buses(folder)
    for content, message in (("", "found the columns none"), ("\n", "found the columns none")):
        (folder / "buses.csv").write_text(content)
        with pytest.raises(InvalidInputError, match=message):
            read_buses(folder)
    (folder / "buses.csv").write_text("group,bus,month,mileage_thousands,bin,replaced\n")
    with pytest.raises(InvalidInputError, match="has no records"):
        read_buses(folder)
    with pytest.raises(InvalidInputError, match=r"could not be read .*boirl data bus-engines"):
        read_buses(tmp_path / "nowhere")


def test_one_month_says_nothing_of_rises(folder):
    lines = (folder / "buses.csv").read_text().splitlines()
    (folder / "buses.csv").write_text("\n".join(lines[:2]))
    with pytest.raises(InvalidInputError, match="no bus has two months"):
        _ = read_buses(folder).increments


def test_the_recorded_buses(recorded):
    records = read_buses(recorded)
    assert repr(records) == "BusRecords(104 buses, 8260 months, 60 replacements)"
    group = records.of_group(4)
    assert len(group.bins) == 4329
    assert len(group.demonstrations()) == 37
    np.testing.assert_allclose(group.increments, [0.39841566, 0.58876980, 0.01281454], atol=5e-9)
