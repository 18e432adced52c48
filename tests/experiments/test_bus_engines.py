"""Two stories of bus engines: intervals of a search, and a summary that can be resumed."""

import json

import numpy as np
import pytest

import boirl
from boirl.domains.bus_engines.made_up import make_up_buses
from boirl.domains.bus_engines.problem import bus_engine_problem
from boirl.experiments import bus_engines, run_experiment
from boirl.experiments.bus_engines import likelihood_ratio_intervals, profile_intervals


@pytest.fixture(scope="module")
def problem():
    return bus_engine_problem(make_up_buses(20, 60, seed=1000))


class KnowsExactly:
    """A search that is never wrong."""

    def __init__(self, problem, best_nll):
        self.problem, self.best_nll = problem, best_nll

    def predict_nll(self, thetas):
        return self.problem.nll_batch(thetas), None


def test_intervals_of_the_exact_landscape_are_the_classical_ones(problem, monkeypatch):
    monkeypatch.setattr(bus_engines, "GRID", 17)
    monkeypatch.setattr(bus_engines, "ZOOMS", 3)
    estimate = boirl.maximum_likelihood(problem)
    found = likelihood_ratio_intervals(KnowsExactly(problem, estimate.nll))
    classical = profile_intervals(estimate)
    widths = (classical[:, 1] - classical[:, 0])[:, None]
    np.testing.assert_allclose((found - classical) / widths, 0.0, atol=0.05)


def test_an_interval_that_nothing_is_in_is_a_point():
    axis = np.array([0.0, 1.0, 2.0])
    assert bus_engines._crossings(axis, np.array([3.0, 1.0, 2.0])) == (1.0, 1.0)
    assert bus_engines._crossings(axis, np.array([1.0, -1.0, 3.0])) == (0.5, 1.25)
    assert bus_engines._crossings(axis, np.array([-1.0, -1.0, -1.0])) == (0.0, 2.0)


def test_both_stories_are_told_and_searches_are_kept(tmp_path, monkeypatch):
    searched = []

    def search(problem, story, box, evaluations, seed, classical):
        searched.append((story, box, seed))
        key = {"problem": problem.fingerprint(), "story": story, "box": box}
        return {**key, "evaluations": evaluations, "seed": seed, "close": seed == 1000}

    monkeypatch.setattr(bus_engines, "_search", search)
    options = {"evaluations": 2, "seeds": [1000, 1001], "made_up_buses": 10}
    options["searches"] = [("myopic", "usual")]
    lines = run_experiment("bus-engines", tmp_path, options)
    assert [line["story"] for line in lines] == ["far-sighted", "myopic"]
    assert [line["searches that agree"] for line in lines] == ["0 of 0", "1 of 2"]
    assert (tmp_path / "stories.png").stat().st_size > 10_000
    far, _ = json.loads((tmp_path / "summary.json").read_text())
    assert [one["price"] for one in far["prices"]] == list(bus_engines.PRICES)
    assert far["prices"][0]["months_needed"] > far["months_needed_without_refit"] * 0.999
    assert run_experiment("bus-engines", tmp_path, options) == lines
    assert searched == [("myopic", "usual", 1000), ("myopic", "usual", 1001)]
