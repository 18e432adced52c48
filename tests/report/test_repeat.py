"""How to repeat it: the command and the code do give the same search."""

import shlex
from dataclasses import replace
from typing import Any

import boirl
from boirl.baselines import BaselineRun
from boirl.report.repeat import circumstances, code, commands
from boirl.search import SearchSettings

from .conftest import rewards_of


def named_result():
    problem = boirl.load_problem("gridworld2d", bellman="logsumexp")
    return rewards_of(problem, 3, seed=7)


def test_the_command_names_problem_seed_and_what_is_not_usual():
    (line,) = commands(named_result())
    words = shlex.split(line)
    assert words[:3] == ["boirl", "run", "gridworld2d"]
    given = dict(zip(words[3::2], words[4::2], strict=True))
    assert given == {
        "--evaluations": "3",
        "--bellman": "logsumexp",
        "--seed": "7",
        "--kernel": "rbf",
        "--out": "results",
    }


def test_the_code_runs_and_has_the_same_settings(monkeypatch):
    result = named_result()
    asked: dict[str, Any] = {}

    def explore(problem, **options):
        asked.update(options, problem=problem)

    monkeypatch.setattr(boirl, "explore", explore, False)
    exec(code(result), {})
    assert asked.pop("problem").fingerprint() == result.problem.fingerprint()
    assert asked.pop("evaluations") == 3
    assert vars(SearchSettings(**asked)) == {**result.settings}


def test_own_problems_have_no_command_but_a_fingerprint(found):
    assert commands(found) == []
    assert "problem = ..." in code(found)
    assert circumstances(found)["fingerprint of the problem"] == found.problem.fingerprint()
    assert ", boirl 0" in circumstances(found)["versions"]


def test_a_baseline_is_repeated_by_its_name():
    problem = boirl.load_problem("gridworld2d")
    run = BaselineRun(problem, (problem.evaluate(problem.truth),), "maxent")
    assert "--method maxent" in commands(run)[0]
    assert "boirl.baselines.get('maxent')" in code(run)
    stepped = replace(run.evaluations[0], environment_steps=12345)
    assert circumstances(replace(run, evaluations=(stepped,)))["steps in the environment"] == (
        "12,345"
    )
