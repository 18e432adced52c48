"""Terminal states and horizons, against a second implementation in a few lines."""

import numpy as np
import pytest
import torch
from scipy.special import log_softmax, logsumexp

import boirl
from boirl.environments import TabularMDP
from boirl.errors import DemonstrationError, InvalidInputError
from boirl.problem.endings import default_horizon
from boirl.projections import LogRho, sample_rollouts
from boirl.results.reward_distances import starc_distance

OPERATORS = ("max", "boltzmann", "logsumexp")
SEEDS = (0, 1, 2)
ENDS = [2, 5]
BOUNDS = {"first": (-3.0, 0.0), "second": (-3.0, 0.0)}
THETA = np.array([-1.3, -0.6])


def dynamics(seed, deterministic):
    """Six states; the first action leads to the next state, so that an end is always in reach."""
    rng = np.random.default_rng(seed)
    if deterministic:
        table = rng.integers(6, size=(6, 3))
        table[:, 0] = np.minimum(np.arange(6) + 1, 5)
        return np.eye(6)[table]
    probabilities = rng.dirichlet(np.full(6, 0.3), size=(6, 3))
    probabilities[:, 0] = (
        0.5 * probabilities[:, 0] + 0.5 * np.eye(6)[np.minimum(np.arange(6) + 1, 5)]
    )
    return probabilities


def build(seed, gamma, bellman, deterministic, depends_on="state", horizon=None):
    rng = np.random.default_rng(seed + 100)
    mdp = TabularMDP.from_probabilities(dynamics(seed, deterministic), gamma, terminal=ENDS)
    shape = {"state": (6, 2), "state_action": (6, 3, 2)}[depends_on]
    reward = boirl.LinearReward(rng.uniform(0.2, 1.0, shape), BOUNDS)
    solver = boirl.TabularSolver(bellman, horizon=horizon)
    problem = boirl.TabularProblem(mdp, reward, solver=solver, truth=THETA)
    return problem.with_demonstrations(problem.demonstrate(THETA, 12, seed=seed, horizon=7))


def reference(problem, theta, steps=None):
    """Values, log policy and NLL by sweeps in which terminal states are worth nothing."""
    solver, mdp = problem.solver, problem.mdp
    features = problem.reward.table.reshape(6, -1, 2)
    probabilities = dense(mdp)
    back_up = {
        "max": lambda q: q.max(axis=1),
        "logsumexp": lambda q: logsumexp(q, axis=1),
        "boltzmann": lambda q: (np.exp(log_softmax(q, axis=1)) * q).sum(axis=1),
    }[solver.bellman]
    values, policies = np.zeros(6), []
    for _ in range(steps or 20_000):
        q = features @ theta + mdp.gamma * probabilities @ values
        policies.append(log_softmax(q, axis=1))
        before, values = values, np.where(mdp.is_terminal, 0.0, back_up(q))
        if steps is None and np.abs(values - before).max() < 1e-14:
            break
    return values, policies


def dense(mdp):
    return mdp.transition.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)


def nll_of(problem, policy_at):
    shown = problem.demonstrations
    logs = [
        policy_at(step)[state, action]
        for step, state, action in zip(shown.step_numbers, shown.states, shown.actions, strict=True)
    ]
    return -sum(logs) / len(shown)


@pytest.mark.parametrize("bellman", OPERATORS)
@pytest.mark.parametrize("gamma", [0.9, 1.0])
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("depends_on", ["state", "state_action"])
@pytest.mark.parametrize("seed", SEEDS)
def test_values_policies_likelihood_and_return(seed, gamma, bellman, deterministic, depends_on):
    problem = build(seed, gamma, bellman, deterministic, depends_on)
    values, policies = reference(problem, THETA)
    policy, live = problem.policy(THETA), ~problem.mdp.is_terminal
    np.testing.assert_allclose(policy.values, values, atol=1e-10)
    np.testing.assert_allclose(policy.log_probabilities[live], policies[-1][live], atol=1e-10)
    assert (policy.probabilities[ENDS] == 0.0).all()
    evaluation = problem.evaluate(THETA)
    assert evaluation.nll == pytest.approx(nll_of(problem, lambda _: policies[-1]), abs=1e-10)
    assert problem.nll_batch(THETA[None])[0] == pytest.approx(evaluation.nll, abs=1e-10)
    now = np.bincount(problem.demonstrations.starts, minlength=6) / len(problem.demonstrations)
    rewards, total = problem.reward.table.reshape(6, -1, 2) @ THETA, 0.0
    probabilities = np.exp(policies[-1])
    for step in range(problem.steps):
        now = np.where(problem.mdp.is_terminal, 0.0, now)
        total += gamma**step * (now[:, None] * probabilities * rewards).sum()
        now = np.einsum("s,sa,sat->t", now, probabilities, dense(problem.mdp))
    assert problem.esor(THETA) == pytest.approx(total, abs=1e-10)


@pytest.mark.parametrize("bellman", OPERATORS)
@pytest.mark.parametrize("gamma", [0.9, 1.0])
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("horizon", [None, 7])
def test_gradients(gamma, bellman, deterministic, horizon):
    problem = build(3, gamma, bellman, deterministic, horizon=horizon)
    _, gradient = problem.nll_and_gradient(THETA)
    step = 1e-6
    expected = [
        (problem.nll(THETA + step * axis) - problem.nll(THETA - step * axis)) / (2 * step)
        for axis in np.eye(2)
    ]
    np.testing.assert_allclose(gradient, expected, atol=1e-7)


@pytest.mark.parametrize("bellman", OPERATORS)
@pytest.mark.parametrize("gamma", [0.9, 1.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_with_a_horizon_policies_depend_on_the_steps_left(seed, gamma, bellman):
    problem = build(seed, gamma, bellman, False, horizon=7)
    _, policies = reference(problem, THETA, steps=7)
    live = ~problem.mdp.is_terminal
    found = problem.policy(THETA).log_probabilities.reshape(8, 6, 3)
    for step in range(7):
        np.testing.assert_allclose(found[step, live], policies[6 - step][live], atol=1e-12)
    expected = nll_of(problem, lambda step: policies[6 - step])
    assert problem.evaluate(THETA).nll == pytest.approx(expected, abs=1e-10)
    assert problem.nll_batch(THETA[None])[0] == pytest.approx(expected, abs=1e-10)
    again = problem.policy_of(problem.evaluate(THETA))
    np.testing.assert_allclose(again.log_probabilities[:42], found.reshape(-1, 3)[:42])


def test_a_search_works_with_a_horizon_and_with_ends():
    for horizon in (None, 7):
        problem = build(1, 1.0, "logsumexp", False, "state_action", horizon)
        found = boirl.explore(problem, evaluations=8, seed=1000, n_rollouts=20)
        assert found.best_nll <= problem.nll(THETA) + 0.5
        assert "NLL" in str(found)


def test_a_long_horizon_is_no_horizon():
    stationary, long = (build(0, 0.8, "logsumexp", False, horizon=h) for h in (None, 200))
    np.testing.assert_allclose(
        long.policy(THETA).log_probabilities[:2], stationary.policy(THETA).log_probabilities[:2]
    )


def test_roll_outs_end_where_they_should():
    problem = build(4, 0.9, "logsumexp", False)
    starts = np.full(200, 0)
    rolled = problem.roll_out(None, starts, 30, np.random.default_rng(0))
    ended = problem.mdp.is_terminal[rolled.next_states]
    last = np.cumsum(rolled.lengths) - 1
    assert not problem.mdp.is_terminal[rolled.states].any()
    assert ended[last].sum() == ended.sum() > 150
    assert rolled.lengths.min() < 5


def test_the_projection_sums_up_to_the_end():
    problem = build(5, 0.9, "logsumexp", False)
    shown = problem.demonstrations.subset([0, 1])
    rollouts = sample_rollouts(problem, shown, 3, np.random.default_rng(0))
    found = LogRho(problem, shown, rollouts).project(torch.tensor(THETA)[None])[0].numpy()
    table = problem.reward.table @ THETA

    def returns(one):
        return sum(0.9**step * table[state] for step, state in enumerate(one.states))

    for number in range(2):
        own = returns(shown[number])
        others = [returns(one) for one in rollouts[number]]
        assert found[number] == pytest.approx(own - logsumexp([own, *others]))


def test_what_terminal_states_pay_makes_no_difference():
    problem = build(6, 0.9, "max", False)
    table = problem.reward.table.copy()
    table[ENDS] = 1e9
    other = boirl.TabularProblem(
        problem.mdp, boirl.LinearReward(table, BOUNDS), problem.demonstrations
    )
    assert other.nll(THETA) == problem.nll(THETA)
    rewards = problem.mdp.expected_rewards(problem.reward, THETA[None])[0]
    spoilt = rewards.copy()
    spoilt[ENDS] = 5.0
    assert starc_distance(problem.mdp, np.stack([rewards, spoilt])).max() == pytest.approx(0.0)


def test_a_constant_matters_where_trajectories_end():
    problem = build(7, 0.9, "max", False)
    rewards = problem.mdp.expected_rewards(problem.reward, THETA[None])[0]
    assert starc_distance(problem.mdp, np.stack([rewards, rewards + 3.0])).max() > 0.1


def test_padding_after_the_end_is_left_out():
    mdp = TabularMDP.from_next_states([[1], [2], [2]], gamma=0.9, terminal=[2])
    reward = boirl.LinearReward(np.ones((3, 1)), {"weight": (-1, 0)})
    padded = boirl.Demonstrations.from_arrays([[0, 1, 2, 2]], [[0, 0, 0, 0]])
    problem = boirl.TabularProblem(mdp, reward, padded)
    assert problem.demonstrations.lengths.tolist() == [2]
    assert problem.demonstrations.next_states.tolist() == [1, 2]
    with pytest.raises(DemonstrationError, match="trajectory 0, step 0: state 2 is terminal"):
        problem.with_demonstrations(boirl.Demonstrations.from_arrays([[2, 2]], [[0, 0]]))
    with pytest.raises(DemonstrationError, match="step 1: state 2 is terminal; no action leaves"):
        problem.with_demonstrations(boirl.Demonstrations.from_arrays([[1, 2, 0]], [[0, 0, 0]]))


def test_demonstrations_are_not_longer_than_the_horizon():
    problem = build(8, 0.9, "max", False)
    solver = boirl.TabularSolver("max", horizon=2)
    with pytest.raises(DemonstrationError, match="expected at most 2, the horizon of the solver"):
        boirl.TabularProblem(problem.mdp, problem.reward, problem.demonstrations, solver)


def test_default_lengths():
    ring = [[1], [0]]
    assert default_horizon(TabularMDP.from_next_states(ring, 0.9)) == 44
    assert default_horizon(TabularMDP.from_next_states(ring, 0.99999)) == 1000
    assert default_horizon(TabularMDP.from_next_states(ring, 1.0, terminal=[1])) == 1000
    with pytest.raises(InvalidInputError, match="no natural length; pass horizon"):
        default_horizon(TabularMDP.from_next_states(ring, 1.0))
