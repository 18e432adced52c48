"""How to repeat it: the command and the code do give the same search."""

import shlex
from dataclasses import replace
from typing import Any

import pytest

import boirl
from boirl.baselines import BaselineRun
from boirl.cli.app import app
from boirl.problem import load_source
from boirl.report.repeat import circumstances, code, commands
from boirl.search import SearchSettings

from .conftest import rewards_of

CODE = """
import numpy as np
import boirl

def build(gamma=0.9):
    mdp = boirl.TabularMDP.from_next_states(np.array([[0, 1], [0, 1]]), gamma=gamma)
    reward = boirl.LinearReward(np.eye(2), {"a": (0, 1), "b": (0, 1)})
    walks = boirl.Demonstrations.from_arrays([[0, 1]] * 2, [[1, 1]] * 2)
    return boirl.TabularProblem(mdp, reward, walks)
"""


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


def test_every_setting_of_a_search_is_an_option():
    settings = {"drop": ("a", "b"), "linear": False, "n_rollouts": 3, "smoothness": 2.5}
    result = named_result()
    changed = replace(result, settings={**result.settings, **settings})
    words = shlex.split(commands(changed)[0])
    asked: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("boirl.search.Study", lambda problem, **given: stop(asked, given))
        with pytest.raises(InterruptedError):
            app(words[1:-2], standalone_mode=False)
    assert {name: asked[name] for name in changed.settings} == {**changed.settings}


def stop(asked, given):
    asked.update(given)
    raise InterruptedError


def test_a_problem_of_ones_own_file_is_repeated_by_it(tmp_path):
    path = tmp_path / "own_repeated.py"
    path.write_text(CODE)
    result = rewards_of(load_source(f"{path}:build"), 3)
    result.save(tmp_path / "rewards.npz")
    loaded = boirl.load_result(tmp_path / "rewards.npz")
    words = shlex.split(commands(loaded)[0])
    assert words[:3] == ["boirl", "run", f"{path}:build"]
    known: dict[str, Any] = {}
    exec(code(loaded).rpartition("\n")[0], known)
    assert known["problem"].fingerprint() == result.problem.fingerprint()


def test_problems_built_in_python_have_no_command_but_a_fingerprint(found):
    assert commands(found) == []
    assert "problem = ..." in code(found)
    assert circumstances(found)["fingerprint of the problem"] == found.problem.fingerprint()
    assert ", boirl 0" in circumstances(found)["versions"]


def test_options_that_no_command_takes_are_left_to_the_code():
    result = rewards_of(boirl.load_problem("gridworld2d", seed=3), 3)
    assert commands(result) == []
    assert "boirl.load_problem('gridworld2d', seed=3)" in code(result)


def test_a_baseline_is_repeated_by_its_name():
    problem = boirl.load_problem("gridworld2d")
    run = BaselineRun(problem, (problem.evaluate(problem.truth),), "maxent")
    assert "--method maxent" in commands(run)[0]
    assert "boirl.baselines.get('maxent')" in code(run)
    stepped = replace(run.evaluations[0], environment_steps=12345)
    assert circumstances(replace(run, evaluations=(stepped,)))["steps in the environment"] == (
        "12,345"
    )
