"""A saved result on bus engines opens as what it was."""

import numpy as np

import boirl
from boirl.domains.bus_engines.problem import BusEngineProblem


def test_a_saved_search_opens_with_its_problem(problem, tmp_path):
    found = boirl.explore(problem, evaluations=2, seed=1000)
    found.save(tmp_path / "rewards.npz")
    opened = boirl.load_result(tmp_path / "rewards.npz")
    assert type(opened.problem) is BusEngineProblem
    assert opened.problem.fingerprint() == problem.fingerprint()
    np.testing.assert_array_equal(opened.thetas, found.thetas)
    np.testing.assert_array_equal(opened.problem.observed_months()[0], problem.observed_months()[0])
