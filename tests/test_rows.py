"""Rows of files: exact whole numbers, columns by name, and lines in errors."""

import numpy as np
import pytest

from boirl.errors import InvalidInputError, StorageError
from boirl.files import LIMIT_VARIABLE
from boirl.rows import LARGEST, read_csv, read_text


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.csv"


def test_the_largest_whole_numbers_are_exact(path):
    path.write_text(f"a,b\n{LARGEST},2000000000\n{LARGEST - 1},10.0\n")
    rows = read_csv(path, ("a",))
    assert rows.whole("a").tolist() == [LARGEST, LARGEST - 1]
    assert rows.whole("b").tolist() == [2_000_000_000, 10]


@pytest.mark.parametrize("cell", [str(LARGEST + 1), "-1", "1.5", "x", "", "inf", "1e300"])
def test_what_is_no_whole_number_is_named(path, cell):
    path.write_text(f"a,b\n1,1\n{cell},1\n")
    found = cell or "nothing"
    with pytest.raises(
        InvalidInputError, match=rf"some.csv, line 3: found {found} in the column a"
    ):
        read_csv(path, ("a",)).whole("a")


@pytest.mark.parametrize("cell", ["nan", "inf", "x", ""])
def test_what_is_no_finite_number_is_named(path, cell):
    path.write_text(f"a,b\n0.5,1\n{cell},1\n")
    with pytest.raises(
        InvalidInputError, match=r"line 3: found .* in the column a; expected a fin"
    ):
        read_csv(path, ("a",)).numbers("a")


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_a_byte_order_mark_and_other_line_ends_are_read(path, start):
    path.write_bytes(start + b"a,b\r\n1,2\r\n\r\n3,4\r\n")
    rows = read_csv(path, ("a", "b"))
    assert rows.whole("a").tolist() == [1, 3]
    assert list(rows.lines) == [2, 4]
    path.write_bytes(start + b"1 2\n3 4\n")
    np.testing.assert_array_equal(read_text(path, ("a", "b")).numbers("b"), [2.0, 4.0])


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_cells_are_separated_as_the_header_shows(path, separator):
    path.write_text(separator.join(["a", "b"]) + "\n" + separator.join(["1", "x"]) + "\n")
    assert read_csv(path, ("a", "b")).cells == {"a": ["1"], "b": ["x"]}


def test_an_empty_file_is_named(path):
    path.write_text("")
    with pytest.raises(InvalidInputError, match="is empty; expected a header and rows"):
        read_csv(path, ())


def test_columns_without_a_name_are_left_out_and_labels_are_known(path):
    path.write_text(",a,street,mixed\n0,1,Main,1\n1,2,Side,x\n")
    rows = read_csv(path, ("a",))
    assert list(rows.cells) == ["a", "street", "mixed"]
    assert [rows.is_label(name) for name in rows.cells] == [False, True, False]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a;c\n1;2\n", "line 1: found the columns a, c; expected a, b"),
        ("a,c\n1,2\n", "line 1: found the columns a, c; expected a, b"),
        ("", "line 1: found the columns ; expected a, b"),
        ("a,b\n", "is empty; expected rows of 2 cells"),
        ("a,b,b\n1,2,3\n", "line 1: found the column b twice"),
        ("a,b\n1,2\n3\n", "line 3: found 1 cells; expected 2"),
        ("a,b\n1,2,3\n", "line 2: found 3 cells; expected 2"),
    ],
)
def test_files_that_do_not_fit_are_named(path, content, message):
    path.write_text(content)
    with pytest.raises(InvalidInputError, match=message) as error:
        read_csv(path, ("a", "b"))
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_other_encodings_are_refused(path):
    path.write_bytes("a,b\n1,2\n".encode("utf-16"))
    with pytest.raises(InvalidInputError, match=r"is not a text file in UTF-8 .*save it as such"):
        read_csv(path, ("a",))


def test_a_folder_in_place_of_a_file_is_named(tmp_path):
    with pytest.raises(InvalidInputError, match=r"could not be read .*directory.*expected a text"):
        read_text(tmp_path, ("a", "b"))


def test_a_cell_that_no_table_has_is_refused(path):
    path.write_text("a\n1\n" + "1" * 200_000 + "\n")
    with pytest.raises(InvalidInputError, match="line 3: field larger than field limit"):
        read_csv(path, ("a",))


@pytest.mark.parametrize("read", [read_csv, read_text])
def test_no_more_is_read_than_the_limit(path, read, monkeypatch):
    monkeypatch.setenv(LIMIT_VARIABLE, "1000")
    path.symlink_to("/dev/zero")
    with pytest.raises(StorageError, match="too large"):
        read(path, ("a",))
