"""A small version of the searches on recorded trips, on generated towns."""

import json

import numpy as np
import pytest

import boirl
from boirl.domains.roads.files import Trips
from boirl.domains.roads.recursive_logit import recursive_logit_problem
from boirl.domains.roads.town import generate_town
from boirl.experiments import borlange_trips, run_experiment
from boirl.results import RewardSet

TRUTH = (-2.0, -1.0, -1.0, -5.0)


@pytest.fixture(scope="module")
def problems():
    """Small towns in place of both problems."""
    town = generate_town(80, seed=1)
    rng = np.random.default_rng(0)
    anything = Trips(np.zeros(1, int), (town.feeders(0)[:1],))
    policy = recursive_logit_problem(town, anything).policy(TRUTH)
    drawn = policy.sample(rng.permutation(town.n_links)[:20], 40, rng)
    links = [states[states < town.n_links] for states, _, _ in drawn]
    logit = recursive_logit_problem(town, Trips(np.zeros(len(links), int), tuple(links)))
    tabular = boirl.load_problem("road-network", n_links=120, n_demonstrations=40)
    return {"borlange-real": tabular, "borlange-recursive-logit": logit}


def test_the_real_trips_are_reported_with_groups_maps_and_files(problems, tmp_path, monkeypatch):
    asked = []

    def load_problem(name, **options):
        asked.append((name, options))
        return problems[name]

    monkeypatch.setattr(borlange_trips, "load_problem", load_problem)
    options = {"evaluations": 5, "seeds": (1000,), "data": "somewhere"}
    lines = run_experiment("borlange-trips", tmp_path, options)
    assert [line["problem"] for line in lines] == list(problems)
    assert asked == [(name, {"data": "somewhere"}) for name in problems]
    for name, problem in problems.items():
        folder = tmp_path / name / "seed-1000"
        report = json.loads((folder / "report.json").read_text())
        assert report["evaluations"] == 5
        assert report["trips"] == len(problem.demonstrations)
        assert report["groups"][0]["nll"] == report["best_nll"]
        for file in ("rewards.npz", "search.db", "trips.png", "visits.png", "landscape.png"):
            assert (folder / file).stat().st_size > 1000
        found = RewardSet.load(folder / "rewards.npz")
        assert found.best_nll == report["best_nll"]
        assert (
            report["within_likelihood_ratio"]
            == found.within(report["likelihood_ratio_tolerance"], absolute=True).tolist()
        )
    assert "published" not in json.loads(
        (tmp_path / "borlange-real" / "seed-1000" / "report.json").read_text()
    )
    logit = problems["borlange-recursive-logit"]
    expected = logit.evaluate(borlange_trips.PUBLISHED["borlange-recursive-logit"]).nll
    assert lines[1]["published"] == f"{expected:.5f}"
    assert lines[0]["below maximum"] == "-"
    assert float(lines[1]["below maximum"]) >= 0.0


def test_posteriors_are_compared_with_classical_intervals():
    problem = boirl.load_problem("gridworld2d", bellman="logsumexp")
    found = boirl.explore(problem, evaluations=20, seed=1000)
    compared = borlange_trips.compare_with_classical(found)
    assert compared["best_below_maximum"] == pytest.approx(0.0, abs=0.1)
    assert len(compared["widths"]) == len(compared["centres"]) == 2
    total = len(problem.demonstrations) * found.best_nll
    assert compared["log_likelihood"] == pytest.approx(-total, abs=0.1)


def test_an_interrupted_search_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(borlange_trips, "save_pictures", lambda found, folder: None)
    town = {"road-network": {"n_links": 120, "n_demonstrations": 10}}
    borlange_trips.run(tmp_path, evaluations=2, seeds=(0,), problems=town)
    path = tmp_path / "road-network" / "seed-0" / "rewards.npz"
    before = RewardSet.load(path).thetas
    (row,) = borlange_trips.run(tmp_path, evaluations=3, seeds=(0,), problems=town)
    assert row["evaluations"] == 3
    np.testing.assert_array_equal(RewardSet.load(path).thetas[:2], before)
