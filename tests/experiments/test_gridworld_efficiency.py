"""How soon searches on Gridworld reach the expert: a small run, and its summary."""

import json

import numpy as np
import pytest

import boirl
from boirl.experiments import EXPERIMENTS, gridworld_efficiency, run_experiment
from boirl.experiments.trials import hard_start
from boirl.metrics import evaluations_to_expert


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a small run, and its lines."""
    out = tmp_path_factory.mktemp("gridworld-efficiency")
    return out, run_experiment("gridworld-efficiency", out, {}, tiny=True)


def test_every_method_has_a_line(finished):
    out, lines = finished
    assert [line["method"] for line in lines] == ["rho-rbf", "random"]
    summary = json.loads((out / "summary.json").read_text())
    assert [line["trials"] for line in summary] == [1, 1]


def test_a_search_beats_random_evaluations(finished):
    search, random = json.loads((finished[0] / "trials.json").read_text())
    assert search["evaluations_to_expert"] is not None
    assert search["best_nll"] < random["best_nll"]
    assert search["rmse"] < random["rmse"]


def test_trials_are_searches_from_hard_starts(finished, gridworld):
    rows = json.loads((finished[0] / "trials.json").read_text())
    start = hard_start(gridworld, 1000, gridworld_efficiency.HARD_NLL)
    found = boirl.explore(
        gridworld, 5, seed=1000, initial=[start], kernel="rbf", acquisition="random"
    )
    row = rows[1]
    assert row["initial_nll"] == found.nll[0] > gridworld_efficiency.HARD_NLL
    assert row["best_nll"] == found.best_nll
    assert row["evaluations_to_expert"] == evaluations_to_expert(found)
    assert row["landscape_at"] == 5
    assert 0.0 <= row["coverage"] <= 1.0


def test_finished_trials_are_not_run_again(finished, monkeypatch):
    out, lines = finished
    monkeypatch.setattr(gridworld_efficiency, "explore", None)
    assert run_experiment("gridworld-efficiency", out, {}, tiny=True) == lines


def test_other_demonstrations_may_be_given(tmp_path, gridworld, monkeypatch):
    monkeypatch.setattr(gridworld_efficiency, "HARD_NLL", 30.0)
    fewer = gridworld.demonstrations.subset(range(10))
    fewer.save(tmp_path / "fewer.npz")
    options = {"methods": ("random",), "seeds": (0,), "evaluations": 2}
    run_experiment(
        "gridworld-efficiency",
        tmp_path / "out",
        {**options, "demonstrations": tmp_path / "fewer.npz"},
    )
    (row,) = json.loads((tmp_path / "out" / "trials.json").read_text())
    assert row["problem"] == gridworld.with_demonstrations(fewer).fingerprint()


def test_means_are_of_the_trials_that_got_there():
    def row(expert, demonstrations, rmse):
        return {
            "method": "rbf",
            "evaluations_to_expert": expert,
            "evaluations_to_demonstrations": demonstrations,
            "rmse": rmse,
            "coverage": 0.5,
        }

    line = gridworld_efficiency.summarise([row(3, None, 1.0), row(5, None, 3.0), row(None, 9, 2.0)])
    assert line["evaluations_to_expert_success"] == pytest.approx(2 / 3)
    assert (line["evaluations_to_expert_mean"], line["evaluations_to_expert_sd"]) == (4.0, 1.0)
    assert line["evaluations_to_demonstrations_mean"] == 9.0
    assert line["rmse"] == np.mean([1.0, 3.0, 2.0])
    columns = EXPERIMENTS["gridworld-efficiency"].columns
    assert columns["after"](line) == "4.0 ± 1.0"
    never = gridworld_efficiency.summarise([row(None, None, 1.0)])
    assert (columns["reached"](never), columns["after"](never)) == ("0%", "-")
