"""Batches: rounds and evaluations are counted apart."""

from boirl.experiments import batches


def test_rounds_count_batches():
    names = dict(zip(batches.KEY, ("mdp-few", "values", 2, 4, 1), strict=True))
    row = {**names, "regret": [9.0, 9.0, 0.5, 0.5], "cpu_seconds": 0.1}
    line = batches.summarise([row])
    assert line["within_1"]["after_mean"] == 3
    assert line["rounds_within_1"]["after_mean"] == 2
    shown = {name: show(line) for name, show in batches.EXPERIMENT.columns.items()}
    assert shown["rounds"] == "2.0"
    never = batches.summarise([{**row, "regret": [9.0] * 4}])
    assert batches.EXPERIMENT.columns["rounds"](never) == "-"
