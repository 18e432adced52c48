"""The text format of the Borlange data: numbering, repeated turns and angles."""

import numpy as np
import pytest

from boirl.domains.roads.text_files import load_text
from boirl.errors import InvalidInputError

from .test_files import TEXT_FILES, write


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("linkIncidence.txt", "2000000000 1 1", r"line 7: found link 2000000000 among 7 turns"),
        ("linkIncidence.txt", "9223372036854775807 1 1", r"line 7: found link 9223372036854775807"),
        ("linkIncidence.txt", "9223372036854775808 1 1", r"line 7: found 9223372036854775808 in"),
        ("linkIncidence.txt", "1 2000000000 1", r"line 7: found link 2000000000 among 7 turns"),
        ("linkIncidence.txt", "1 2 0", r"line 7: found 0 as what connects two links; expected 1"),
        ("linkIncidence.txt", "0 1 1", r"line 7: found link 0; expected links counted from 1"),
        ("linkIncidence.txt", "1 3 1", r"line 7: the turn from 1 to 3 stands in the file before"),
        ("linkIncidence.txt", "1 3", r"line 7: found '1 3'; expected 3 numbers"),
        ("ATTRIBUTEturnangles.txt", "1 3 90", r"line 6: the angle is 90; .*angles='degrees'"),
        ("observationsForEstimBAI.txt", "2 1 5\n2 2 9000000000", r"line 7: trip 2 uses an unknown"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, name, line, message):
    with (write(tmp_path, TEXT_FILES) / name).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InvalidInputError, match=message):
        load_text(tmp_path, "radians")


def test_angles_of_turns_that_there_are_not_are_left_out(tmp_path):
    before = load_text(write(tmp_path, TEXT_FILES), "radians")[0]
    with (tmp_path / "ATTRIBUTEturnangles.txt").open("a") as file:
        file.write("9223372036854775807 1 0.5\n2 9000000000 0.5\n2 4 0.5\n")
    np.testing.assert_array_equal(load_text(tmp_path, "radians")[0].angles, before.angles)


def test_a_network_without_a_destination_is_refused(tmp_path):
    write(tmp_path, TEXT_FILES)
    (tmp_path / "linkIncidence.txt").write_text("1 2 1\n2 1 1\n")
    with pytest.raises(InvalidInputError, match=r"holds no destination.* such as 3"):
        load_text(tmp_path, "radians")
