"""How soon the expert is reached."""

import numpy as np
import pytest

import boirl
from boirl.metrics import (
    evaluations_to_demonstrations,
    evaluations_to_expert,
    incumbents,
    landscape_fit,
    mean_true_return,
)


@pytest.fixture(scope="module")
def problem():
    return boirl.load_problem("gridworld")


def test_incumbents_follow_the_lowest_nll_and_skip_failures():
    nll = np.array([np.nan, 5.0, 7.0, 3.0, np.nan, 3.0])
    assert incumbents(nll).tolist() == [0, 1, 1, 3, 3, 3]


def test_the_truth_reaches_the_expert_only_while_it_is_the_best(problem):
    poor, truth = (-1.0, 5.0, 0.0), problem.truth
    thetas = np.array([poor, truth])
    assert evaluations_to_expert(problem, thetas, np.array([50.0, 20.0])) == 1
    assert evaluations_to_expert(problem, thetas, np.array([10.0, 20.0])) is None


def test_a_tolerance_lets_near_misses_count(problem):
    thetas = np.array([[1.0, 5.0, 0.0]])
    shortfall = 1.0 - problem.esor(thetas)[0] / problem.esor(problem.truth)
    assert shortfall > 0
    assert evaluations_to_expert(problem, thetas, np.ones(1), 0.5 * shortfall) is None
    assert evaluations_to_expert(problem, thetas, np.ones(1), 1.01 * shortfall) == 0


def test_sampled_returns_agree_with_the_exact_esor(problem):
    rng = np.random.default_rng(0)
    starts = np.tile(problem.demonstrations.starts, 400)
    drawn = problem.roll_out(problem.policy(problem.truth), starts, problem.horizon, rng)
    assert mean_true_return(problem, drawn) == pytest.approx(problem.esor(problem.truth), abs=0.1)


def test_the_authors_rule_compares_with_the_demonstrations(problem):
    poor = np.array([[-1.0, 5.0, 0.0]])
    assert evaluations_to_demonstrations(problem, poor, np.ones(1), seed=0) is None
    modest = problem.with_demonstrations(
        problem.roll_out(None, problem.demonstrations.starts, 15, np.random.default_rng(0))
    )
    assert evaluations_to_demonstrations(modest, np.array([problem.truth]), np.ones(1), 0) == 0


def test_landscape_error_shrinks_with_evaluations(problem):
    found = boirl.explore(problem, evaluations=20, seed=4)
    early, late = landscape_fit(found.first(3), 200), landscape_fit(found, 200)
    assert late.rmse < 0.5 * early.rmse
    assert 0.5 < late.coverage <= 1.0
