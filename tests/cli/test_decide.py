"""Acting, what if and several demonstrators, as commands."""

import json
from dataclasses import replace

import numpy as np
import pytest

import boirl
from boirl.experiments.worst_case import problem_of

QUICK = {"kernel": "rbf", "acquisition": "random", "seed": 1000}


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    where = tmp_path_factory.mktemp("result") / "rewards.npz"
    boirl.explore(problem_of("ambiguous", 1000), 5, **QUICK).save(where)
    return where


def test_act_prints_regrets_and_keeps_the_policy(result, command, tmp_path):
    file = tmp_path / "policy.npz"
    code, out, _ = command("act", result, "--risk", "worst", "--policies", 0, "--out", file)
    assert code == 0
    assert "single best" in out
    with np.load(file) as kept:
        np.testing.assert_allclose(kept["probabilities"][:10].sum(axis=1), 1.0)
    code, out, errors = command("act", result, "--policies", 0, "--quiet", "--json")
    assert (code, errors) == (0, "")
    assert json.loads(out)["worst_regret"] >= json.loads(out)["mean_regret"]
    code, _, errors = command("act", result, "--risk", "huge")
    assert (code, errors.count("\n")) == (2, 1)
    assert "expected 'mean', 'worst' or a level" in errors


def test_labels_that_cannot_be_read_are_one_line(command, tmp_path):
    code, _, errors = command("mixture", "gridworld2d", "--labels", tmp_path / "who.txt")
    assert (code, errors.count("\n")) == (2, 1)
    assert "expected a text file with one name per trajectory" in errors


def test_what_if_shows_what_changes(result, command):
    code, out, _ = command("what-if", result, "--close", 5, "--reach", 6, "--policies", 0)
    assert code == 0
    assert "reaching state 6" in out
    code, out, _ = command("what-if", result, "--close", 5, "--policies", 0, "--json")
    assert json.loads(out)["effects"][0]["after"]["low"] > 0
    code, _, errors = command("what-if", result, "--close", "x")
    assert code == 2
    assert "expected whole numbers" in errors


def test_what_if_takes_names_of_states(command, tmp_path):
    problem = boirl.load_problem("gridworld2d")
    names = [f"place {n}" for n in range(problem.mdp.n_states)]
    named = replace(problem, mdp=problem.mdp.with_names(names), recipe=None)
    boirl.explore(named, 3, **QUICK).save(tmp_path / "rewards.npz")
    given = ("what-if", tmp_path, "--policies", 0, "--reach", "place 6")
    code, out, _ = command(*given, "--close", "place 5,4")
    assert code == 0
    assert "reaching place 6" in out
    code, _, errors = command(*given, "--close", "nowhere")
    assert code == 2
    assert "names of states such as 'place 0'" in errors


def test_a_missing_file_of_labels_is_named(command):
    code, _, errors = command("mixture", "gridworld2d", "--labels", "nowhere.txt")
    assert code == 2
    assert "'nowhere.txt' cannot be read" in errors
