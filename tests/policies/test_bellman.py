from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import log_softmax, logsumexp

import boirl
from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError, SolverError
from boirl.policies import TabularSolver

SEEDS = st.integers(0, 10_000)
OPERATORS = ("max", "boltzmann", "logsumexp")
ROUND = TabularMDP.from_probabilities(
    [np.array([[0.0, 1.0], [0.3, 0.7]]), np.array([[1.0, 0.0], [1.0, 0.0]])], gamma=0.9
)
"""With the rewards below and beta = 3.5, the sweeps of the boltzmann operator go round for ever."""
ROUND_REWARDS = np.array([[1.0, -1.0], [-2.0, -2.0]])


def dense(mdp):
    return mdp.transition.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)


def random_rewards(seed, *shape):
    return np.random.default_rng(seed).uniform(-2.0, 2.0, shape)


def back_up(bellman, beta, q):
    """The operators, written down a second time."""
    if bellman == "max":
        return q.max(axis=1)
    if bellman == "logsumexp":
        return logsumexp(beta * q, axis=1) / beta
    return (np.exp(log_softmax(beta * q, axis=1)) * q).sum(axis=1)


@pytest.mark.parametrize("bellman", OPERATORS)
@given(seed=SEEDS, beta=st.sampled_from([0.3, 1.0]), deterministic=st.booleans())
def test_the_solution_is_a_fixed_point(random_mdp, bellman, seed, beta, deterministic):
    mdp = random_mdp(seed, deterministic=deterministic)
    rewards = random_rewards(seed, 4, 3)
    # The boltzmann operator may need more sweeps than a contraction, and may never settle.
    solution = TabularSolver(bellman, beta, max_sweeps=5_000).solve_batch(mdp, rewards[None])
    assume(bellman != "boltzmann" or solution.converged[0])
    values, log_policy = solution.values[0], solution.log_policies[0]
    q = rewards + mdp.gamma * dense(mdp) @ values
    np.testing.assert_allclose(back_up(bellman, beta, q), values, atol=1e-10)
    np.testing.assert_allclose(log_policy, log_softmax(beta * q, axis=1), atol=1e-10)


@given(seed=SEEDS)
def test_max_is_the_best_of_all_deterministic_policies(random_mdp, seed):
    mdp = random_mdp(seed, n_states=3, n_actions=2)
    rewards, probabilities, states = random_rewards(seed, 3, 2), dense(mdp), np.arange(3)
    values = [
        np.linalg.solve(
            np.eye(3) - mdp.gamma * probabilities[states, actions], rewards[states, actions]
        )
        for actions in product(range(2), repeat=3)
    ]
    found = TabularSolver("max").solve(mdp, rewards).values
    np.testing.assert_allclose(found, np.max(values, axis=0), atol=1e-9)


@given(seed=SEEDS)
def test_logsumexp_sinks_to_max_as_the_temperature_falls(random_mdp, seed):
    mdp = random_mdp(seed)
    rewards = random_rewards(seed, 4, 3)
    best = TabularSolver("max").solve(mdp, rewards).values
    for beta in (1.0, 10.0, 100.0, 1000.0):
        above = TabularSolver("logsumexp", beta).solve(mdp, rewards).values - best
        assert (above >= -1e-10).all()
        assert (above <= np.log(3) / (beta * (1.0 - mdp.gamma)) + 1e-10).all()


@pytest.mark.parametrize("bellman", OPERATORS)
@pytest.mark.parametrize("deterministic", [False, True])
def test_a_batch_equals_one_at_a_time(random_mdp, bellman, deterministic):
    mdp, solver = random_mdp(3, deterministic=deterministic), TabularSolver(bellman)
    # Rewards of different sizes need different numbers of sweeps.
    rewards = random_rewards(3, 5, 4, 3) * np.logspace(-3, 0.3, 5)[:, None, None]
    batch = solver.solve_batch(mdp, rewards)
    assert batch.converged.all()
    for index, one in enumerate(rewards):
        single = solver.solve(mdp, one)
        np.testing.assert_allclose(batch.values[index], single.values, atol=1e-11)
        np.testing.assert_allclose(batch.log_policies[index], single.log_probabilities, atol=1e-11)


@pytest.mark.parametrize("bellman", OPERATORS)
def test_rewards_on_states_equal_the_same_for_every_action(random_mdp, bellman):
    mdp, solver, rewards = random_mdp(4), TabularSolver(bellman), random_rewards(4, 4, 1)
    narrow, wide = solver.solve(mdp, rewards), solver.solve(mdp, np.repeat(rewards, 3, axis=1))
    np.testing.assert_allclose(narrow.log_probabilities, wide.log_probabilities, atol=1e-12)


def test_a_warm_start_changes_the_sweeps_and_not_the_solution(random_mdp):
    mdp, solver, rewards = random_mdp(5), TabularSolver("max"), random_rewards(5, 1, 4, 3)
    cold = solver.solve_batch(mdp, rewards)
    warm = solver.solve_batch(mdp, rewards, warm_start=cold.values)
    assert warm.sweeps < cold.sweeps
    np.testing.assert_allclose(warm.values, cold.values, atol=1e-10)


@pytest.mark.parametrize(("bellman", "sink"), [("max", 0.0), ("logsumexp", -np.log(2.0))])
def test_without_discount_values_count_the_steps_to_an_absorbing_state(bellman, sink):
    # A corridor to state 3, where the second action does nothing. The absorbing state of the
    # maximum-entropy operator pays for the choice it offers.
    corridor = TabularMDP.from_next_states([[1, 0], [2, 1], [3, 2], [3, 3]], gamma=1.0)
    rewards = np.array([[-1.0], [-1.0], [-1.0], [sink]])
    values = TabularSolver(bellman).solve(corridor, rewards).values
    # Maximum entropy: z = exp(v) obeys z(s) = exp(-1) (z(s + 1) + z(s)).
    step = -1.0 if bellman == "max" else np.log(np.exp(-1.0) / (1.0 - np.exp(-1.0)))
    np.testing.assert_allclose(values, [3 * step, 2 * step, step, 0.0], atol=1e-10)


@pytest.mark.parametrize("bellman", OPERATORS)
def test_without_discount_endless_rewards_have_no_solution(bellman):
    ring = TabularMDP.from_next_states([[1, 0], [0, 1]], gamma=1.0)
    with pytest.raises(SolverError, match=f"the {bellman} values did not converge"):
        TabularSolver(bellman).solve(ring, np.ones((2, 1)))


def test_boltzmann_sweeps_that_go_round_are_reported():
    solver = TabularSolver("boltzmann", inverse_temperature=3.5, method="sweeps")
    with pytest.raises(SolverError, match="not a contraction: lower the inverse temperature"):
        solver.solve(ROUND, ROUND_REWARDS)


@pytest.mark.parametrize("bellman", OPERATORS)
def test_newton_steps_arrive_where_sweeps_go_round(bellman):
    values = TabularSolver(bellman, 3.5).solve(ROUND, ROUND_REWARDS).values
    q = ROUND_REWARDS + ROUND.gamma * dense(ROUND) @ values
    np.testing.assert_allclose(back_up(bellman, 3.5, q), values, atol=1e-10)


def test_a_reward_that_fails_does_not_touch_the_others_of_a_batch():
    rewards = np.stack([np.zeros((2, 2)), ROUND_REWARDS])
    solution = TabularSolver("boltzmann", 3.5, method="sweeps").solve_batch(ROUND, rewards)
    assert solution.converged.tolist() == [True, False]
    np.testing.assert_allclose(np.exp(solution.log_policies[0]), 0.5)


def test_too_few_sweeps_are_reported_with_their_number(random_mdp):
    with pytest.raises(SolverError, match="after 3 sweeps they still change by"):
        TabularSolver("max", max_sweeps=3).solve(random_mdp(0), random_rewards(0, 4, 3))


@pytest.mark.parametrize("bellman", OPERATORS)
def test_large_rewards_neither_overflow_nor_keep_sweeping(random_mdp, bellman):
    policy = TabularSolver(bellman).solve(random_mdp(6), 1e6 * random_rewards(6, 4, 3))
    np.testing.assert_allclose(policy.probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bellman": "soft"}, "bellman is 'soft'; expected one of max, boltzmann, logsumexp"),
        ({"inverse_temperature": 0.0}, "inverse_temperature is 0"),
        ({"inverse_temperature": np.inf}, "inverse_temperature is inf"),
        ({"tolerance": -1e-9}, "tolerance is -1e-09"),
        ({"tolerance": np.nan}, "tolerance is nan"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        TabularSolver(**arguments)


def test_boltzmann_on_many_states_is_a_fixed_point_that_sweeps_agree_with():
    town = boirl.load_problem("road-network", n_links=400, seed=0, n_demonstrations=5)
    rewards = town.mdp.expected_rewards(town.reward, np.array([[2.2, -0.9, -0.4]]))
    solution = TabularSolver("boltzmann", tolerance=1e-9).solve_batch(town.mdp, rewards)
    assert town.mdp.n_states > 500
    assert solution.converged.all()
    swept = TabularSolver("boltzmann", tolerance=1e-9, max_sweeps=1)
    once_more = swept.solve_batch(town.mdp, rewards, solution.values)
    assert once_more.converged.all()
    np.testing.assert_allclose(once_more.values, solution.values, atol=1e-8)
