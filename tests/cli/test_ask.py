"""Asking and answering, as commands."""

import json

import pytest

import boirl
from boirl.experiments.worst_case import problem_of

QUICK = {"kernel": "rbf", "acquisition": "random", "seed": 1000}


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    where = tmp_path_factory.mktemp("result") / "rewards.npz"
    boirl.explore(problem_of("ambiguous", 1000), 5, **QUICK).save(where)
    return where


def test_ask_prints_questions_and_draws_them(result, command, tmp_path):
    picture = tmp_path / "questions.png"
    code, out, _ = command("ask", result, "-n", 2, "--policies", 0, "--out", picture)
    assert code == 0
    assert out.count("what would you do from") == 2
    assert picture.exists()
    code, out, errors = command("ask", result, "-n", 1, "--policies", 0, "--json", "--quiet")
    assert (code, errors) == (0, "")
    (question,) = json.loads(out)["questions"]
    assert question["information"] >= 0
    assert sum(one["weight"] for one in question["behaviours"]) == pytest.approx(1.0)


def test_comparisons_are_asked_drawn_and_answered(command, tmp_path):
    problem = boirl.load_problem("gridworld2d")
    storage = f"sqlite:///{tmp_path}/search.db"
    initial = [problem.truth]
    found = boirl.explore(problem, 3, storage=storage, initial=initial, **QUICK)
    found.save(tmp_path / "rewards.npz")
    pairs, picture = tmp_path / "pairs.npz", tmp_path / "pairs.png"
    asked = ("ask", tmp_path / "rewards.npz", "--kind", "comparison", "-n", 2, "--policies", 0)
    code, out, _ = command(*asked, "--save", pairs, "--out", picture)
    assert code == 0
    assert out.count("which is better?") == 2
    assert picture.exists()
    given = ("answer", "gridworld2d", "--storage", storage, "--comparisons", pairs)
    code, out, _ = command(*given, "--better", "2,-")
    assert code == 0
    code, _, errors = command(*given, "--better", "1,3")
    assert (code, errors.count("\n")) == (2, 1)
    assert "expected 2 answers" in errors
    assert command(*given)[0] == 2


def test_answer_scores_again(command, tmp_path):
    problem = boirl.load_problem("gridworld2d")
    storage = f"sqlite:///{tmp_path}/search.db"
    boirl.explore(problem, 3, storage=storage, **QUICK)
    problem.demonstrate(problem.truth, 2, seed=1).save(tmp_path / "more.npz")
    given = ("answer", "gridworld2d", "--storage", storage)
    code, _, errors = command(*given, "--add", tmp_path / "more.npz", "--out", tmp_path)
    assert code == 0
    assert "3 evaluations scored under 52 demonstrations" in errors
    assert len(boirl.load_result(tmp_path / "rewards.npz").problem.demonstrations) == 52
    assert command(*given, "--remove", "0,x")[0] == 2
    assert command(*given)[0] == 2
