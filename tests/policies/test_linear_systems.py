"""Every way to solve `(I - gamma W) x = right` gives the same `x`."""

import numpy as np
import pytest

from boirl.environments import TabularMDP
from boirl.policies import linear_systems
from boirl.policies.linear_systems import ChainSystem, SparseSystem, SweptSystem, linearise


def matrix_of(mdp, weights):
    return np.eye(mdp.n_states) - mdp.gamma * mdp.chain(weights).toarray()


@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.99])
def test_sweeps_and_factors_agree_with_a_dense_solution(random_mdp, gamma):
    mdp = random_mdp(3, n_states=6, gamma=gamma)
    rng = np.random.default_rng(4)
    weights, right = rng.dirichlet(np.ones(mdp.n_actions), mdp.n_states), rng.normal(size=6)
    dense = matrix_of(mdp, weights)
    for system in (SparseSystem(mdp.chain(weights), gamma), SweptSystem(mdp, weights)):
        np.testing.assert_allclose(system.solve(right), np.linalg.solve(dense, right), rtol=1e-9)
        np.testing.assert_allclose(
            system.solve_transposed(right), np.linalg.solve(dense.T, right), rtol=1e-9
        )


def test_chains_agree_with_a_dense_solution(random_mdp):
    mdp = random_mdp(5, n_states=7, deterministic=True)
    rng = np.random.default_rng(6)
    actions, right = rng.integers(mdp.n_actions, size=7), rng.normal(size=7)
    weights = np.eye(mdp.n_actions)[actions]
    system = linearise(mdp, weights)
    assert isinstance(system, ChainSystem)
    dense = matrix_of(mdp, weights)
    np.testing.assert_allclose(system.solve(right), np.linalg.solve(dense, right), rtol=1e-9)
    np.testing.assert_allclose(
        system.solve_transposed(right), np.linalg.solve(dense.T, right), rtol=1e-9
    )


def test_many_states_with_stochastic_dynamics_are_swept(random_mdp, monkeypatch):
    mdp = random_mdp(7, n_states=6)
    weights = np.full((6, mdp.n_actions), 1.0 / mdp.n_actions)
    assert isinstance(linearise(mdp, weights), SparseSystem)
    monkeypatch.setattr(linear_systems, "SWEEP_FROM_STATES", 6)
    assert isinstance(linearise(mdp, weights), SweptSystem)


def test_sweeps_that_do_not_settle_are_an_error(random_mdp, monkeypatch):
    monkeypatch.setattr(linear_systems, "MAX_SWEEPS", 50)
    mdp = random_mdp(8, n_states=4)
    with pytest.raises(RuntimeError, match="after 50"):
        SweptSystem(mdp, np.full((4, mdp.n_actions), 3.0)).solve(np.ones(4))


def test_without_a_discount_chains_are_not_summed_for_ever():
    mdp = TabularMDP.from_next_states(np.array([[1, 0], [2, 0], [2, 2]]), gamma=1.0)
    weights = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    with pytest.raises(RuntimeError, match="singular"):
        linearise(mdp, weights).solve_transposed(np.ones(3))
