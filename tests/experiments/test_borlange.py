"""Small versions of the comparisons on roads, on generated towns."""

import json

import numpy as np
import pytest

import boirl
from boirl.environments.road_files import Trips
from boirl.environments.town import generate_town
from boirl.errors import InvalidInputError, StorageError
from boirl.experiments import borlange_search, borlange_trips, run_experiment
from boirl.problems.recursive_logit import recursive_logit_problem

TOWN = {"name": "road-network", "n_links": 150, "n_demonstrations": 40}


def search(out, **options):
    return borlange_search.run(
        out, problem_options=TOWN, boxes=("wide",), n_reference=200, **options
    )


def test_the_projection_finds_the_truth_and_knows_the_set(tmp_path):
    rows = search(tmp_path, methods=("rho-rbf", "random"), seeds=(20,), evaluations=24)
    line = {(row["design"], row["method"]): row for row in rows}
    assert line["search", "rho-rbf"]["excess_worst"] < 0.005
    assert line["search", "rho-rbf"]["excess_worst"] <= line["search", "random"]["excess_worst"]
    assert line["search", "rho-rbf"]["f1_worst"] > 0.85
    filling = {
        method: row["rmse_mean"] for (design, method), row in line.items() if "fill" in design
    }
    assert filling["rho-rbf"] < filling["rho-rbf, uniform"]
    assert filling["rho-rbf"] < filling["rbf"]


def test_finished_trials_are_kept_and_a_damaged_file_is_told(tmp_path, monkeypatch):
    options = {"methods": ("random",), "seeds": (0,), "evaluations": 3}
    monkeypatch.setattr(borlange_search, "SPACE_FILLING", {})
    first = search(tmp_path, **options)
    monkeypatch.setattr(borlange_search, "explore", None)
    told = []
    again = search(tmp_path, **options, on_trial=lambda done, total: told.append((done, total)))
    assert again == first
    assert told == [(1, 1)]
    (tmp_path / "trials.json").write_text("[{")
    with pytest.raises(StorageError, match="is damaged"):
        search(tmp_path, **options)


def test_the_real_trips_are_reported_with_groups_maps_and_files(tmp_path, monkeypatch):
    town = generate_town(80, seed=1)
    problem = boirl.load_problem(**{**TOWN, "n_links": 80})
    rng = np.random.default_rng(0)
    policy = recursive_logit_problem(town, Trips(np.zeros(1, int), (town.feeders(0)[:1],))).policy(
        (-2.0, -1.0, -1.0, -5.0)
    )
    starts = rng.permutation(town.n_links)[:20]
    drawn = policy.sample(starts, 40, rng)
    links = [states[states < town.n_links] for states, _, _ in drawn]
    logit = recursive_logit_problem(town, Trips(np.zeros(len(links), int), tuple(links)))
    problems = {"borlange-real": problem, "borlange-recursive-logit": logit}
    monkeypatch.setattr(borlange_trips, "load_problem", lambda name, data: problems[name])
    monkeypatch.setattr("boirl.plots.EXACT_SECONDS", 1.0)
    lines = run_experiment("borlange-trips", tmp_path, {"evaluations": 8})
    assert [line["problem"] for line in lines] == list(problems)
    for name in problems:
        folder = tmp_path / name / "seed-0"
        report = json.loads((folder / "report.json").read_text())
        assert report["evaluations"] == 8
        assert report["groups"][0]["nll"] == report["best_nll"]
        for file in ("rewards.npz", "search.db", "trips.png", "visits.png", "landscape.png"):
            assert (folder / file).stat().st_size > 1000


def test_an_option_that_an_experiment_does_not_take_is_named(tmp_path):
    with pytest.raises(InvalidInputError, match="takes no demonstrations; expected some of"):
        run_experiment("borlange-trips", tmp_path, {"demonstrations": "x.npz"})
