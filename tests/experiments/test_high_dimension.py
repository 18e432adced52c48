"""Many parameters: gaps are shares of what chance is above the optimum."""

import pytest

from boirl.errors import InvalidInputError
from boirl.experiments import high_dimension, run_experiment


def test_gaps_are_noted_where_there_are_evaluations():
    names = dict(zip(high_dimension.KEY, ("random", 50, 30, 1), strict=True))
    row = {**names, "evidence": "values", "gap": [1.0] * 29 + [0.5], "cpu_seconds": 2.0}
    line = high_dimension.summarise([row, {**row, "gap": [1.0] * 29 + [0.3]}])
    assert line["gap"] == {"30": pytest.approx(0.4)}
    assert line["worst_gap"] == 0.5
    shown = {name: show(line) for name, show in high_dimension.EXPERIMENT.columns.items()}
    assert (shown["after 30"], shown["after 60"]) == ("40.00%", "-")


def test_wrong_methods_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="no method birl; expected some of descents"):
        run_experiment("high-dimension", tmp_path, {"methods": ["birl"]})
