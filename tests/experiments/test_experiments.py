"""Experiments by name."""

from dataclasses import replace
from typing import Any

import pytest

from boirl.errors import InvalidInputError
from boirl.experiments import EXPERIMENTS, find_experiment, run_experiment
from boirl.experiments.trials import Experiment


def test_unknown_experiments_are_refused_and_the_known_ones_listed(tmp_path):
    with pytest.raises(InvalidInputError, match=r"expected one of .*many-parameters, shaping"):
        run_experiment("nosuch", tmp_path, {})


def test_an_option_that_an_experiment_does_not_take_is_named(tmp_path):
    with pytest.raises(InvalidInputError, match="takes no demonstrations; expected some of data"):
        run_experiment("borlange-trips", tmp_path, {"demonstrations": "x.npz"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["maze-noise", "fetch-solvers"])
def test_experiments_without_methods_refuse_them(name, tmp_path):
    with pytest.raises(InvalidInputError, match=f"'{name}' takes no methods"):
        run_experiment(name, tmp_path, {"methods": ["rbf"]})


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_takes_seeds(name):
    experiment = find_experiment(name, {"seeds": (0,)})
    assert experiment is EXPERIMENTS[name]
    assert all(callable(show) for show in experiment.columns.values())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_tiny_options_are_options_of_the_experiment(name):
    tiny = EXPERIMENTS[name].tiny
    assert find_experiment(name, tiny) is EXPERIMENTS[name]
    # Settings were tuned on the first seeds.
    assert min(tiny["seeds"]) >= 1000


def test_options_come_before_those_of_the_tiny_run(tmp_path, monkeypatch):
    seen = {}
    experiment = replace(EXPERIMENTS["shaping"], run=lambda **options: seen.update(options) or [])
    experiment = replace(experiment, tiny={"seeds": [1000], "evaluations": 2})
    monkeypatch.setitem(EXPERIMENTS, "own", experiment)
    monkeypatch.setattr("boirl.experiments.find_experiment", lambda name, options: experiment)
    run_experiment("own", tmp_path, {"seeds": [7]}, tiny=True)
    assert (seen["seeds"], seen["evaluations"]) == ([7], 2)
    seen.clear()
    run_experiment("own", tmp_path, {"seeds": [7]})
    assert "evaluations" not in seen


def test_rows_are_printed_by_column(tmp_path, monkeypatch):
    seen: dict[Any, Any] = {}

    def run(out, on_trial, seeds=(0,)):
        seen.update(out=out, seeds=seeds)
        on_trial(1, 1)
        return [{"value": 0.25}]

    experiment = Experiment(run, {"share": lambda row: f"{row['value']:.0%}"}, tiny={})
    monkeypatch.setitem(EXPERIMENTS, "own", experiment)
    done = []
    found = run_experiment("own", tmp_path, {"seeds": (7,)}, lambda *one: done.append(one))
    assert found == [{"share": "25%"}]
    assert seen == {"out": tmp_path, "seeds": (7,)}
    assert done == [(1, 1)]
