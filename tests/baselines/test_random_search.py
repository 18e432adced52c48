"""Random search: uniform draws from the box."""

import numpy as np
import pytest
from scipy.stats import kstest

from boirl import baselines
from boirl.evaluation import Evaluation


@pytest.fixture(scope="module")
def run(random_problem):
    return baselines.get("random").run(random_problem(0), 200, seed=1000)


def test_thetas_are_uniform_in_the_box(run):
    unit = run.problem.box.to_unit(run.thetas)
    for numbers in unit.T:
        assert kstest(numbers, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(unit.T)[0, 1]) < 0.15


def test_thetas_do_not_depend_on_what_was_found(run, random_problem):
    other = baselines.get("random").run(random_problem(1), 5, seed=1000)
    np.testing.assert_array_equal(other.thetas, run.thetas[:5])
    assert not np.array_equal(other.nll, run.nll[:5])


def test_evaluations_are_those_of_the_problem(run):
    one = run.evaluations[3]
    again = run.problem.evaluate(one.theta)
    assert one.nll == again.nll
    np.testing.assert_array_equal(one.gradient, again.gradient)
    np.testing.assert_array_equal(one.log_likelihoods, again.log_likelihoods)


def test_every_evaluation_has_a_seed_of_its_own(random_problem, monkeypatch):
    problem, seeds, reports = random_problem(0), [], []

    def evaluate(self, theta, seed, report):
        seeds.append(seed)
        report(1.0, "done")
        return Evaluation(tuple(theta.tolist()), 1.0)

    monkeypatch.setattr(type(problem), "evaluate", evaluate)
    baselines.get("random").run(problem, 5, report=lambda *one: reports.append(one))
    assert len(set(seeds)) == 5
    assert reports == [(1.0, "done")] * 5
