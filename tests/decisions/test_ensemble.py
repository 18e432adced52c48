"""Rewards that stand for the posterior."""

import numpy as np
import pytest

from boirl.decisions.ensemble import ensemble_of, solved_ensemble
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


def test_samples_of_the_posterior_are_solved_for(found):
    ensemble = ensemble_of(found, policies=5, seed=1)
    np.testing.assert_array_equal(ensemble.thetas, found.sample(5, 1))
    np.testing.assert_allclose(ensemble.weights, 0.2)


def test_wrong_numbers_are_refused(found, junction):
    with pytest.raises(InvalidInputError, match="expected 0 or more"):
        ensemble_of(found, policies=-1)
    with pytest.raises(SolverError, match="none of 1 rewards"):
        solved_ensemble(junction, np.array([[1.0, 1.0]]), np.zeros(1))
