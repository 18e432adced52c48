"""Demonstrations in files of every form; `test_trajectories` has those of arrays alone."""

import json

import numpy as np
import pytest

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError

ROWS = [
    {"episode": 0, "step": 0, "state": 3, "action": 1},
    {"episode": 0, "step": 1, "state": 4, "action": 0},
    {"episode": 1, "step": 0, "state": 2, "action": 1},
]


def write(folder, form):
    path = folder / f"walks.{form}"
    if form == "csv":
        lines = [",".join(map(str, row.values())) for row in ROWS]
        path.write_text("\n".join([",".join(ROWS[0]), *lines]))
    elif form == "jsonl":
        path.write_text("\n".join(map(json.dumps, ROWS)))
    elif form == "parquet":
        arrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(arrow.Table.from_pylist(ROWS), path)
    else:
        Demonstrations.from_table(ROWS).save(path)
    return path


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "npz"])
def test_every_form_of_file_gives_the_same(tmp_path, form):
    read = Demonstrations.load(write(tmp_path, form))
    assert read.states.tolist() == [3, 4, 2]
    assert read.actions.tolist() == [1, 0, 1]
    assert read.lengths.tolist() == [2, 1]


def test_columns_are_for_tables_alone(tmp_path):
    with pytest.raises(InvalidInputError, match="holds arrays, which have no gaps"):
        Demonstrations.load(write(tmp_path, "npz"), gaps="split")
    assert len(Demonstrations.load(write(tmp_path, "csv"), gaps="split")) == 2


def test_other_files_are_refused_with_what_is_read(tmp_path):
    np.save(tmp_path / "walks.npy", np.zeros(3))
    with pytest.raises(InvalidInputError, match=r"ends in \.npy; expected .*\.csv.*\.npz"):
        Demonstrations.load(tmp_path / "walks.npy")
