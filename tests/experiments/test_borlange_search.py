"""A small version of the searches on roads, on a generated town."""

import json

import numpy as np
import pytest

from boirl.experiments import EXPERIMENTS, borlange_search
from boirl.problem.catalogue import load_problem

TOWN = {"name": "road-network", "n_links": 150, "n_demonstrations": 40}


def search(out, **options):
    return borlange_search.run(
        out, problem_options=TOWN, boxes=("wide",), n_reference=100, **options
    )


@pytest.fixture
def few_designs(monkeypatch):
    names = ("rho-rbf", "rho-rbf, uniform", "rbf")
    kept = {name: borlange_search.SPACE_FILLING[name] for name in names}
    monkeypatch.setattr(borlange_search, "SPACE_FILLING", kept)


def test_the_projection_finds_the_truth_and_knows_the_set(few_designs, tmp_path):
    rows = search(tmp_path, methods=("rho-rbf", "random"), seeds=(1000,), evaluations=14)
    line = {(row["design"], row["method"]): row for row in rows}
    assert line["search", "rho-rbf"]["excess_worst"] < 0.005
    assert line["search", "rho-rbf"]["f1_worst"] > 0.85
    # With three parameters, random thetas may come as close to the truth, but not know the set.
    assert line["search", "rho-rbf"]["f1_worst"] > line["search", "random"]["f1_worst"]
    filling = {
        method: row["rmse_mean"] for (design, method), row in line.items() if "fill" in design
    }
    assert filling["rho-rbf"] < filling["rho-rbf, uniform"]
    assert filling["rho-rbf"] < filling["rbf"]
    for show in EXPERIMENTS["borlange-search"].columns.values():
        assert all(show(row) for row in rows)


def test_finished_trials_are_kept(tmp_path, monkeypatch):
    options = {"methods": ("random",), "seeds": (0,), "evaluations": 3}
    monkeypatch.setattr(borlange_search, "SPACE_FILLING", {})
    first = search(tmp_path, **options)
    monkeypatch.setattr(borlange_search, "explore", None)
    done = []
    again = search(tmp_path, **options, on_trial=lambda *one: done.append(one))
    assert again == first
    assert done == [(1, 1)]
    assert json.loads((tmp_path / "summary.json").read_text()) == first


def test_exact_nlls_are_computed_once_per_problem(tmp_path, monkeypatch):
    problem = load_problem(**{**TOWN, "n_links": 120})
    path = tmp_path / "reference.npz"
    thetas, nll = borlange_search.reference(problem, path, 8)
    np.testing.assert_allclose(nll, problem.nll_batch(thetas))
    with monkeypatch.context() as patch:
        patch.setattr(type(problem), "nll_batch", None)
        np.testing.assert_array_equal(borlange_search.reference(problem, path, 8)[1], nll)
    assert len(borlange_search.reference(problem, path, 5)[1]) == 5
    other = load_problem(**{**TOWN, "n_links": 120, "seed": 1})
    assert not np.array_equal(borlange_search.reference(other, path, 5)[1], nll[:5])


def test_the_worst_of_a_measure_is_the_highest_error_and_the_lowest_share():
    row = {"box": "wide", "design": "search", "method": "rbf", "excess": 0.1, "f1": 0.9}
    rows = [{**row, "rmse": 2.0, "seconds": 1.0}, {**row, "f1": 0.5, "rmse": 4.0, "seconds": 3.0}]
    (line,) = borlange_search.summarise(rows)
    assert line["trials"] == 2
    assert (line["f1_mean"], line["f1_worst"]) == (0.7, 0.5)
    assert (line["rmse_mean"], line["rmse_worst"]) == (3.0, 4.0)
