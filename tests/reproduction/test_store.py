"""Result files: tidy, typed, and the same whichever cell comes first."""

import gzip
import json

import pytest

from boirl.errors import StorageError
from boirl.reproduction.store import CELLS, Cell, Store, rounded


def cell(seed, rows=({"nll": 1.5},), **settings):
    tables = {"trials": [dict(row) for row in rows]}
    return Cell("trial", {"method": "rbf", "seed": seed}, settings, lambda: tables)


def put(store, one, seconds=1.0):
    store.add(one, one.run(), seconds)


def test_rows_come_back_as_they_went_in(tmp_path):
    row = {"hit": None, "nll": 1.25, "count": 3, "ok": True, "text": "a, b", "lost": float("inf")}
    put(Store(tmp_path), cell(0, [row]))
    assert Store(tmp_path).table("trials") == [{"method": "rbf", "seed": 0, **row}]


def test_cells_carry_settings_versions_and_seconds(tmp_path):
    put(Store(tmp_path), cell(0, budget=4), 2.0)
    (row,) = Store(tmp_path).table(CELLS)
    assert json.loads(row["settings"]) == {"budget": 4}
    assert json.loads(row["key"]) == {"method": "rbf", "seed": 0}
    assert row["seconds"] == 2.0
    assert {"python", "boirl", "numpy", "torch"} <= set(row)


def test_a_cell_counts_as_done_with_the_same_settings_alone(tmp_path):
    store = Store(tmp_path)
    put(store, cell(0, budget=4))
    assert store.has(cell(0, budget=4))
    assert not store.has(cell(0, budget=5))
    assert not store.has(cell(1, budget=4))


def test_a_cell_that_is_run_again_replaces_its_rows(tmp_path):
    store = Store(tmp_path)
    put(store, cell(1))
    put(store, cell(0, [{"nll": 1.0}, {"nll": 2.0}]))
    put(store, cell(0, [{"nll": 7.0}], budget=9))
    assert [row["nll"] for row in store.select("trials", seed=0)] == [7.0]
    assert len(store.table(CELLS)) == 2


def test_files_do_not_depend_on_the_order_of_cells(tmp_path):
    for folder, order in (("one", (0, 2, 10)), ("other", (10, 0, 2))):
        store = Store(tmp_path / folder)
        for seed in order:
            put(store, cell(seed))
    one, other = (tmp_path / name / "trials.csv.gz" for name in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()
    assert [row["seed"] for row in Store(tmp_path / "one").table("trials")] == [0, 2, 10]


def test_a_damaged_file_is_reported(tmp_path):
    (tmp_path / "trials.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2,3\n"))
    with pytest.raises(StorageError, match=r"trials.csv.gz' has lines longer than its heading"):
        Store(tmp_path).table("trials")
    (tmp_path / "trials.csv.gz").write_text("a,b\n1,2\n")
    with pytest.raises(StorageError, match=r"trials.csv.gz'"):
        Store(tmp_path).table("trials")


def test_numbers_of_large_tables_are_rounded():
    assert rounded(123.456789) == 123.457
    assert rounded(0.000123456, 3) == 0.000123
