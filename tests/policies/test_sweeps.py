"""Sweeps, plain and shifted, agree; impatient ones leave the rest to others."""

import numpy as np
import pytest

from boirl.environments import TabularMDP
from boirl.policies.operators import BellmanEquation
from boirl.policies.sweeps import contraction_limit, enough, sweep, sweep_coarsely

OPERATORS = ("max", "boltzmann", "logsumexp")


def equation(mdp, bellman, n=3, seed=0):
    rewards = np.random.default_rng(seed).normal(size=(mdp.n_states, mdp.n_actions, n))
    return BellmanEquation(mdp, rewards, bellman, 1.0)


@pytest.mark.parametrize("bellman", OPERATORS)
@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.99])
def test_a_shift_changes_the_number_of_sweeps_and_not_the_values(random_mdp, bellman, gamma):
    asked = equation(random_mdp(0, n_states=12, gamma=gamma), bellman)
    start = np.zeros((12, 3))
    plain = sweep(asked, start, 1e-12, 10_000)
    shifted = sweep(asked, start, 1e-12, 10_000, shift=True)
    assert plain.converged.all()
    assert shifted.converged.all()
    np.testing.assert_allclose(shifted.values, plain.values, atol=1e-9)
    if gamma == 0.99:
        assert shifted.sweeps < 0.1 * plain.sweeps


def test_a_warm_start_is_not_written_to(random_mdp):
    start = np.ones((4, 3))
    sweep(equation(random_mdp(1), "max"), start, 1e-12, 10)
    assert (start == 1.0).all()


def test_sweeps_end_at_the_limit(random_mdp):
    for limit in (1, 3, 4, 6):
        swept = sweep(equation(random_mdp(2), "max"), np.zeros((4, 3)), 1e-12, limit)
        assert swept.sweeps == limit
        assert not swept.converged.any()
        assert np.isfinite(swept.residuals).all()


def test_impatient_sweeps_leave_slow_problems(random_mdp):
    # Two halves that never meet have two levels, and one shift cannot serve both.
    halves = random_mdp(3, n_states=3, gamma=0.9999).transition.toarray().reshape(3, 3, 3)
    probabilities = np.zeros((6, 3, 6))
    probabilities[:3, :, :3] = probabilities[3:, :, 3:] = halves
    apart = equation(TabularMDP.from_probabilities(probabilities, 0.9999), "logsumexp")
    swept = sweep(apart, np.zeros((6, 3)), 1e-12, 10**6, shift=True, patience=True)
    assert not swept.converged.any()
    assert swept.sweeps < 100


def test_what_is_enough_grows_with_the_values():
    assert enough(np.array([[1.0], [2.0]]), 1e-12).tolist() == [1e-12]
    assert enough(np.array([[1e9], [2.0]]), 1e-12)[0] > 1e-7


def test_a_contraction_is_given_the_sweeps_it_needs(random_mdp):
    asked = equation(random_mdp(4, gamma=0.9), "max")
    limit = contraction_limit(0.9, 1e-12, asked.rewards, 1.0)
    assert sweep(asked, np.zeros((4, 3)), 1e-12, limit).converged.all()
    assert limit < 1000


@pytest.mark.parametrize("bellman", OPERATORS)
@pytest.mark.parametrize("deterministic", [False, True])
def test_coarse_sweeps_lead_near_the_values(random_mdp, bellman, deterministic):
    asked = equation(random_mdp(5, n_states=12, deterministic=deterministic), bellman, n=20)
    exact = sweep(asked, np.zeros((12, 20)), 1e-12, 10_000).values
    near = sweep_coarsely(asked, np.zeros((12, 20)))
    assert near.dtype == np.float64
    far = np.abs(exact).max()
    if deterministic and bellman == "boltzmann":
        left = (near == 0.0).all(axis=0)
        assert left.any()
        near, exact = near[:, ~left], exact[:, ~left]
    assert np.abs(near - exact).max(initial=0.0) < (1e-3 if not deterministic else 0.5) * far


def test_a_few_equations_are_not_swept_coarsely(random_mdp):
    start = np.zeros((4, 3))
    assert sweep_coarsely(equation(random_mdp(6), "max"), start) is start
