"""Gymnasium's tables, with the ends of episodes as terminal states."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

import boirl
from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError

GAMMA = 0.98


def made(name, **options):
    return gymnasium.make(name, **options)


def toy(table, start=None):
    return SimpleNamespace(P=table, initial_state_distrib=start)


def test_frozen_lake_ends_in_holes_and_at_the_goal():
    env = made("FrozenLake-v1", map_name="8x8")
    mdp = TabularMDP.from_gymnasium(env, gamma=GAMMA)
    letters = np.array(env.unwrapped.desc, dtype=str).reshape(-1)
    assert mdp.n_states == 64
    assert mdp.terminal.tolist() == np.flatnonzero(np.isin(letters, ["H", "G"])).tolist()
    assert mdp.start.tolist() == (letters == "S").astype(float).tolist()
    assert mdp.gamma == GAMMA


def test_the_goal_of_cliff_walking_is_terminal_though_its_table_leaves_it():
    mdp = TabularMDP.from_gymnasium(made("CliffWalking-v1"), gamma=1.0)
    assert (mdp.n_states, mdp.n_actions) == (48, 4)
    assert mdp.terminal.tolist() == [47]
    # A step off the cliff leads back to the start, and so do no others from there.
    assert mdp.next_states[25, 2] == mdp.next_states[36, 1] == 36


def test_taxi_ends_when_the_passenger_is_where_it_should_be():
    env = made("Taxi-v4")
    mdp = TabularMDP.from_gymnasium(env, gamma=GAMMA)
    assert mdp.n_states == 500
    decoded = [tuple(env.unwrapped.decode(state)) for state in mdp.terminal]
    places = [(0, 0), (0, 4), (4, 0), (4, 3)]
    assert sorted(decoded) == sorted((*places[k], k, k) for k in range(4))
    np.testing.assert_allclose(mdp.start, env.unwrapped.initial_state_distrib)


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1", "Taxi-v4"])
def test_probabilities_are_those_of_the_table(name):
    env = made(name)
    mdp = TabularMDP.from_gymnasium(env, gamma=GAMMA)
    rng = np.random.default_rng(0)
    for state in np.flatnonzero(~mdp.is_terminal)[:50]:
        action = int(rng.integers(mdp.n_actions))
        expected = np.zeros(mdp.n_states)
        for probability, following, _, _ in env.unwrapped.P[int(state)][action]:
            expected[following] += probability
        row = mdp.transition[[state * mdp.n_actions + action]].toarray()[0]
        np.testing.assert_allclose(row, expected)


def test_an_end_in_a_state_that_is_also_passed_through_gets_a_state_of_its_own():
    table = {
        0: {0: [(1.0, 1, 0.0, False)], 1: [(0.5, 1, 1.0, True), (0.5, 0, 0.0, False)]},
        1: {0: [(1.0, 0, 0.0, False)], 1: [(1.0, 1, 0.0, False)]},
    }
    mdp = TabularMDP.from_gymnasium(toy(table, np.array([1.0, 0.0])), gamma=0.9)
    assert mdp.n_states == 3
    assert mdp.terminal.tolist() == [2]
    assert mdp.start.tolist() == [1.0, 0.0, 0.0]
    np.testing.assert_allclose(mdp.transition[[1]].toarray(), [[0.5, 0.0, 0.5]])


def test_without_a_start_every_state_that_is_not_terminal_is_one():
    table = {
        0: {0: [(1.0, 1, 0.0, True)]},
        1: {0: [(1.0, 1, 0.0, True)]},
        2: {0: [(1.0, 0, 0.0, False)]},
    }
    mdp = TabularMDP.from_gymnasium(toy(table), gamma=0.9)
    assert mdp.terminal.tolist() == [1]
    assert mdp.start.tolist() == [0.5, 0.0, 0.5]
    given = TabularMDP.from_gymnasium(toy(table), gamma=0.9, start=[0.0, 0.0, 1.0])
    assert given.start.tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (object(), "has no table P of transitions"),
        (toy({0: {0: [(1.0, 3, 0.0, True)]}}), "leads from state 0 to state 3"),
        (toy({0: {0: [(1.0, 0, 0.0)]}}), r"expected \(probability, next state, reward"),
        (
            toy({0: {0: [(1.0, 0, 0.0, True)]}, 1: {}}),
            "has 0 actions in state 1 and 1 in state 0",
        ),
    ],
)
def test_what_is_no_table_is_refused(env, message):
    with pytest.raises(InvalidInputError, match=message):
        TabularMDP.from_gymnasium(env, gamma=0.9)


@pytest.mark.parametrize("bellman", ["max", "logsumexp", "boltzmann"])
@pytest.mark.parametrize("gamma", [0.95, 1.0])
@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1"])
def test_policies_need_no_sink_and_no_discount(name, gamma, bellman):
    mdp = TabularMDP.from_gymnasium(made(name), gamma=gamma)
    cost = boirl.LinearReward(np.ones((mdp.n_states, 1)), {"step": (-5, -1)})
    problem = boirl.TabularProblem(mdp, cost, solver=boirl.TabularSolver(bellman))
    values = problem.policy([-2.0]).values
    assert np.isfinite(values).all()
    assert (values[mdp.terminal] == 0.0).all()
    assert (values[~mdp.is_terminal] < 0.0).all()
    shown = problem.demonstrate([-2.0], 20, seed=1)
    last = np.cumsum(shown.lengths) - 1
    assert mdp.is_terminal[shown.next_states[last]].all()
