"""Running cells: once each, kept as they finish, several at a time."""

import pytest

from boirl.errors import BoirlError
from boirl.reproduction.cells import run_cells
from boirl.reproduction.store import Cell, Store


def make(seed, calls=None, fail=False):
    def run():
        if calls is not None:
            calls.append(seed)
        if fail:
            raise BoirlError("no luck")
        return {"rows": [{"square": seed**2}]}

    return Cell("square", {"seed": seed}, {}, run)


def test_finished_cells_are_not_run_again(tmp_path):
    calls: list[int] = []
    run_cells(Store(tmp_path), [make(1, calls), make(1, calls)])
    run_cells(Store(tmp_path), [make(1, calls), make(2, calls)])
    assert calls == [1, 2]


def test_an_interrupt_keeps_what_is_finished(tmp_path):
    def interrupt():
        raise KeyboardInterrupt

    cells = [make(1), Cell("square", {"seed": 2}, {}, interrupt), make(3)]
    with pytest.raises(KeyboardInterrupt):
        run_cells(Store(tmp_path), cells)
    assert [row["seed"] for row in Store(tmp_path).table("rows")] == [1]


def test_a_failure_names_its_cell_and_the_others_are_kept(tmp_path):
    with pytest.raises(BoirlError, match=r"1 of 3 cells failed.*square 2 \(no luck\)"):
        run_cells(Store(tmp_path), [make(1), make(2, fail=True), make(3)])
    assert [row["seed"] for row in Store(tmp_path).table("rows")] == [1, 3]


def test_several_processes_make_the_same_files(tmp_path):
    counts: list[tuple[int, int]] = []
    cells = [make(seed) for seed in range(4)]
    run_cells(Store(tmp_path / "one"), cells)
    run_cells(Store(tmp_path / "two"), cells, 2, lambda done, total: counts.append((done, total)))
    one, two = ((tmp_path / name / "rows.csv.gz").read_bytes() for name in ("one", "two"))
    assert one == two
    assert counts == [(done, 4) for done in range(5)]
