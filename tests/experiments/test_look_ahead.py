"""Looking ahead: what a line of the table says."""

import pytest

from boirl.errors import InvalidInputError
from boirl.experiments import look_ahead, run_experiment


def row(regret):
    names = dict(zip(look_ahead.KEY, ("mdp-few", "values", "log-ei", 3, 1), strict=True))
    return {**names, "regret": regret, "cpu_seconds": 0.5}


def test_lines_say_when_trials_came_close():
    line = look_ahead.summarise([row([10.0, 1.0, 0.01]), row([10.0, 10.0, 10.0])])
    shown = {name: show(line) for name, show in look_ahead.EXPERIMENT.columns.items()}
    assert shown["within 1"] == "50% after 2.0"
    assert shown["within 0.1"] == "50% after 3.0"
    assert line["log_regret"] == pytest.approx((-1.0 / 3.0 + 1.0) / 2.0)
    assert line["last_log_regret"] == pytest.approx((-2.0 + 1.0) / 2.0)


def test_wrong_methods_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="no method birl; expected some of log-ei"):
        run_experiment("look-ahead", tmp_path, {"methods": ["birl"]})
