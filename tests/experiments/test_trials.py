"""What experiments share: hard starts, and trials that are kept as they finish."""

import json
from typing import Any

import numpy as np
import pytest

from boirl.errors import InvalidInputError, StorageError
from boirl.experiments.trials import (
    METHODS,
    check_methods,
    expert_esor,
    hard_start,
    run_searches,
    run_seeds,
    run_trials,
    search_and_time,
    show_after,
    times,
)


@pytest.fixture
def maze():
    pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")
    from tests.experiments.pulled_maze import pulled_maze

    return pulled_maze


# Hard starts.


def test_a_hard_start_is_the_first_of_high_nll(gridworld):
    start = hard_start(gridworld, 3, 90.0)
    assert gridworld.nll(start) > 90.0
    np.testing.assert_array_equal(hard_start(gridworld, 3, 90.0), start)
    assert not np.array_equal(hard_start(gridworld, 4, 90.0), start)
    # Thetas come in one order, however many are evaluated at once.
    np.testing.assert_array_equal(hard_start(gridworld, 3, 90.0, at_once=1), start)
    np.testing.assert_array_equal(
        hard_start(gridworld, 3, -1e9, at_once=1), hard_start(gridworld, 3, -1e9)
    )


def test_a_hard_start_where_policies_are_learned(maze):
    problem = maze()
    start = hard_start(problem, 0, 25.0, at_once=1)
    assert problem.nll(start) > 25.0
    np.testing.assert_array_equal(hard_start(problem, 0, 25.0, at_once=1), start)


def test_a_hard_start_passes_by_what_cannot_be_learned(maze):
    from tests.experiments.pulled_maze import Pull

    start = hard_start(maze(Pull(fails_above=-0.6)), 0, 0.0, at_once=1)
    assert start[0] <= -0.6


def test_where_nothing_is_hard_the_highest_nll_is_named(random_problem, monkeypatch):
    monkeypatch.setattr("boirl.experiments.trials.HARD_DRAWS", 128)
    problem = random_problem(0)
    with pytest.raises(InvalidInputError, match=r"none of 128 .* above 1e\+09, the highest has \d"):
        hard_start(problem, 0, 1e9)


# Trials.


def rows_of(calls):
    """Trials with the keys 0, 1, 2, which say so when they are run."""

    def trial(number):
        calls.append(number)
        return {"number": number, "value": 10 * number}

    return {number: lambda number=number: trial(number) for number in range(3)}


def key(row):
    return row["number"]


def test_finished_trials_are_kept_and_not_run_again(tmp_path):
    calls, done = [], []  # type: ignore[var-annotated]
    rows = run_trials(tmp_path, rows_of(calls), key, lambda *one: done.append(one))
    assert [row["value"] for row in rows] == [0, 10, 20]
    assert done == [(1, 3), (2, 3), (3, 3)]
    assert json.loads((tmp_path / "trials.json").read_text()) == rows
    again = run_trials(tmp_path, rows_of(calls), key, lambda *one: done.append(one))
    assert again == rows
    assert calls == [0, 1, 2]
    assert done == [(1, 3), (2, 3), (3, 3)] * 2


def test_an_interrupted_experiment_goes_on_where_it_was(tmp_path):
    calls: list[Any] = []
    wanted = rows_of(calls)

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_trials(tmp_path, {**wanted, 2: interrupt}, key)
    assert len(json.loads((tmp_path / "trials.json").read_text())) == 2
    rows = run_trials(tmp_path, wanted, key)
    assert [row["number"] for row in rows] == calls == [0, 1, 2]


def test_trials_of_others_stay_in_the_file(tmp_path):
    wanted = rows_of([])
    run_trials(tmp_path, wanted, key)
    assert [row["number"] for row in run_trials(tmp_path, {1: wanted[1]}, key)] == [1]
    assert len(json.loads((tmp_path / "trials.json").read_text())) == 3


def test_a_damaged_file_is_reported_and_left_alone(tmp_path):
    path = tmp_path / "trials.json"
    path.write_text("[{")
    with pytest.raises(StorageError, match=r"trials.json' is damaged .*move it away"):
        run_trials(tmp_path, rows_of([]), key)
    assert path.read_text() == "[{"


def test_searches_are_summed_up_by_method(random_problem, tmp_path):
    problem, done = random_problem(0), []

    def trial(problem, method, seed, evaluations):
        identity = {"problem": problem.fingerprint(), "evaluations": evaluations}
        return {**identity, "method": method, "seed": seed}

    def summarise(rows):
        return {"method": rows[0]["method"], "seeds": [row["seed"] for row in rows]}

    arguments = (trial, summarise, ("rbf", "random"), (4, 5), 7)
    summary = run_searches(tmp_path, problem, *arguments, lambda *one: done.append(one))
    assert summary == [{"method": name, "seeds": [4, 5]} for name in ("rbf", "random")]
    assert json.loads((tmp_path / "summary.json").read_text()) == summary
    assert done[-1] == (4, 4)
    with pytest.raises(InvalidInputError, match="there is no method ucb"):
        run_searches(tmp_path, problem, trial, summarise, ("ucb",), (4,), 7)


def test_a_timed_search_starts_hard_and_keeps_what_it_did(maze):
    problem = maze()
    found, row = search_and_time(problem, "random", 0, 3, 25.0, 2)
    np.testing.assert_array_equal(found.thetas[0], hard_start(problem, 0, 25.0, at_once=1))
    assert (row["thetas"], row["nll"]) == (found.thetas.tolist(), found.nll.tolist())
    assert row["problem"] == problem.fingerprint()
    assert 0.0 < row["evaluation_seconds"] <= row["seconds"]


def test_unknown_methods_are_named():
    check_methods(tuple(METHODS))
    check_methods(("own",), ("own", "other"))
    with pytest.raises(
        InvalidInputError, match="no method a, b; expected some of rho-matern; rho-rbf"
    ):
        check_methods(("b", "rbf", "a"))


def test_the_expert_is_measured_once(random_problem, monkeypatch):
    problem, calls = random_problem(0), []
    monkeypatch.setattr(type(problem), "esor", lambda self, theta: calls.append(theta) or 3.5)  # type: ignore[func-returns-value]
    assert [expert_esor(problem) for _ in range(3)] == [3.5] * 3
    assert len(calls) == 1
    expert_esor(random_problem(0))
    assert len(calls) == 2


def test_times_are_of_the_trials_that_got_there():
    assert times([2, None, 4]) == {"reached": 2 / 3, "after_mean": 3.0, "after_sd": 1.0}
    assert show_after(times([2, None, 4])) == "3.0 ± 1.0"
    assert show_after(times([None])) == "-"


def test_every_seed_is_run_once(tmp_path):
    ran = []

    def trial(seed, evaluations):
        ran.append(seed)
        return {"seed": seed, "evaluations": evaluations, "worth": seed * evaluations}

    def summarise(rows):
        return {"worth": sum(row["worth"] for row in rows)}

    assert run_seeds(tmp_path, trial, summarise, [1000, 1001], 2) == [{"worth": 4002}]
    assert run_seeds(tmp_path, trial, summarise, [1001, 1002], 2) == [{"worth": 4006}]
    assert ran == [1000, 1001, 1002]
    assert json.loads((tmp_path / "summary.json").read_text()) == [{"worth": 4006}]
