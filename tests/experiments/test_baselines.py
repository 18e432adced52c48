"""The comparison of all methods, in small."""

import json

import pytest

import boirl
from boirl.errors import InvalidInputError
from boirl.experiments import baselines, run_experiment


def test_methods_race_to_the_expert(tmp_path):
    options = {
        "problems": ("gridworld",),
        "methods": ("rho-rbf", "maxent", "deep-maxent"),
        "seeds": (1000,),
    }
    lines = run_experiment("baselines", tmp_path, options)
    assert [line["method"] for line in lines] == ["rho-rbf", "maxent", "deep-maxent"]
    assert {line["reached"] for line in lines} == {"100%"}
    assert lines[0]["paper"] == "70%, 16"
    rows = json.loads((tmp_path / "trials.json").read_text())
    problem = boirl.load_problem("gridworld")
    expert = problem.esor(problem.truth)
    for row in rows:
        assert row["reached"]["policies"] >= 1
        assert row["esor"] >= expert
    before = (tmp_path / "trials.json").read_bytes()
    assert run_experiment("baselines", tmp_path, options) == lines
    assert (tmp_path / "trials.json").read_bytes() == before


def test_a_method_that_does_not_get_there_has_no_costs(tmp_path, monkeypatch):
    monkeypatch.setitem(baselines.BUDGETS, "tpe", ("tpe", {}, 1))
    options = {"problems": ("gridworld",), "methods": ("tpe",), "seeds": (3,)}
    (line,) = run_experiment("baselines", tmp_path, options)
    assert (line["reached"], line["evaluations"], line["policies"]) == ("0%", "-", "-")


def test_a_method_that_does_not_apply_says_so(tmp_path, monkeypatch):
    def refuse(self, problem):
        raise InvalidInputError("birl needs known dynamics")

    monkeypatch.setattr("boirl.baselines.maxent.MaxEnt.check", refuse)
    options = {"problems": ("gridworld",), "methods": ("maxent",), "seeds": (0, 1)}
    (line,) = run_experiment("baselines", tmp_path, options)
    assert line["reached"] == "does not apply"


def test_wrong_names_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="there is no method alchemy"):
        run_experiment("baselines", tmp_path, {"methods": ("alchemy",)})
    with pytest.raises(InvalidInputError, match="there is no problem mars"):
        run_experiment("baselines", tmp_path, {"problems": ("mars",)})
