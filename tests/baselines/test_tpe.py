"""Optuna's default sampler over theta."""

import numpy as np
import optuna
import pytest

from boirl import baselines
from boirl.errors import SolverError
from boirl.types import silent

STARTUP = 10
"""Evaluations that the sampler draws at random before it learns from them."""


def test_it_learns_from_earlier_evaluations(gridworld):
    lowest = []
    for seed in (1000, 1001, 1002):
        run = baselines.get("tpe").run(gridworld, 60, seed)
        gridworld.box.check(run.thetas)
        early, late = run.nll[:STARTUP], run.nll[-20:]
        assert np.median(late) < np.median(early)
        lowest.append(run.best_nll)
    assert np.median(lowest) < gridworld.nll(gridworld.truth) + 0.05


def test_the_study_holds_every_evaluation(random_problem):
    problem, method = random_problem(0), baselines.get("tpe")
    state = method.begin(problem, 0)
    evaluations = [method.advance(problem, state, silent) for _ in range(3)]
    trials = state.study.trials
    assert [trial.value for trial in trials] == [one.nll for one in evaluations]
    for trial, one in zip(trials, evaluations, strict=True):
        assert tuple(trial.params[name] for name in problem.box.names) == one.theta


def test_failures_are_reported_to_the_study(random_problem, monkeypatch):
    problem, method = random_problem(0), baselines.get("tpe")
    real, calls = type(problem)._evaluate, []

    def sometimes(self, theta, seed, report):
        calls.append(theta)
        if len(calls) == 2:
            raise SolverError("no values")
        return real(self, theta, seed, report)

    monkeypatch.setattr(type(problem), "_evaluate", sometimes)
    state = method.begin(problem, 0)
    failures = [method.advance(problem, state, silent).failure for _ in range(3)]
    assert failures == [None, "no values", None]
    states = [trial.state for trial in state.study.trials]
    complete, failed = optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.FAIL
    assert states == [complete, failed, complete]


@pytest.mark.parametrize("seed", [0, 1])
def test_optuna_says_nothing(random_problem, capfd, seed):
    baselines.get("tpe").run(random_problem(0), 2, seed)
    assert capfd.readouterr() == ("", "")
