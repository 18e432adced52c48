"""The best of several descents."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from boirl.errors import InvalidInputError, SolverError
from boirl.estimation.optimum import CountedNll, find_optimum
from boirl.rewards import CallableReward


def test_no_theta_of_a_grid_is_better(random_problem):
    problem = random_problem(3, "logsumexp", count=40)
    objective = CountedNll(problem)
    optimum = find_optimum(objective, 4, seed=0)
    axis = np.linspace(0.0, 1.0, 41)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    assert optimum.nll <= problem.nll_batch(problem.box.from_unit(grid)).min() + 1e-12
    assert optimum.nll == pytest.approx(problem.nll(problem.box.from_unit(optimum.unit)))
    assert (optimum.descents, optimum.agreeing, optimum.converged) == (4, 4, True)
    assert objective.evaluations >= 16 + 4


def test_given_starts_are_descended_from_too(random_problem):
    problem = random_problem(3, "logsumexp")
    assert find_optimum(CountedNll(problem), 1, 0, np.full((2, 2), 0.5)).descents == 3


def test_thetas_without_a_policy_are_passed_over(random_problem, monkeypatch):
    problem = random_problem(3, "logsumexp")
    expected = find_optimum(CountedNll(problem), 4, seed=0)
    edge = problem.box.from_unit(expected.unit)[0] + 0.05
    real, real_batch = type(problem)._evaluate, type(problem).nll_batch

    def fails(self, theta, seed, report):
        if theta[0] > edge:
            raise SolverError("no values")
        return real(self, theta, seed, report)

    def fails_too(self, thetas):
        return np.where(np.asarray(thetas)[:, 0] > edge, np.nan, real_batch(self, thetas))

    monkeypatch.setattr(type(problem), "_evaluate", fails)
    monkeypatch.setattr(type(problem), "nll_batch", fails_too)
    optimum = find_optimum(CountedNll(problem), 4, seed=0)
    assert optimum.nll == pytest.approx(expected.nll, abs=1e-9)
    assert optimum.agreeing == 4


def test_a_box_without_policies_is_named(random_problem, monkeypatch):
    problem = random_problem(3)
    monkeypatch.setattr(type(problem), "nll_batch", lambda self, t: np.full(len(t), np.nan))
    with pytest.raises(SolverError, match=r"none of 1024 thetas .* has a policy; .*narrow"):
        find_optimum(CountedNll(problem), 2, seed=0)


def test_rewards_without_derivatives_are_refused(random_problem):
    def untracked(theta, steps):
        return theta.detach() * torch.as_tensor(steps.states % 2)

    problem = random_problem(0, reward=CallableReward(untracked, {"weight": (-2.0, 2.0)}))
    with pytest.raises(InvalidInputError, match=r"not differentiable .*write it in torch"):
        find_optimum(CountedNll(problem), 2, seed=0)


def test_learned_policies_are_refused():
    class Learned:
        is_model_free, name = True, "maze"

    with pytest.raises(InvalidInputError, match=r"'maze' are learned.*boirl.explore"):
        find_optimum(CountedNll(Learned()), 2, seed=0)


def test_a_missing_gradient_is_no_value(random_problem, monkeypatch):
    problem = random_problem(0, "logsumexp")
    real = type(problem)._evaluate
    monkeypatch.setattr(
        type(problem), "_evaluate", lambda self, *args: replace(real(self, *args), gradient=None)
    )
    objective = CountedNll(problem)
    assert objective(np.full(2, 0.5)) is None
    assert objective.failure == "the NLL has no gradient there"
