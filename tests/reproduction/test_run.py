"""Compute what is missing, then draw from files."""

import pytest

from boirl.errors import InvalidInputError
from boirl.reproduction import ITEMS
from boirl.reproduction.plan import Plan
from boirl.reproduction.run import chosen_items, lines_of, redraw, reproduce, sole_writer


def test_names():
    assert list(chosen_items("figure3")) == ["figure3"]
    assert chosen_items("all") == ITEMS
    with pytest.raises(InvalidInputError, match="the paper has no 'figure99'; expected one of"):
        chosen_items("figure99")


def test_drawing_again_computes_nothing_and_leaves_files_alone(results):
    before = {path: path.read_bytes() for path in results.folder.glob("*.csv.gz")}
    (path,) = redraw(chosen_items("figure3"), results.folder)
    assert path == results.folder / "figures" / "figure3.png"
    assert {path: path.read_bytes() for path in results.folder.glob("*.csv.gz")} == before


def test_of_several_figures_those_that_can_be_drawn_are(results, tmp_path):
    (tmp_path / "roads.csv.gz").write_bytes((results.folder / "roads.csv.gz").read_bytes())
    written = redraw({name: ITEMS[name] for name in ("figure1", "figure4")}, tmp_path)
    assert [path.name for path in written] == ["figure4.png"]


def test_two_processes_do_not_write_to_one_folder(tmp_path):
    with sole_writer(tmp_path), pytest.raises(InvalidInputError, match="another process is"):
        reproduce(chosen_items("figure4"), tmp_path, Plan(quick=True))


def test_roads_are_laid_out_once(tmp_path):
    reproduce(chosen_items("figure4"), tmp_path, Plan(quick=True))
    before = (tmp_path / "cells.csv.gz").read_bytes()
    reproduce(chosen_items("figure4"), tmp_path, Plan(quick=True))
    assert (tmp_path / "cells.csv.gz").read_bytes() == before
    assert lines_of([ITEMS["figure4"]], tmp_path)
