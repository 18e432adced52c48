"""Methods under one signature."""

import numpy as np
import pytest

from boirl.experiments.suite.catalogue import suite_problem
from boirl.experiments.suite.methods import METHODS


@pytest.fixture(scope="module")
def problem():
    return suite_problem("mdp-few", 1000)


def test_evaluations_grow_with_the_parameters():
    assert {name: method.evaluations(5) for name, method in METHODS.items()} == {
        "search": 70,
        "search-few": 20,
        "few-rho-rbf": 20,
        "few-theta": 20,
        "few-log-ei": 20,
        "few-uncertain": 20,
        "few-no-descents": 20,
        "few-no-checks": 20,
        "no-checks": 70,
        "few-uniform": 20,
        "random": 70,
        "maxent": 70,
        "pyvbmc": 30,
    }


@pytest.mark.parametrize("name", ["search", "random"])
def test_a_search_has_samples(name, problem):
    answer = METHODS[name].run(problem, 6, 1000)
    assert answer.evaluations == 6
    assert answer.samples.shape == (1000, problem.box.dimension)
    assert answer.found.best_nll == answer.best_nll
    assert answer.seconds > 0.0


def test_the_random_method_draws_other_thetas_than_the_search(problem):
    found = [METHODS[name].run(problem, 8, 1000).found for name in ("search", "random")]
    assert (found[0].thetas[-1] != found[1].thetas[-1]).any()


def test_descents_have_no_samples(problem):
    answer = METHODS["maxent"].run(problem, 25, 1000)
    assert answer.samples is None
    assert answer.found is None
    assert answer.best_nll <= np.nanmin(problem.nll_batch(np.array([problem.truth])))
