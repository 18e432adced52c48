"""Distances between rewards: what they must not see, and slow computations they must match."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError
from boirl.results.reward_distances import (
    epic_distance,
    reward_distances,
    starc_distance,
    value_canonical,
)
from boirl.rewards import LinearReward

SEEDS = st.integers(0, 10_000)
GAMMAS = st.sampled_from([0.3, 0.9, 0.999])
FACTORS = st.floats(1e-6, 1e6)
N_STATES, N_ACTIONS = 4, 3


def random_tables(seed, count=3, n_actions=N_ACTIONS):
    return np.random.default_rng(seed).normal(size=(count, N_STATES, n_actions))


def expected_shaping(mdp, potential):
    """`gamma E[Phi(s')] - Phi(s)`, `S x A`."""
    return mdp.gamma * mdp.expect_next(potential[:, None])[..., 0] - potential[:, None]


def steps_of(tables):
    """Tables `n x S x A x S` as the function from transitions that EPIC asks for."""
    return lambda steps: tables[:, steps.states, steps.actions, steps.next_states]


def random_steps(seed, count=3, n_states=N_STATES):
    return np.random.default_rng(seed).normal(size=(count, n_states, N_ACTIONS, n_states))


def random_weights(seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.1, 5.0, N_STATES), rng.uniform(0.1, 5.0, N_ACTIONS)


def assert_is_a_distance(distances):
    np.testing.assert_array_equal(distances, distances.T)
    np.testing.assert_array_equal(np.diag(distances), 0.0)
    assert (distances >= 0.0).all()
    assert (distances <= 1.0).all()
    detours = distances[:, :, None] + distances[None]
    assert (distances[:, None] <= detours + 1e-12).all()


@pytest.mark.parametrize("columns", [1, N_ACTIONS])
@pytest.mark.parametrize("deterministic", [True, False])
@given(seed=SEEDS, gamma=GAMMAS)
def test_the_canonical_form_is_the_advantage_of_the_uniform_policy(
    random_mdp, columns, deterministic, seed, gamma
):
    mdp = random_mdp(seed, gamma=gamma, deterministic=deterministic)
    rewards = random_tables(seed, n_actions=columns)
    dynamics = mdp.transition.toarray().reshape(N_STATES, N_ACTIONS, N_STATES)
    expected = np.empty((len(rewards), N_STATES, N_ACTIONS))
    for n, table in enumerate(np.broadcast_to(rewards, expected.shape)):
        inverse = np.linalg.inv(np.eye(N_STATES) - gamma * dynamics.mean(axis=1))
        values = inverse @ table.mean(axis=1)
        for s, a in product(range(N_STATES), range(N_ACTIONS)):
            expected[n, s, a] = table[s, a] + gamma * dynamics[s, a] @ values - values[s]
    np.testing.assert_allclose(value_canonical(mdp, rewards), expected, rtol=0.0, atol=1e-9)


@given(seed=SEEDS, gamma=GAMMAS)
def test_canonical_advantages_average_to_zero_and_are_canonical_already(random_mdp, seed, gamma):
    mdp = random_mdp(seed, gamma=gamma)
    canonical = value_canonical(mdp, random_tables(seed))
    np.testing.assert_allclose(canonical.mean(axis=2), 0.0, atol=1e-10)
    np.testing.assert_allclose(value_canonical(mdp, canonical), canonical, atol=1e-10)


@given(seed=SEEDS, gamma=GAMMAS, size=st.sampled_from([1.0, 100.0]), factor=FACTORS)
def test_starc_sees_neither_shaping_nor_constants_nor_scale(random_mdp, seed, gamma, size, factor):
    mdp = random_mdp(seed, gamma=gamma)
    first, second = random_tables(seed, 2)
    potential = size * np.random.default_rng(seed + 1).normal(size=N_STATES)
    shaped = first + expected_shaping(mdp, potential)
    # A constant is the shaping by a constant potential, so it goes the same way.
    same = np.stack([first, shaped, factor * first, first + size, factor * (shaped - size)])
    distances = starc_distance(mdp, np.concatenate([same, second[None]]))
    np.testing.assert_allclose(distances[:5, :5], 0.0, atol=1e-7)
    np.testing.assert_allclose(distances[:5, 5], distances[0, 5], atol=1e-7)
    assert distances[0, 5] > 0.01


@given(seed=SEEDS, weighted=st.booleans())
def test_starc_is_a_distance(random_mdp, seed, weighted):
    weights = np.random.default_rng(seed).random((N_STATES, N_ACTIONS)) if weighted else None
    rewards = np.concatenate([random_tables(seed, 5), np.zeros((1, N_STATES, N_ACTIONS))])
    rewards = np.concatenate([rewards, -rewards[:2]])
    assert_is_a_distance(starc_distance(random_mdp(seed), rewards, weights))


@given(seed=SEEDS)
def test_the_opposite_of_a_reward_is_as_far_as_can_be(random_mdp, seed):
    mdp, rewards = random_mdp(seed), random_tables(seed, 1)
    starc = starc_distance(mdp, np.concatenate([rewards, -rewards]))
    np.testing.assert_allclose(starc[0, 1], 1.0, rtol=1e-12)
    steps = random_steps(seed, 1)
    epic = epic_distance(mdp, steps_of(np.concatenate([steps, -steps])))
    np.testing.assert_allclose(epic[0, 1], 1.0, rtol=1e-12)


@given(seed=SEEDS, gamma=GAMMAS)
def test_rewards_that_order_no_policies_are_alike_and_half_way_to_others(random_mdp, seed, gamma):
    mdp = random_mdp(seed, gamma=gamma)
    shaping = expected_shaping(mdp, np.random.default_rng(seed).normal(size=N_STATES))
    constant = np.full((N_STATES, N_ACTIONS), -1 / 3)
    trivial = np.stack([np.zeros_like(constant), constant, shaping, shaping + 1e3])
    distances = starc_distance(mdp, np.concatenate([trivial, random_tables(seed, 2)]))
    np.testing.assert_array_equal(distances[:4, :4], 0.0)
    np.testing.assert_allclose(distances[:4, 4:], 0.5, rtol=1e-12)


@given(seed=SEEDS)
def test_equal_weights_are_the_default_and_only_their_ratios_count(random_mdp, seed):
    mdp, rewards = random_mdp(seed), random_tables(seed)
    plain = starc_distance(mdp, rewards)
    equal = starc_distance(mdp, rewards, np.full((N_STATES, N_ACTIONS), 7.0))
    np.testing.assert_allclose(equal, plain, atol=1e-14)
    weights = np.random.default_rng(seed).random((N_STATES, N_ACTIONS))
    found = starc_distance(mdp, rewards, weights)
    np.testing.assert_allclose(starc_distance(mdp, rewards, 9.0 * weights), found, atol=1e-14)
    assert np.abs(found - plain).max() > 1e-4
    first, second, _ = value_canonical(mdp, rewards)
    cosine = (weights * first * second).sum() / np.sqrt(
        (weights * first**2).sum() * (weights * second**2).sum()
    )
    np.testing.assert_allclose(found[0, 1], np.sqrt((1.0 - cosine) / 2.0), rtol=1e-9)


def test_state_actions_without_weight_do_not_count(random_mdp):
    mdp = random_mdp(0)
    weights = np.zeros((N_STATES, N_ACTIONS))
    weights[1] = 1.0
    canonical = value_canonical(mdp, random_tables(0, 1))
    other = canonical.copy()
    other[0, 3] *= -1.0
    elsewhere = canonical.copy()
    elsewhere[0, 1] = 0.0
    # These tables are canonical already, so they differ only where they were changed.
    rewards = np.concatenate([canonical, other, elsewhere])
    distances = starc_distance(mdp, rewards, weights)
    np.testing.assert_allclose(distances[0, 1], 0.0, atol=1e-12)
    np.testing.assert_allclose(distances[0, 2], 0.5, rtol=1e-12)
    assert starc_distance(mdp, rewards)[0, 1] > 0.01


@given(seed=SEEDS)
def test_shaping_is_distinguished_from_rounding_where_parts_hardly_meet_and_gamma_is_near_1(seed):
    # A corridor in which most of the random steps lead nowhere.
    rng = np.random.default_rng(seed)
    steps = rng.integers(-1, 2, (200, N_ACTIONS))
    mdp = TabularMDP.from_next_states(np.clip(np.arange(200)[:, None] + steps, 0, 199), 0.99999)
    shaping = expected_shaping(mdp, 100.0 * rng.normal(size=200))
    reward = rng.normal(size=shaping.shape)
    distances = starc_distance(mdp, np.stack([shaping, shaping + 5.0, reward, reward + shaping]))
    assert distances[0, 1] == 0.0
    np.testing.assert_allclose(distances[:2, 2:], 0.5, rtol=1e-12)
    np.testing.assert_allclose(distances[2, 3], 0.0, atol=1e-7)


def grid(side, gamma):
    row, column = divmod(np.arange(side * side), side)
    moves = ((0, 1), (1, 0), (0, -1), (-1, 0))
    inside = [np.clip((row + down, column + right), 0, side - 1) for down, right in moves]
    return TabularMDP.from_next_states(np.stack([r * side + c for r, c in inside], axis=1), gamma)


def test_twenty_thousand_states_are_no_trouble():
    mdp = grid(142, gamma=0.9999)
    rng = np.random.default_rng(0)
    reward = rng.normal(size=(mdp.n_states, 1))
    shaping = expected_shaping(mdp, rng.normal(size=mdp.n_states))
    tables = np.stack([np.broadcast_to(reward, shaping.shape), reward + shaping, shaping])
    distances = starc_distance(mdp, tables)
    np.testing.assert_allclose(distances[0, 1], 0.0, atol=1e-7)
    np.testing.assert_allclose(distances[2, :2], 0.5, rtol=1e-12)


def slow_epic(first, second, gamma, states, actions):
    """The distance of two rewards `S x A x S`, an expectation a loop."""
    every_state, every_action = range(len(states)), range(len(actions))

    def mean_from(reward, s):
        return sum(
            actions[a] * states[after] * reward[s, a, after]
            for a in every_action
            for after in every_state
        )

    def canonical(reward, s, a, after):
        overall = sum(states[any_] * mean_from(reward, any_) for any_ in every_state)
        return (
            reward[s, a, after]
            + gamma * mean_from(reward, after)
            - mean_from(reward, s)
            - gamma * overall
        )

    steps = list(product(every_state, every_action, every_state))
    share = [states[s] * actions[a] * states[after] for s, a, after in steps]
    forms = np.array([[canonical(reward, *step) for step in steps] for reward in (first, second)])
    covariance = np.cov(forms, aweights=share)
    correlation = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    return np.sqrt((1.0 - correlation) / 2.0)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("gamma", [0.5, 1.0])
def test_epic_matches_a_slow_computation(random_mdp, gamma, weighted):
    mdp = random_mdp(0, n_states=3, gamma=gamma)
    states, actions = np.full(3, 1 / 3), np.full(N_ACTIONS, 1 / N_ACTIONS)
    if weighted:
        states, actions = np.array([0.2, 0.5, 0.3]), np.array([0.7, 0.2, 0.1])
    tables = random_steps(5, n_states=3)
    drawn = (10 * states, 3 * actions) if weighted else ()
    found = epic_distance(mdp, steps_of(tables), *drawn)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        expected = slow_epic(tables[i], tables[j], gamma, states, actions)
        np.testing.assert_allclose(found[i, j], expected, rtol=1e-10)


@given(
    seed=SEEDS,
    gamma=st.sampled_from([0.3, 0.9, 1.0]),
    size=st.sampled_from([1.0, 100.0]),
    factor=FACTORS,
    weighted=st.booleans(),
)
def test_epic_sees_neither_shaping_nor_constants_nor_scale(
    random_mdp, seed, gamma, size, factor, weighted
):
    mdp = random_mdp(seed, gamma=gamma)
    first, second = random_steps(seed, 2)
    potential = size * np.random.default_rng(seed + 1).normal(size=N_STATES)
    shaped = first + gamma * potential - potential[:, None, None]
    same = np.stack([first, shaped, factor * first, first + size, factor * (shaped - size)])
    tables = np.concatenate([same, second[None]])
    drawn = random_weights(seed) if weighted else ()
    distances = epic_distance(mdp, steps_of(tables), *drawn)
    np.testing.assert_allclose(distances[:5, :5], 0.0, atol=1e-9)
    np.testing.assert_allclose(distances[:5, 5], distances[0, 5], atol=1e-9)
    assert distances[0, 5] > 0.01


@given(seed=SEEDS)
def test_epic_is_a_distance(random_mdp, seed):
    tables = random_steps(seed, 5)
    tables = np.concatenate([tables, -tables[:2], np.ones((2, *tables.shape[1:]))])
    assert_is_a_distance(epic_distance(random_mdp(seed), steps_of(tables), *random_weights(seed)))


@given(seed=SEEDS)
def test_constant_canonical_rewards_correlate_with_nothing(random_mdp, seed):
    mdp = random_mdp(seed)
    potential = np.random.default_rng(seed).normal(size=N_STATES)
    shape = (N_STATES, N_ACTIONS, N_STATES)
    shaping = np.broadcast_to(mdp.gamma * potential - potential[:, None, None], shape)
    constant = np.stack([np.zeros(shape), np.full(shape, -1 / 3), shaping])
    tables = np.concatenate([constant, random_steps(seed, 2)])
    distances = epic_distance(mdp, steps_of(tables))
    np.testing.assert_array_equal(distances[:3, :3], 0.0)
    np.testing.assert_array_equal(distances[:3, 3:], np.sqrt(0.5))


@pytest.mark.parametrize("kind", ["starc", "epic"])
@given(seed=SEEDS)
def test_thetas_are_compared_by_their_rewards(random_problem, kind, seed):
    problem = random_problem(seed)
    distances = reward_distances(problem, [[1.0, 0.5], [2.0, 1.0], [-1.0, -0.5], [0.0, 0.0]], kind)
    trivial = {"starc": 0.5, "epic": np.sqrt(0.5)}[kind]
    expected = [0.0, 0.0, 1.0, trivial]
    np.testing.assert_allclose(distances[0], expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("kind", ["starc", "epic"])
def test_shaping_in_a_reward_family_is_not_seen(random_problem, kind):
    rng = np.random.default_rng(0)
    paid, potential = rng.normal(size=(N_STATES, N_ACTIONS, N_STATES)), rng.normal(size=N_STATES)

    def features(steps):
        shaping = 0.9 * potential[steps.next_states] - potential[steps.states]
        return np.stack([paid[steps.states, steps.actions, steps.next_states], shaping], axis=1)

    reward = LinearReward(features, {"w": (-1.0, 1.0), "shaping": (-5.0, 5.0)})
    problem = random_problem(0, reward=reward, gamma=0.9)
    distances = reward_distances(problem, [[1.0, 0.0], [0.5, 5.0], [1.0, -5.0]], kind)
    np.testing.assert_allclose(distances, 0.0, atol=1e-9)


def test_a_single_reward_is_at_distance_zero_from_itself(random_problem):
    for kind in ("starc", "epic"):
        assert reward_distances(random_problem(0), [1.0, 0.5], kind).tolist() == [[0.0]]


def test_undiscounted_values_are_refused_with_a_way_out(random_mdp):
    mdp, rewards = random_mdp(0, gamma=1.0), random_tables(0)
    for function in (value_canonical, starc_distance):
        with pytest.raises(InvalidInputError, match=r"gamma is 1, .*replace\(mdp, gamma=0.99\)"):
            function(mdp, rewards)
    assert starc_distance(replace(mdp, gamma=0.99), rewards).shape == (3, 3)


@pytest.mark.parametrize("shape", [(4, 3), (2, 4, 2), (2, 3, 4), (2, 4, 3, 4)])
def test_tables_of_another_shape_are_refused(random_mdp, shape):
    with pytest.raises(InvalidInputError, match="expected n x 4 x 3, or n x 4 x 1"):
        starc_distance(random_mdp(0), np.zeros(shape))


@pytest.mark.parametrize("shape", [(48,), (2, 47), (2, 4, 3, 4)])
def test_step_rewards_of_another_shape_are_refused(random_mdp, shape):
    with pytest.raises(InvalidInputError, match="for 48 transitions; expected n x 48"):
        epic_distance(random_mdp(0), lambda steps: np.zeros(shape))


def test_nothing_to_compare_is_refused(random_mdp):
    with pytest.raises(InvalidInputError, match="no rewards to compare"):
        starc_distance(random_mdp(0), np.zeros((0, 4, 3)))
    with pytest.raises(InvalidInputError, match="no rewards to compare"):
        epic_distance(random_mdp(0), lambda steps: np.zeros((0, len(steps))))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rewards_that_are_not_finite_are_refused(random_mdp, value):
    tables, steps = random_tables(0), random_steps(0)
    tables[1, 2, 0] = steps[1, 2, 0, 0] = value
    with pytest.raises(InvalidInputError, match="reward 1 holds NaN or infinity"):
        starc_distance(random_mdp(0), tables)
    with pytest.raises(InvalidInputError, match="reward 1 holds NaN or infinity"):
        epic_distance(random_mdp(0), steps_of(steps))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(4), r"weights have shape \(4,\); expected 4 x 3"),
        (np.zeros((4, 3)), "weights range from 0 to 0"),
        (np.full((4, 3), -1.0), "weights range from -1 to -1"),
        (np.full((4, 3), np.nan), "weights range from nan to nan"),
    ],
)
def test_weights_that_are_no_weights_are_refused(random_mdp, weights, message):
    with pytest.raises(InvalidInputError, match=message):
        starc_distance(random_mdp(0), random_tables(0), weights)


def test_epic_names_the_weights_that_do_not_fit(random_mdp):
    steps = steps_of(random_steps(0))
    with pytest.raises(InvalidInputError, match=r"state_weights have shape \(3,\); expected 4"):
        epic_distance(random_mdp(0), steps, state_weights=np.ones(3))
    with pytest.raises(InvalidInputError, match=r"action_weights have shape \(4,\); expected 3"):
        epic_distance(random_mdp(0), steps, action_weights=np.ones(4))


def test_epic_refuses_many_states_and_suggests_starc():
    with pytest.raises(InvalidInputError, match=r"225 states; .* at most 200, .*starc_distance"):
        epic_distance(grid(15, gamma=0.9), lambda steps: np.zeros((1, len(steps))))


def test_an_unknown_kind_is_refused(random_problem):
    with pytest.raises(InvalidInputError, match="'cosine'; expected 'starc' or 'epic'"):
        reward_distances(random_problem(0), [[1.0, 0.5]], kind="cosine")
