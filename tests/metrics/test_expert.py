"""How soon the expert is reached."""

from dataclasses import replace

import numpy as np
import pytest

from boirl.baselines import BaselineRun
from boirl.evaluation import Evaluation
from boirl.metrics import (
    evaluations_to_demonstrations,
    evaluations_to_expert,
    expert_return,
    incumbents,
    mean_true_return,
)

POOR = (-1.0, 5.0, 0.0)


@pytest.fixture
def problem(gridworld):
    return gridworld


def found(problem, *pairs):
    """A result with these thetas and NLLs; None for one that failed."""
    evaluations = [
        Evaluation(theta, np.nan, failure="no values")
        if nll is None
        else replace(problem.evaluate(theta), nll=nll)
        for theta, nll in pairs
    ]
    return BaselineRun(problem, tuple(evaluations), "scripted")


def test_incumbents_follow_the_lowest_nll_and_skip_failures():
    nll = np.array([np.nan, 5.0, 7.0, 3.0, np.nan, 3.0])
    assert incumbents(nll).tolist() == [0, 1, 1, 3, 3, 3]
    assert incumbents(np.full(3, np.nan)).tolist() == [0, 0, 0]


def test_the_truth_reaches_the_expert_only_while_it_is_the_best(problem):
    assert evaluations_to_expert(found(problem, (POOR, 50.0), (problem.truth, 20.0))) == 1
    assert evaluations_to_expert(found(problem, (POOR, 10.0), (problem.truth, 20.0))) is None


def test_failed_evaluations_do_not_reach_the_expert(problem):
    failed = (problem.truth, None)
    assert evaluations_to_expert(found(problem, failed, failed)) is None
    assert evaluations_to_expert(found(problem, failed, (POOR, 9.0), (problem.truth, 8.0))) == 2
    assert evaluations_to_demonstrations(found(problem, failed), seed=0) is None


def test_nothing_is_solved_for_policies_that_were_kept(problem, monkeypatch):
    run = found(problem, (POOR, 50.0), (problem.truth, 20.0))
    expert = expert_return(run)
    for name in ("solve", "solve_batch", "solve_and_linearise"):
        monkeypatch.setattr(type(problem.solver), name, None)
    assert evaluations_to_expert(run) == evaluations_to_expert(run, expert=expert) == 1


def test_the_expert_may_be_given(problem):
    run = found(problem, (POOR, 50.0), (problem.truth, 20.0))
    assert evaluations_to_expert(run, expert=problem.esor(POOR)) == 0
    assert evaluations_to_expert(run, expert=problem.esor(problem.truth) + 1.0) is None


def test_the_return_of_the_expert_is_the_exact_esor(problem):
    expected = problem.esor(problem.truth)
    assert expert_return(found(problem, (POOR, 50.0))) == pytest.approx(expected, rel=1e-12)


def test_a_tolerance_lets_near_misses_count(problem):
    theta = (1.0, 5.0, 0.0)
    shortfall = 1.0 - problem.esor(theta) / problem.esor(problem.truth)
    assert shortfall > 0
    run = found(problem, (theta, 1.0))
    assert evaluations_to_expert(run, 0.5 * shortfall) is None
    assert evaluations_to_expert(run, 1.01 * shortfall) == 0


def test_sampled_returns_agree_with_the_exact_esor(problem):
    rng = np.random.default_rng(0)
    starts = np.tile(problem.demonstrations.starts, 400)
    drawn = problem.roll_out(problem.policy(problem.truth), starts, problem.steps, rng)
    assert mean_true_return(problem, drawn) == pytest.approx(problem.esor(problem.truth), abs=0.1)


def test_the_authors_rule_compares_with_the_demonstrations(problem):
    assert evaluations_to_demonstrations(found(problem, (POOR, 1.0)), seed=0) is None
    modest = problem.with_demonstrations(
        problem.roll_out(None, problem.demonstrations.starts, 15, np.random.default_rng(0))
    )
    assert evaluations_to_demonstrations(found(modest, (problem.truth, 1.0)), seed=0) == 0
    again = found(modest, (POOR, 2.0), (problem.truth, 1.0))
    assert evaluations_to_demonstrations(again, seed=0) == 1
