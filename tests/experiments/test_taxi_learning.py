"""Learning from recovered rewards: what is noted, and what is refused."""

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.experiments import run_experiment, taxi_learning


def test_summaries_note_returns_where_there_are_any():
    row = {
        "method": "cr-irl",
        "driver": "careful",
        "iterations": 31,
        "trips": 5,
        "seed": 0,
        "driver_return": 7.9,
        "nll": 1.0,
        "returns": np.arange(32.0).tolist(),
        "set_spread": 0.1,
    }
    line = taxi_learning.summarise([row, {**row, "returns": (2.0 + np.arange(32.0)).tolist()}])
    assert line["after"] == {"30": [31.0, 1.0]}
    assert line["set_spread"] == pytest.approx(0.1)
    shown = {name: show(line) for name, show in taxi_learning.EXPERIMENT.columns.items()}
    assert shown["after 30"] == "31.0 ± 1.0"
    assert shown["after 150"] == "-"
    assert shown["apart"] == "-"


def test_wrong_names_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="no method birl; expected some of true reward"):
        run_experiment("taxi-learning", tmp_path, {"methods": ["birl"]})
    with pytest.raises(InvalidInputError, match="no driver drunk; expected some of careful"):
        run_experiment("taxi-learning", tmp_path, {"problems": ["drunk"]})
