"""A small version of the experiment on estimates in towns."""

import json

import numpy as np
import pytest

from boirl.experiments import EXPERIMENTS, town_estimates
from boirl.experiments.town_estimates import TRUTH

SMALL = {"n_links": 80, "n_trips": 150}


def test_a_town_has_trips_of_its_truth_and_its_seed():
    problem = town_estimates.build(1000, **SMALL)
    assert problem.box.names == tuple(TRUTH)
    assert len(problem.demonstrations) == 150
    assert problem.truth == tuple(TRUTH.values())
    assert np.linalg.norm(problem.gradient(problem.truth)) < 1.0
    prints = [town_estimates.build(seed, **SMALL).fingerprint() for seed in (1000, 1000, 1001)]
    assert prints[0] == prints[1] != prints[2]


def test_trials_are_kept_and_summed_up(tmp_path, monkeypatch):
    summary = town_estimates.run(tmp_path, (1000, 1001), **SMALL)
    assert [line["parameter"] for line in summary] == [*TRUTH, "all"]
    assert json.loads((tmp_path / "summary.json").read_text()) == summary
    monkeypatch.setattr(town_estimates, "build", None)
    assert town_estimates.run(tmp_path, (1000, 1001), **SMALL) == summary
    shown = {
        head: show(summary[-1]) for head, show in EXPERIMENTS["town-estimates"].columns.items()
    }
    assert shown["parameter"] == "all"


def row(off):
    return {
        "off": off,
        "theta": list(TRUTH.values()),
        "standard_errors": [0.1] * 5,
        "trips": 10,
        "links": 7,
        "converged": True,
        "seconds": 1.0,
        "cpu_seconds": 0.5,
    }


def test_coverage_counts_what_is_within():
    nan = float("nan")
    rows = [row([1.98, 0.0, 0.0, 2.1, nan]), row([-1.95, 0.0, 3.0, -2.1, 0.0])]
    lines = town_estimates.summarise(rows)
    assert [line["within_two_standard_errors"] for line in lines[:-1]] == [1.0, 1.0, 0.5, 0.0, 0.5]
    assert lines[0]["coverage_of_95_percent"] == 0.5
    assert lines[-1]["within_two_standard_errors"] == pytest.approx(0.6)
    assert lines[-1]["towns"] == 2
