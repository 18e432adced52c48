"""The two rules, and what no search can meet."""

import numpy as np
import pytest

from boirl.experiments.race import Incumbent
from boirl.experiments.trials import expert_esor
from boirl.reproduction import judging
from boirl.reproduction.environments import build_problem
from boirl.reproduction.judging import (
    best_explanation,
    demonstrated_return,
    exact_rule,
    is_attainable,
    sampled_rule,
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BOIRL_CACHE", str(tmp_path))
    best_explanation.cache_clear()


def incumbent(problem, theta, nll=None, esor=None):
    policy = problem.policy(theta)
    return Incumbent(
        problem.nll(theta) if nll is None else nll,
        problem.true_return(policy) if esor is None else esor,
        policy,
        0,
    )


@pytest.mark.parametrize(("seed", "attainable"), [(3, True), (0, False)])
def test_the_true_reward_meets_the_exact_rule_whatever_was_demonstrated(seed, attainable):
    problem = build_problem("gridworld", seed, False, None)
    truth = np.array(problem.truth)
    assert best_explanation(problem).nll <= problem.nll(truth) + 1e-9
    assert is_attainable(problem) == attainable
    rule = exact_rule(problem, 0.0)
    assert rule(incumbent(problem, truth))
    # What is asked for is the ESOR where it can be had, and the NLL elsewhere.
    assert rule(incumbent(problem, truth, esor=-1.0)) == (not attainable)
    assert rule(incumbent(problem, truth, nll=99.0)) == attainable


def test_the_papers_threshold_is_a_sample_and_can_be_out_of_reach(monkeypatch):
    monkeypatch.setattr(judging, "MOST_DRAWN", 256)
    monkeypatch.setattr(judging, "POLISHING", 5)
    problem = build_problem("gridworld", 3, False, None)
    highest, share, drawn = judging.highest_esor(problem)
    assert drawn == 256
    assert expert_esor(problem) <= highest < demonstrated_return(problem)
    assert 0.0 < share < 0.2
    poor = np.array([-2.0, 5.0, 0.0])
    assert not sampled_rule(problem, 0)(incumbent(problem, poor))
