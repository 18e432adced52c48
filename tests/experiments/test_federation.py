"""The experiment on sites."""

import pytest

from boirl.experiments.federation import METHODS, parts_of, summarise
from boirl.problem import load_problem


def test_two_sites_have_all_demonstrations():
    problem = load_problem("gridworld")
    sizes = [len(one.demonstrations) for one in parts_of(problem)]
    assert sum(sizes) == len(problem.demonstrations)
    assert min(sizes) > 0


def test_differences_are_the_largest_of_all_seeds():
    def row(method, theta):
        errors = dict.fromkeys(("nll_error", "gradient_error", "projection_error"), 0.0)
        known = {"method": method, "evaluations": 1, "seconds": 1.0, "best_nll": 1.0, "nll": [1.0]}
        return {**known, **errors, "thetas": [[theta]]}

    rows = [row("two sites", 1.0), row("two sites", 1.5)]
    line = summarise(rows, [row("one site", 1.0), row("one site", 1.0)])
    assert line["thetas_apart"] == pytest.approx(0.5)
    assert line["nll_apart"] == 0.0


def test_noise_is_among_the_methods():
    assert sum("epsilon" in method for method in METHODS) == 2
