"""Tables of any form: columns by name, empty cells, and where a row came from."""

import json

import numpy as np
import pytest

from boirl.errors import InvalidInputError, MissingExtraError, StorageError
from boirl.tables import read_table


def test_cells_of_a_csv_file_are_numbers_where_all_are(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_text("whole,real,mixed\n1,1.5,a\n2,,1\n")
    table = read_table(path)
    assert dict(table.columns) == {"whole": [1, 2], "real": [1.5, None], "mixed": ["a", "1"]}
    assert table.place(1) == f"{path}, line 3"


def test_empty_cells_are_none_in_every_form():
    for kind in ("pandas", "polars", "pyarrow"):
        module = pytest.importorskip(kind)
        build = module.table if kind == "pyarrow" else module.DataFrame
        table = read_table(build({"state": [1.0, None], "name": ["a", None]}))
        assert dict(table.columns) == {"state": [1.0, None], "name": ["a", None]}
    assert read_table({"state": np.array([1.0, np.nan])}).columns["state"] == [1.0, None]


def test_named_indices_and_lazy_tables_have_columns():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"episode": [0, 0], "step": [0, 1], "state": ["a", "b"]}
    indexed = pandas.DataFrame(columns).set_index(["episode", "step"])
    for table in (indexed, polars.DataFrame(columns).lazy(), pandas.DataFrame(columns)):
        assert read_table(table).columns == columns


def test_a_folder_is_all_its_files_in_order(tmp_path):
    for number in (1, 0):
        row = json.dumps({"episode_index": number})
        (tmp_path / "data" / f"chunk-{number}").mkdir(parents=True)
        (tmp_path / "data" / f"chunk-{number}" / "episodes.jsonl").write_text(f"{row}\n")
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "tasks.jsonl").write_text('{"task": "reach"}\n')
    table = read_table(tmp_path)
    assert table.columns == {"episode_index": [0, 1]}
    assert table.place(1).endswith("chunk-1/episodes.jsonl, line 1")


def test_a_number_that_is_none_is_named_with_its_place():
    table = read_table({"x": [1.0, "two"]})
    with pytest.raises(InvalidInputError, match="row 1 of the table: found 'two' in the column x"):
        table.numbers("x")
    with pytest.raises(InvalidInputError, match="has the columns x; expected one called 'y'"):
        table.numbers("y")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("lines.jsonl", "{}\nnothing", r"line 2: found no JSON"),
        ("lines.jsonl", "[" * 10**5, r"line 1: found no JSON \(maximum recursion depth"),
        ("lines.jsonl", "[1]", r"line 1: found a list; expected an object per line"),
        ("gone.csv", None, "there is no file"),
        ("table.xlsx", "", r"ends in \.xlsx; expected"),
        ("empty/", None, "holds no table"),
    ],
)
def test_files_that_are_no_tables_are_named(tmp_path, name, content, message):
    path = tmp_path / name
    if name.endswith("/"):
        path.mkdir()
    elif content is not None:
        path.write_text(content)
    with pytest.raises(InvalidInputError, match=message):
        read_table(path)


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(InvalidInputError, match="the columns have the lengths"):
        read_table({"a": [1], "b": [1, 2]})


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    (tmp_path / "large.csv").write_text("a\n1\n")
    monkeypatch.setenv("BOIRL_MAX_BYTES", "2")
    with pytest.raises(StorageError, match="more than 2 bytes"):
        read_table(tmp_path / "large.csv")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_what_has_no_end_is_not_read(tmp_path, monkeypatch, ending):
    # Devices say that they are empty.
    (tmp_path / f"endless.{ending}").symlink_to("/dev/zero")
    monkeypatch.setenv("BOIRL_MAX_BYTES", "1000")
    with pytest.raises(StorageError, match="too large"):
        read_table(tmp_path / f"endless.{ending}")


def test_parquet_files_need_an_extra(tmp_path, monkeypatch):
    (tmp_path / "steps.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'boirl\[tables\]'"):
        read_table(tmp_path / "steps.parquet")
