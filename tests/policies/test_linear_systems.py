"""Every way to solve `(I - gamma W) x = right` gives the same `x`."""

import numpy as np
import pytest
import scipy.sparse as sp

from boirl.environments import TabularMDP
from boirl.policies import linear_systems
from boirl.policies.linear_systems import (
    ChainSystem,
    DenseSystem,
    KrylovSystem,
    SparseSystem,
    linearise,
    structure_of,
)


def matrix_of(mdp, weights):
    return np.eye(mdp.n_states) - mdp.gamma * mdp.chain(weights).toarray()


def random_weights(mdp, seed):
    weights = np.random.default_rng(seed).dirichlet(np.ones(mdp.n_actions), mdp.n_states)
    weights[mdp.terminal] = 0.0
    return weights


def check(system, dense, right):
    np.testing.assert_allclose(system.solve(right), np.linalg.solve(dense, right), rtol=1e-9)
    np.testing.assert_allclose(
        system.solve_transposed(right), np.linalg.solve(dense.T, right), rtol=1e-9
    )


@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.99, 1.0])
def test_all_systems_agree_with_a_dense_solution(random_mdp, gamma):
    terminal = [2] if gamma == 1.0 else []
    base = random_mdp(3, n_states=6, gamma=0.5)
    mdp = TabularMDP(base.transition, base.n_actions, gamma, np.eye(6)[0], terminal)
    weights, right = random_weights(mdp, 4), np.random.default_rng(5).normal(size=6)
    for system in (
        SparseSystem(mdp.chain(weights), gamma),
        DenseSystem(mdp, weights),
        KrylovSystem(mdp, weights),
    ):
        check(system, matrix_of(mdp, weights), right)


@pytest.mark.parametrize("terminal", [[], [3]])
def test_chains_agree_with_a_dense_solution(random_mdp, terminal):
    table = random_mdp(5, n_states=7, deterministic=True).next_states
    mdp = TabularMDP.from_next_states(table, gamma=0.9, terminal=terminal)
    rng = np.random.default_rng(6)
    weights = np.eye(mdp.n_actions)[rng.integers(mdp.n_actions, size=7)]
    weights[terminal] = 0.0
    system = linearise(mdp, weights)
    assert isinstance(system, ChainSystem)
    check(system, matrix_of(mdp, weights), rng.normal(size=7))


def test_chains_that_end_need_no_discount():
    corridor = TabularMDP.from_next_states([[1], [2], [3], [3]], gamma=1.0, terminal=[3])
    system = linearise(corridor, np.array([[1.0], [1.0], [1.0], [0.0]]))
    assert system.solve(np.array([-1.0, -1.0, -1.0, 0.0])).tolist() == [-3.0, -2.0, -1.0, 0.0]
    assert system.solve_transposed(np.array([1.0, 0.0, 0.0, 0.0])).tolist() == [1.0] * 4


def test_without_a_discount_chains_are_not_summed_for_ever():
    mdp = TabularMDP.from_next_states(np.array([[1, 0], [2, 0], [2, 2]]), gamma=1.0)
    weights = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    with pytest.raises(RuntimeError, match="singular"):
        linearise(mdp, weights).solve_transposed(np.ones(3))


def test_singular_matrices_are_an_error():
    ring = TabularMDP.from_next_states(np.array([[1, 1], [0, 0]]), gamma=1.0)
    with pytest.raises(RuntimeError, match="singular"):
        DenseSystem(ring, np.full((2, 2), 0.5)).solve(np.ones(2))


def grid(side, gamma=0.99):
    """Moves in four directions, which slip to another one at times."""
    states = np.arange(side * side)
    x, y = states % side, states // side
    moves = [
        np.clip(x + dx, 0, side - 1) + side * np.clip(y + dy, 0, side - 1)
        for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1))
    ]
    matrices = []
    for action in range(4):
        slipped = [
            sp.csr_array(
                (np.full(len(states), share), (states, moves[(action + k) % 4])),
                shape=(len(states), len(states)),
            )
            for k, share in ((0, 0.8), (1, 0.2))
        ]
        matrices.append(sp.csr_array(slipped[0] + slipped[1]))
    return TabularMDP.from_probabilities(matrices, gamma)


def scattered(n_states, gamma=0.99):
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(2 * n_states), 4)
    shares = rng.dirichlet(np.ones(4), 2 * n_states).reshape(-1)
    places = (rows, rng.integers(n_states, size=len(rows)))
    transition = sp.csr_array((shares, places), shape=(2 * n_states, n_states))
    return TabularMDP(transition, 2, gamma, np.full(n_states, 1.0 / n_states))


def test_the_dynamics_decide_how_their_systems_are_solved():
    assert structure_of(grid(10)).kind == "dense"
    assert structure_of(grid(30)).kind == "sparse"
    assert structure_of(scattered(900)).kind == "krylov"
    full = np.random.default_rng(1).dirichlet(np.ones(450), (450, 2))
    assert structure_of(TabularMDP.from_probabilities(full, 0.9)).kind == "dense"


@pytest.mark.parametrize("mdp", [grid(25), scattered(600)], ids=["grid", "scattered"])
def test_large_systems_are_solved_to_rounding(mdp):
    weights, right = random_weights(mdp, 1), np.random.default_rng(2).normal(size=mdp.n_states)
    check(linearise(mdp, weights), matrix_of(mdp, weights), right)


def test_where_a_krylov_method_stalls_factors_take_over(monkeypatch):
    monkeypatch.setattr(linear_systems, "KRYLOV_CYCLES", 1)
    monkeypatch.setattr(linear_systems, "KRYLOV_PRODUCTS", 2)
    mdp = grid(6, gamma=0.999)
    weights, right = random_weights(mdp, 1), np.random.default_rng(2).normal(size=36)
    check(KrylovSystem(mdp, weights), matrix_of(mdp, weights), right)
