"""Rewards that stand for the posterior."""

import numpy as np
import pytest

from boirl.decisions.ensemble import (
    ensemble_of,
    policies_to_solve,
    solved_ensemble,
    verified_rewards,
)
from boirl.errors import InvalidInputError, SolverError


def test_policies_are_those_of_the_thetas(junction, two):
    for theta, policy in zip(two.thetas, two.policies, strict=True):
        np.testing.assert_allclose(policy.probabilities, junction.policy(theta).probabilities)
    assert two.log_policies.shape == (2, *junction.policy(two.thetas[0]).probabilities.shape)
    assert len(two) == 2


def test_kept_policies_are_weighted_and_nothing_is_solved(found, monkeypatch):
    monkeypatch.setattr("boirl.TabularSolver.solve_batch", None)
    ensemble = ensemble_of(found, policies=0)
    assert ensemble.weights.sum() == pytest.approx(1.0)
    known = {tuple(theta) for theta in found.thetas.tolist()}
    assert {tuple(theta) for theta in ensemble.thetas.tolist()} <= known


def test_samples_of_the_surrogate_are_solved_for_where_exact_ones_take_too_long(found, monkeypatch):
    monkeypatch.setattr("boirl.decisions.ensemble.verified_rewards", lambda *given: None)
    ensemble = ensemble_of(found, policies=5, seed=1)
    np.testing.assert_array_equal(ensemble.thetas, found.sample(5, 1))
    np.testing.assert_allclose(ensemble.weights, 0.2)


def test_samples_count_by_their_exact_likelihood(found):
    """However far the surrogate is off: here its samples are from all over the box."""
    ensemble = ensemble_of(found, policies=16, seed=1)
    exact = found.problem.nll_batch(ensemble.thetas)
    everywhere = found.problem.nll_batch(found.sample(64, 1))
    assert ensemble.weights @ exact < everywhere.mean()
    assert ensemble.weights.sum() == pytest.approx(1.0)


def test_what_takes_too_long_is_not_verified(found, monkeypatch):
    monkeypatch.setattr("boirl.decisions.ensemble.SOLVE_SECONDS", 0.0)
    assert verified_rewards(found, 8, 0) is None
    assert policies_to_solve(found) == 0
    assert policies_to_solve(found, 7) == 7


def test_wrong_numbers_are_refused(found, junction):
    with pytest.raises(InvalidInputError, match="expected 0 or more"):
        ensemble_of(found, policies=-1)
    with pytest.raises(SolverError, match="none of 1 rewards"):
        solved_ensemble(junction, np.array([[1.0, 1.0]]), np.zeros(1))
