"""Facts of problems."""

import pytest

from boirl.reproduction import facts, judging
from boirl.reproduction.facts import fact_of, problem_cell
from boirl.reproduction.plan import Plan


def test_facts_of_a_small_town_say_how_blind_the_projection_is(tmp_path, monkeypatch, nothing):
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path))
    monkeypatch.setattr(judging, "MOST_DRAWN", 64)
    monkeypatch.setattr(judging, "POLISHING", 1)
    monkeypatch.setattr(judging, "DESCENTS", 1)
    cell = problem_cell(Plan(quick=True), "borlange wide", 0)
    nothing.add(cell, cell.run(), 0.0)
    fact = fact_of(nothing, "borlange wide", 0)
    assert fact["lowest_nll"] <= fact["truth_nll"]
    assert fact["expert_esor"] <= fact["highest_esor"]
    assert 0.0 <= fact["blind_share_dropped"] <= fact["blind_share"] <= 1.0
    assert fact_of(nothing, "borlange wide", 1) is None


def test_demonstrations_of_ten_seeds():
    assert facts.DEMONSTRATION_SEEDS == 10


@pytest.mark.parametrize("drop", [(), ("u-turn",)])
def test_blind_shares_are_shares(drop):
    problem = facts.build_problem("borlange wide", 0, True, None)
    assert 0.0 <= facts._blind_share(problem, "borlange wide", drop) <= 1.0
