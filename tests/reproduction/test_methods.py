"""Rows of the table: searches, and whatever is registered as a baseline."""

from dataclasses import dataclass

import pytest

from boirl.baselines import BASELINES, RandomSearch
from boirl.errors import InvalidInputError
from boirl.reproduction.environments import build_problem
from boirl.reproduction.methods import (
    AS_PUBLISHED,
    WITH_LOG_RHO,
    all_methods,
    chosen_methods,
    run_search,
    search_settings,
)


@dataclass(frozen=True)
class Newcomer(RandomSearch):
    name = "newcomer"


def test_a_registered_baseline_has_a_row(monkeypatch):
    assert "newcomer" not in all_methods()
    monkeypatch.setitem(BASELINES._known, "newcomer", Newcomer)
    assert "newcomer" in all_methods()
    assert set(BASELINES) <= set(all_methods())
    assert len(set(all_methods())) == len(all_methods())


def test_published_settings_are_the_papers():
    settings = search_settings("borlange wide", f"rho-rbf{AS_PUBLISHED}")
    assert settings["projection"] == "rho"
    assert (settings["n_demonstrations"], settings["n_rollouts"]) == (10, 2000)
    assert settings["drop"] == ["u-turn"]
    other = search_settings("borlange wide", WITH_LOG_RHO)
    assert {**other, "projection": "rho"} == settings
    assert search_settings("gridworld", "rho-rbf") == {"kernel": "rho-rbf"}


def test_unknown_rows_are_refused():
    assert chosen_methods(["random"]) == ("random",)
    with pytest.raises(InvalidInputError, match="there is no method luck"):
        chosen_methods(["luck"])


def test_a_published_search_sees_values_alone_and_ends_when_told():
    problem = build_problem("gridworld", 3, True, None)
    seen = []

    def stop(evaluation, number):
        seen.append(evaluation.gradient)
        return number == 1

    found = run_search(problem, "gridworld", f"rbf{AS_PUBLISHED}", 1000, 5, True, stop)
    assert seen == [None, None]
    assert len(found) == 2
