"""Systems of a finite horizon are solved step by step."""

import numpy as np
import pytest

from boirl.environments.unrolled import unroll
from boirl.policies import TabularSolver
from boirl.policies.finite_horizon import HorizonSystem
from boirl.policies.linear_systems import SparseSystem


def test_systems_agree_with_factors(random_mdp):
    mdp = unroll(random_mdp(0), 5)
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.ones(mdp.n_actions), mdp.n_states)
    weights[mdp.terminal] = 0.0
    right = rng.normal(size=mdp.n_states)
    factors = SparseSystem(mdp.chain(weights), mdp.gamma)
    system = HorizonSystem(mdp, weights)
    np.testing.assert_allclose(system.solve(right), factors.solve(right))
    np.testing.assert_allclose(system.solve_transposed(right), factors.solve_transposed(right))


@pytest.mark.parametrize("bellman", ["max", "boltzmann", "logsumexp"])
def test_the_solution_is_that_of_the_unrolled_problem(random_mdp, bellman):
    mdp = random_mdp(2)
    rewards = np.random.default_rng(3).normal(size=(2, 4, 3))
    found = TabularSolver(bellman, horizon=6).solve_batch(mdp, rewards)
    unrolled = unroll(mdp, 6)
    expected = TabularSolver(bellman).solve_batch(unrolled, np.tile(rewards, (1, 7, 1)))
    assert found.converged.all()
    np.testing.assert_allclose(found.values, expected.values, atol=1e-11)
    live = ~unrolled.is_terminal
    np.testing.assert_allclose(
        found.log_policies[:, live], expected.log_policies[:, live], atol=1e-11
    )
