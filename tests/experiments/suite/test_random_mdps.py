"""Random dynamics and rewards."""

from typing import Any

import numpy as np
import pytest

from boirl.experiments.suite import random_mdps
from boirl.experiments.suite.catalogue import suite_problem


@pytest.mark.parametrize("seed", range(1000, 1006))
def test_dynamics_are_sparse(seed):
    mdp = random_mdps.random_mdp(np.random.default_rng(seed))
    ways = np.diff(mdp.transition.indptr)
    assert 30 <= mdp.n_states <= 60
    assert 3 <= mdp.n_actions <= 5
    assert set(ways) <= {2, 3, 4, 5}
    assert mdp.next_states is None


def test_dynamics_may_be_deterministic():
    mdp = random_mdps.random_mdp(np.random.default_rng(0), deterministic=True)
    assert mdp.next_states is not None


def test_settings_vary_with_the_seed():
    problems: list[Any] = [suite_problem("mdp-many", seed) for seed in range(1000, 1012)]
    assert {problem.box.dimension for problem in problems} >= {7, 8, 9}
    assert {problem.solver.bellman for problem in problems} == {"max", "boltzmann", "logsumexp"}
    assert {problem.solver.inverse_temperature for problem in problems} == {0.5, 1.0, 2.0}
    assert {problem.reward.depends_on for problem in problems} == {"state", "state_action"}


def test_with_odd_seeds_the_logistic_reward_has_a_translation_that_changes_nothing():
    problem = suite_problem("mdp-logistic", 1001)
    one, other = np.array([[2.0, 0.1, -1.0], [2.0, 0.1, 1.5]])
    assert problem.nll(one) == pytest.approx(problem.nll(other), abs=1e-8)
    assert suite_problem("mdp-logistic", 1000).box.names == ("steepness", "midpoint")


def test_networks_and_products_are_not_linear():
    for name in ("mdp-network", "mdp-products"):
        problem: Any = suite_problem(name, 1000)
        box = problem.box
        ends = np.stack([box.low, box.high, 0.5 * (box.low + box.high)])
        rewards = problem.mdp.expected_rewards(problem.reward, ends)
        assert np.abs(0.5 * (rewards[0] + rewards[1]) - rewards[2]).max() > 0.1
