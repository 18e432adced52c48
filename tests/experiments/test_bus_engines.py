"""Two stories of bus engines: intervals of a search, and a summary that can be resumed."""

import json

import pytest

from boirl.domains.bus_engines.made_up import make_up_buses
from boirl.domains.bus_engines.problem import bus_engine_problem
from boirl.experiments import bus_engines, run_experiment


@pytest.fixture(scope="module")
def problem():
    return bus_engine_problem(make_up_buses(20, 60, seed=1000))


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
