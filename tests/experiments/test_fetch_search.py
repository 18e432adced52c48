"""Searches with the arm: their summary, and one small run."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

from boirl.baselines import BaselineRun
from boirl.errors import InvalidInputError
from boirl.experiments import EXPERIMENTS, fetch_search, run_experiment
from tests.experiments.pulled_maze import Pull, pulled_maze

pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")


def lines(rows):
    columns = EXPERIMENTS["fetch-search"].columns
    return [{head: show(row) for head, show in columns.items()} for row in rows]


def fetch_row(success, success_of_mode, nll, seconds=10.0):
    return {
        "method": "rbf",
        "success": success,
        "success_of_mode": success_of_mode,
        "nll": nll,
        "seconds": seconds,
    }


def test_searches_with_the_arm_are_summed_up_early_and_at_the_end():
    grows = [0.1 * min(number, 9) for number in range(15)]
    late = [0.0] * 11 + [0.5] * 4
    found = fetch_search.summarise(
        [fetch_row(grows, grows, [3.0] * 14 + [1.0]), fetch_row(late, [1.0] * 15, [5.0] * 15)]
    )
    assert found == {
        "method": "rbf",
        "trials": 2,
        # After ten evaluations beyond the start.
        "success_by_10_worst": 0.0,
        "success_by_10_mean": pytest.approx(0.45),
        "success_worst": 0.5,
        "success_mean": pytest.approx(0.7),
        "success_of_mode_mean": pytest.approx(0.95),
        "best_nll": 3.0,
        "seconds": 10.0,
    }
    (line,) = lines([found])
    assert (line["success by 10"], line["worst"], line["at the end"]) == ("45%", "0%", "70%")


def test_a_short_search_with_the_arm_is_judged_by_its_last_evaluation():
    found = fetch_search.summarise([fetch_row([0.1, 0.3], [0.2, 0.4], [3.0, 2.0])])
    assert found["success_by_10_mean"] == found["success_mean"] == 0.3


def test_failed_evaluations_are_not_the_best_nll():
    failed = [math.nan, 3.0, 2.0]
    assert fetch_search.summarise([fetch_row([0.1] * 3, [0.1] * 3, failed)])["best_nll"] == 2.0


def test_a_method_that_does_not_exist_is_refused_before_anything_is_learned(tmp_path):
    with pytest.raises(InvalidInputError, match="there is no method nosuch; expected some of rho"):
        run_experiment("fetch-search", tmp_path, {"methods": ["nosuch"]})


@pytest.fixture
def small(monkeypatch):
    """The experiment in the maze, where an episode succeeds by how far right the target is."""
    monkeypatch.setattr(fetch_search, "load_problem", lambda name, tiny: pulled_maze())

    def success_rate(policy, episodes, seed, act):
        assert (episodes, seed) == (2, 0)
        right = 0.5 + 0.5 * float(policy.biases[0][0]) / 6.0
        return SimpleNamespace(at_end=right if act == "sample" else 1.0)

    monkeypatch.setattr(fetch_search, "success_rate", success_rate)


def test_a_small_run(small, tmp_path, monkeypatch):
    options = {"methods": ["random"], "seeds": [0, 1], "evaluations": 4, "tiny": True}
    done = []
    (line,) = run_experiment("fetch-search", tmp_path, options, lambda *one: done.append(one))
    assert done == [(1, 2), (2, 2)]
    rows = json.loads((tmp_path / "trials.json").read_text())
    for row in rows:
        assert len(row["nll"]) == len(row["success"]) == 4
        best = np.array(row["thetas"])[[np.argmin(row["nll"][: n + 1]) for n in range(4)]]
        np.testing.assert_allclose(row["success"], 0.5 + 0.5 * best[:, 0])
        assert row["success_of_mode"] == [1.0] * 4
    mean = np.mean([row["success"][-1] for row in rows])
    assert line["at the end"] == f"{mean:.0%}"
    # What is finished is not run again.
    monkeypatch.setattr("boirl.experiments.trials.explore", None)
    assert run_experiment("fetch-search", tmp_path, options) == [line]


def test_an_evaluation_that_failed_never_succeeds(small):
    problem = pulled_maze(Pull(fails_above=0.0))
    evaluations = tuple(problem.evaluate(theta, seed=0) for theta in ((0.5, 0.0), (-0.5, 0.0)))
    run = BaselineRun(problem, evaluations, "scripted")
    assert [one.ok for one in evaluations] == [False, True]
    assert fetch_search._success(run, 0, "mode", 2) == 0.0
    assert fetch_search._success(run, 1, "mode", 2) == 1.0
