from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boirl.policies import TabularPolicy, expected_return

SEEDS = st.integers(0, 10_000)


def dense(mdp):
    return mdp.transition.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)


def random_policy(seed, n_states=4, n_actions=3):
    rng = np.random.default_rng(seed)
    return TabularPolicy(np.log(rng.dirichlet(np.ones(n_actions), size=n_states)))


@pytest.mark.parametrize("deterministic", [False, True])
def test_sampled_steps_are_as_frequent_as_they_are_likely(random_mdp, deterministic):
    mdp, policy = random_mdp(0, deterministic=deterministic), random_policy(1)
    n, horizon, rng = 20_000, 4, np.random.default_rng(2)
    sampled = policy.sample(mdp, np.zeros(n, dtype=int), horizon, rng)
    occupied = np.eye(4)[0]
    for step in range(horizon):
        joint = occupied[:, None] * policy.probabilities
        here = sampled.step_numbers == step
        pairs = sampled.states[here] * 3 + sampled.actions[here]
        found = np.bincount(pairs, minlength=12).reshape(4, 3) / n
        assert (np.abs(found - joint) <= 4.5 * np.sqrt(joint * (1.0 - joint) / n)).all()
        occupied = np.einsum("sa,sat->t", joint, dense(mdp))


def test_next_states_are_the_states_that_follow(random_mdp):
    sampled = random_policy(1).sample(random_mdp(0), np.arange(4), 5, np.random.default_rng(0))
    assert sampled.starts.tolist() == [0, 1, 2, 3]
    for one in sampled:
        assert one.next_states[:-1].tolist() == one.states[1:].tolist()


def test_the_same_seed_gives_the_same_trajectories(random_mdp):
    mdp, policy, starts = random_mdp(0), random_policy(1), np.arange(4)
    first, again, other = (
        policy.sample(mdp, starts, 10, np.random.default_rng(seed)).to_dict() for seed in (5, 5, 6)
    )
    for name in first:
        np.testing.assert_array_equal(first[name], again[name])
    assert (first["states"] != other["states"]).any()


def test_impossible_actions_are_never_taken(random_mdp):
    policy = TabularPolicy(np.log(np.tile([0.5, 1e-300, 0.5], (4, 1))))
    sampled = policy.sample(random_mdp(0), np.zeros(500, dtype=int), 5, np.random.default_rng(0))
    assert set(sampled.actions.tolist()) == {0, 2}


@given(seed=SEEDS)
def test_expected_return_sums_over_all_trajectories(random_mdp, seed):
    mdp, horizon = random_mdp(seed, n_states=2, n_actions=2), 3
    policy = random_policy(seed, 2, 2)
    rewards = np.random.default_rng(seed + 2).normal(size=(2, 2))
    acts, moves = policy.probabilities, dense(mdp)
    total = 0.0
    for states in product(range(2), repeat=horizon):
        for actions in product(range(2), repeat=horizon):
            likely = mdp.start[states[0]] * np.prod(acts[states, actions])
            likely *= np.prod(moves[states[:-1], actions[:-1], states[1:]])
            total += likely * (mdp.gamma ** np.arange(horizon) * rewards[states, actions]).sum()
    found = expected_return(mdp, policy.log_probabilities[None], rewards, mdp.start, horizon)
    np.testing.assert_allclose(found, [total], atol=1e-12)


def test_expected_return_is_what_sampling_gives(random_mdp):
    mdp, policy, n, horizon = random_mdp(7, n_states=9), random_policy(8, 9), 20_000, 12
    rng = np.random.default_rng(9)
    rewards = rng.normal(size=(9, 3))
    starts = rng.choice(9, size=n, p=mdp.start)
    sampled = policy.sample(mdp, starts, horizon, rng)
    paid = mdp.gamma**sampled.step_numbers * rewards[sampled.states, sampled.actions]
    returns = paid.reshape(n, horizon).sum(axis=1)
    exact = expected_return(mdp, policy.log_probabilities[None], rewards, mdp.start, horizon)[0]
    assert abs(returns.mean() - exact) <= 4.0 * returns.std() / np.sqrt(n)


def test_expected_return_takes_rewards_of_states(random_mdp):
    mdp, policies = (
        random_mdp(0),
        np.stack([random_policy(seed).log_probabilities for seed in (1, 2)]),
    )
    rewards = np.arange(4.0)[:, None]
    narrow = expected_return(mdp, policies, rewards, mdp.start, 6)
    wide = expected_return(mdp, policies, np.repeat(rewards, 3, axis=1), mdp.start, 6)
    np.testing.assert_allclose(narrow, wide, rtol=1e-13)
    assert narrow[0] != narrow[1]


def test_the_uniform_policy_prefers_nothing(random_mdp):
    np.testing.assert_allclose(TabularPolicy.uniform(random_mdp(0)).probabilities, 1 / 3)
