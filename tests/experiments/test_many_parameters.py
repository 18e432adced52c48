"""A small version of the experiment on many parameters."""

import json

import numpy as np
import pytest

from boirl.baselines import BaselineRun
from boirl.cache import CACHE_VARIABLE
from boirl.evaluation import Evaluation
from boirl.experiments import EXPERIMENTS, many_parameters
from boirl.problem.catalogue import load_problem

FEW = {"n_terrains": 8, "side": 5, "n_demonstrations": 20}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


def test_the_optimum_is_below_the_truth_and_every_search(tmp_path, monkeypatch):
    monkeypatch.setattr(many_parameters, "GRADIENTS", 60)
    problem = load_problem("terrain", **FEW)
    lowest = many_parameters.optimum(problem)
    assert lowest <= problem.nll(problem.truth) + 1e-9
    rows = many_parameters.run(
        tmp_path / "out", ("rho-rbf", "random", "maxent"), (1000,), 10, problem_options=FEW
    )
    assert [row["method"] for row in rows] == ["rho-rbf", "random", "maxent"]
    assert all(row["above_worst"] >= -1e-6 for row in rows)
    assert rows[0]["above_mean"] < rows[1]["above_mean"]
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == rows


def test_the_optimum_is_computed_once(monkeypatch):
    problem = load_problem("terrain", **FEW)
    monkeypatch.setattr(many_parameters, "GRADIENTS", 5)
    lowest = many_parameters.optimum(problem)
    monkeypatch.setattr(many_parameters, "get", None)
    assert many_parameters.optimum(problem) == lowest


def test_failed_evaluations_do_not_hide_later_ones(monkeypatch):
    problem = load_problem("terrain", **FEW)
    nlls = (5.0, np.nan, 4.0)

    def explore(problem, evaluations, seed, **settings):
        found = [Evaluation(problem.truth, nll) for nll in nlls]
        return BaselineRun(problem, tuple(found), "scripted")

    monkeypatch.setattr(many_parameters, "explore", explore)
    monkeypatch.setattr(many_parameters, "optimum", lambda problem: 3.99)
    row = many_parameters.run_trial(problem, "random", 0, 3)
    np.testing.assert_allclose(row["above"], np.array([5.0, 5.0, 4.0]) / 3.99 - 1.0)
    assert many_parameters.summarise([row])["within"]["1.00%"]["after_mean"] == 3.0


def test_trials_are_summed_up():
    rows = [
        {"method": "rbf", "above": [0.5] * 19 + [0.02] * 2},
        {"method": "rbf", "above": [0.3] * 19 + [0.0] * 2},
    ]
    line = many_parameters.summarise(rows)
    assert (line["above_mean"], line["above_worst"]) == (0.01, 0.02)
    within = line["within"]["1.00%"]
    assert (within["reached"], within["after_mean"]) == (0.5, 20.0)
    shown = {head: show(line) for head, show in EXPERIMENTS["many-parameters"].columns.items()}
    assert (shown["above optimum"], shown["within 1.00% after"]) == ("1.0000%", "20.0 ± 0.0")


def test_terrain_has_one_parameter_per_kind():
    problem = load_problem("terrain")
    assert problem.box.dimension == 20
    assert np.isfinite(problem.nll(problem.truth))
