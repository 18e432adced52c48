"""The experiment on constraints."""

import numpy as np

import boirl
from boirl.experiments import constrained


def test_the_optimum_that_meets_the_constraint_is_above_the_other(monkeypatch):
    monkeypatch.setattr(constrained, "GRID", 8)
    problem = boirl.load_problem("gridworld2d", n_demonstrations=10)
    free = constrained.constrained_optimum(problem, 1.0)
    held = constrained.constrained_optimum(problem, 0.5)
    assert free < held


def test_rows_become_a_line():
    rows = [
        {"after": 12, "free_after": 8, "infeasible_reported": 0},
        {"after": None, "free_after": 6, "infeasible_reported": 0},
    ]
    line = constrained.summarise(rows)
    assert line["ratio_of_means"] == 1.5
    assert line["constrained"]["reached"] == 0.5
    assert constrained._first_within(np.array([3.0, np.nan, 1.0]), 2.0) == 3
    assert constrained._first_within(np.array([3.0]), 2.0) is None
