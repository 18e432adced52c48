"""Exact beliefs on a table."""

import numpy as np
import pytest

from boirl.experiments.beliefs import ExactBelief, solved_evaluations
from boirl.experiments.worst_case import problem_of


@pytest.fixture(scope="module")
def belief():
    return ExactBelief(problem_of("ambiguous", 1000), 64)


def test_likelihoods_are_those_of_the_problem(belief):
    problem = belief.problem
    exact = -len(problem.demonstrations) * problem.nll_batch(belief.thetas)
    np.testing.assert_allclose(belief.first, exact, rtol=1e-9)


def test_more_demonstrations_shrink_the_volume(belief):
    problem = belief.problem
    rng = np.random.default_rng(0)
    more = problem.roll_out(problem.policy(problem.truth), np.full(20, 4), 3, rng)
    after = belief.volume(belief.first + belief.log_likelihoods(more))
    assert 0.0 < after < belief.volume(belief.first) <= 1.0 + 1e-9
    assert belief.weights(belief.first).sum() == pytest.approx(1.0)


def test_values_are_kept_for_each_reward(belief):
    (one,) = solved_evaluations(belief.problem, np.array([[9.0, 1.0]]))
    policy = belief.problem.policy((9.0, 1.0))
    np.testing.assert_allclose(one.policies[0]["values"], policy.values)
