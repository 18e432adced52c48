"""Searches in the maze: their summary, and one small run."""

import json
import math

import numpy as np
import pytest

from boirl.errors import InvalidInputError
from boirl.experiments import EXPERIMENTS, maze_search, run_experiment
from tests.experiments.pulled_maze import TRUTH, pulled_maze

pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")


def lines(rows):
    columns = EXPERIMENTS["maze-search"].columns
    return [{head: show(row) for head, show in columns.items()} for row in rows]


def maze_row(hit, nll, distance, esor, seconds=10.0):
    return {
        "method": "rho-rbf",
        "evaluations_to_expert": hit,
        "nll": nll,
        "distance": distance,
        "best_esor": esor,
        "expert_esor": -2.0,
        "seconds": seconds,
    }


def test_searches_in_the_maze_are_summed_up_over_those_that_reach_the_expert():
    rows = [
        maze_row(4, [900.0, 30.0, 20.0], [1.0, 0.5, 0.1], -2.0, seconds=10.0),
        maze_row(10, [700.0, 40.0, 60.0], [1.0, 0.3, 0.3], -2.5, seconds=20.0),
        maze_row(None, [800.0, 90.0, 95.0], [1.0, 0.8, 0.8], -6.0, seconds=60.0),
    ]
    found = maze_search.summarise(rows)
    assert found == {
        "method": "rho-rbf",
        "trials": 3,
        "reached": pytest.approx(2 / 3),
        "after_mean": 7.0,
        "after_sd": 3.0,
        "best_nll": 50.0,
        "distance": pytest.approx(0.4),
        "esor_share": pytest.approx(1.75),
        "seconds": 30.0,
    }
    (line,) = lines([found])
    assert (line["reached"], line["after"], line["best NLL"]) == ("67%", "7.0 ± 3.0", "50.0")


def test_a_method_that_never_reaches_the_expert_has_no_mean():
    found = maze_search.summarise([maze_row(None, [9.0], [1.0], -6.0)])
    assert (found["reached"], found["after_mean"], found["after_sd"]) == (0.0, None, None)
    assert lines([found])[0]["after"] == "-"


def test_failed_evaluations_are_not_the_best_nll():
    failed = [math.nan, 3.0, 2.0]
    assert maze_search.summarise([maze_row(1, failed, [0.1] * 3, -2.0)])["best_nll"] == 2.0


def test_a_small_search_in_the_maze(tmp_path, monkeypatch):
    monkeypatch.setattr(maze_search, "load_problem", lambda name, steps: pulled_maze())
    options = {"methods": ["rho-rbf", "random"], "seeds": [0], "evaluations": 4}
    small = {**options, "steps": 500, "hard_nll": 25.0}
    done = []
    lines = run_experiment("maze-search", tmp_path, small, lambda *one: done.append(one))
    assert [line["method"] for line in lines] == ["rho-rbf", "random"]
    assert done == [(1, 2), (2, 2)]
    problem = pulled_maze()
    for row in json.loads((tmp_path / "trials.json").read_text()):
        assert len(row["nll"]) == len(row["thetas"]) == len(row["distance"]) == 4
        assert row["nll"][0] > 25.0
        assert row["problem"] == problem.fingerprint()
        best = row["thetas"][int(np.argmin(row["nll"]))]
        assert row["distance"][-1] == pytest.approx(np.linalg.norm(np.subtract(best, TRUTH)))
        assert row["best_esor"] == pytest.approx(problem.esor(best))
        assert row["expert_esor"] == pytest.approx(problem.esor(TRUTH))
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary[0]["trials"] == 1
    # What is finished is not run again.
    monkeypatch.setattr("boirl.experiments.trials.explore", None)
    assert run_experiment("maze-search", tmp_path, small) == lines


def test_a_method_that_does_not_exist_is_refused_before_anything_is_learned(tmp_path):
    with pytest.raises(InvalidInputError, match="there is no method nosuch; expected some of rho"):
        run_experiment("maze-search", tmp_path, {"methods": ["nosuch"]})
