"""Sweeps and Newton steps together arrive where plain sweeps do, whatever the dynamics."""

import numpy as np
import pytest

from boirl.environments import TabularMDP
from boirl.policies import TabularSolver
from tests.policies.test_linear_systems import grid, scattered

OPERATORS = ("max", "boltzmann", "logsumexp")


def corridor(n_states, gamma):
    """A walk with a drift: it mixes slowly."""
    states = np.arange(n_states)
    ways = [np.maximum(states - 1, 0), np.minimum(states + 1, n_states - 1)]
    onward = np.stack([np.eye(n_states)[way] for way in ways], axis=1)
    return TabularMDP.from_probabilities(0.9 * onward + 0.1 * onward[:, ::-1], gamma)


@pytest.mark.parametrize("bellman", OPERATORS)
@pytest.mark.parametrize(
    "mdp",
    [corridor(30, 0.99), grid(7), scattered(60), scattered(500, 0.9), grid(22, 0.9)],
    ids=["corridor", "grid", "scattered", "many scattered", "large grid"],
)
@pytest.mark.parametrize("count", [1, 4])
def test_the_automatic_choice_agrees_with_plain_sweeps(mdp, bellman, count):
    rewards = np.random.default_rng(0).normal(size=(count, mdp.n_states, 1))
    plain = TabularSolver(bellman, method="sweeps").solve_batch(mdp, rewards)
    found = TabularSolver(bellman).solve_batch(mdp, rewards)
    assert plain.converged.all()
    assert found.converged.all()
    np.testing.assert_allclose(found.values, plain.values, atol=1e-9)
    assert found.sweeps < plain.sweeps


@pytest.mark.parametrize("bellman", OPERATORS)
def test_slow_mixing_is_left_to_newton(bellman):
    mdp = corridor(60, 0.9999)
    rewards = np.random.default_rng(1).normal(size=(1, 60, 1))
    solution = TabularSolver(bellman).solve_batch(mdp, rewards)
    assert solution.converged.all()
    assert solution.sweeps < 200
    assert solution.linearisation is not None


@pytest.mark.parametrize("bellman", ["max", "logsumexp"])
@pytest.mark.parametrize("count", [1, 3])
def test_without_a_discount_all_that_ends_is_solved(bellman, count):
    corridor = TabularMDP.from_next_states([[1, 0], [2, 1], [3, 2], [3, 3]], 1.0, terminal=[3])
    rewards = np.full((count, 4, 1), -1.0)
    found = TabularSolver(bellman).solve_batch(corridor, rewards)
    # Maximum entropy: z = exp(v) obeys z(s) = exp(-1) (z(s + 1) + z(s)).
    step = -1.0 if bellman == "max" else np.log(np.exp(-1.0) / (1.0 - np.exp(-1.0)))
    np.testing.assert_allclose(found.values, [[3 * step, 2 * step, step, 0.0]] * count, atol=1e-10)


def test_without_a_discount_ties_do_not_go_round_for_ever():
    # States 0 and 1 lead to each other for nothing, and 1 to the end, for nothing either.
    mdp = TabularMDP.from_next_states([[1, 1], [0, 2], [2, 2]], 1.0, terminal=[2])
    found = TabularSolver("max").solve_batch(mdp, np.zeros((1, 3, 1)))
    assert found.converged.all()
    np.testing.assert_allclose(found.values, 0.0, atol=1e-12)


def test_rewards_without_end_are_a_failure_and_not_a_number():
    mdp = TabularMDP.from_next_states([[1, 1], [0, 2], [2, 2]], 1.0, terminal=[2])
    for bellman in ("max", "logsumexp"):
        found = TabularSolver(bellman).solve_batch(mdp, np.ones((2, 3, 1)))
        assert not found.converged.any()


@pytest.mark.parametrize("beta", [1.0, 1.115])
def test_single_precision_does_not_lead_boltzmann_elsewhere(beta, monkeypatch):
    # One state that two actions leave sooner or later. With a beta of 1.115, 0.83 and 4.03 are
    # values that sweeps end at, and 2.39 is where starts for one and for the other meet.
    probabilities = [[[0.0124, 0.9876], [0.9868, 0.0132]], [[0.0, 1.0], [0.0, 1.0]]]
    mdp = TabularMDP.from_probabilities(probabilities, 0.95, terminal=[1])
    starts = np.zeros((500, 2))
    starts[:, 0] = np.linspace(-3.0, 8.0, 500)
    rewards = np.tile([[0.059, 0.299], [0.0, 0.0]], (500, 1, 1))
    solver = TabularSolver("boltzmann", beta)
    found = solver.solve_batch(mdp, rewards, starts)
    monkeypatch.setattr("boirl.policies.fixed_points.sweep_coarsely", lambda _, values: values)
    double = solver.solve_batch(mdp, rewards, starts)
    assert found.converged.all()
    np.testing.assert_allclose(found.values, double.values, atol=1e-9)
    assert np.ptp(found.values[:, 0]) > (3.0 if beta == 1.115 else -1.0)
