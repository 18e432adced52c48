"""Compiled sweeps do what NumPy does."""

from dataclasses import replace

import numpy as np
import pytest

from boirl.environments import TabularMDP
from boirl.policies import TabularSolver, operators
from boirl.policies.operators import BellmanEquation
from tests.policies.test_linear_systems import scattered

OPERATORS = ("max", "boltzmann", "logsumexp")


def uneven(n_states, terminal=()):
    """Dynamics whose rows have one entry, two, three and so on."""
    rng = np.random.default_rng(0)
    shares = rng.random((n_states, 3, n_states))
    reached = 1 + (np.arange(3 * n_states) % n_states).reshape(n_states, 3)
    shares[np.arange(n_states) >= reached[..., None]] = 0.0
    shares /= shares.sum(axis=-1, keepdims=True)
    shares = shares[..., rng.permutation(n_states)]
    return TabularMDP.from_probabilities(shares, 0.9, terminal=terminal)


def grid():
    return TabularMDP.from_next_states(np.random.default_rng(1).integers(9, size=(9, 2)), 0.9)


@pytest.mark.parametrize("bellman", OPERATORS)
@pytest.mark.parametrize("on_states", [False, True])
@pytest.mark.parametrize("precision", [np.float64, np.float32])
@pytest.mark.parametrize(
    "mdp",
    [uneven(4), uneven(7, terminal=[2, 5]), grid()],
    ids=["uneven", "terminal states", "deterministic"],
)
def test_compiled_sweeps_are_those_of_numpy(mdp, bellman, on_states, precision, monkeypatch):
    # However dense the dynamics are: the kernels read sparse rows.
    monkeypatch.setattr("boirl.environments.tabular.DENSE_SHARE", np.inf)
    mdp = replace(mdp)
    rng = np.random.default_rng(2)
    shape = (mdp.n_states, 1 if on_states else mdp.n_actions, 21)
    plain = BellmanEquation(mdp, rng.normal(size=shape).astype(precision), bellman, 2.0)
    compiled = replace(plain, compiled=True)
    start = rng.normal(size=(mdp.n_states, 21)).astype(precision)
    for times in (1, 2, 3):
        expected = plain.sweep(start.copy(), times)
        found = compiled.sweep(start.copy(), times)
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == precision
            np.testing.assert_allclose(one, other, atol=16 * np.finfo(precision).eps)
        np.testing.assert_allclose(compiled.update(start), plain.update(start), rtol=1e-5)


@pytest.mark.parametrize("bellman", OPERATORS)
def test_batches_have_the_same_values_compiled_or_not(bellman, monkeypatch):
    mdp = scattered(60, 0.9)
    rewards = np.random.default_rng(3).normal(size=(100, 60, 1))
    plain = TabularSolver(bellman).solve_batch(mdp, rewards)
    monkeypatch.setattr(operators, "COMPILED_FROM", 1)
    compiled, again = (TabularSolver(bellman).solve_batch(mdp, rewards) for _ in range(2))
    assert compiled.converged.all()
    np.testing.assert_allclose(compiled.values, plain.values, atol=1e-11)
    assert (compiled.values == again.values).all()


def test_large_sparse_batches_alone_are_compiled():
    def compiled(mdp, n, fill=0.0):
        rewards = np.full((mdp.n_states, 1, n), fill)
        equation = BellmanEquation(mdp, rewards, "max", 1.0)
        return equation.for_sweeps_from(np.zeros((mdp.n_states, n))).compiled

    assert compiled(scattered(500, 0.9), 200)
    assert not compiled(scattered(100, 0.9), 10)
    assert not compiled(scattered(20_000, 0.9), 1)
    assert not compiled(uneven(50), 1000)
    assert not compiled(scattered(500, 0.9), 200, fill=np.nan)


def test_some_of_the_equations_are_compiled_as_all_of_them_are():
    equation = BellmanEquation(scattered(60, 0.9), np.zeros((60, 1, 9)), "max", 1.0, compiled=True)
    some = equation.of(np.arange(9) > 4)
    assert some.compiled
    assert some.rewards.shape == (60, 1, 4)
    assert some.rewards.flags.c_contiguous
