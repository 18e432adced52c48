from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

import boirl
from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import (
    BoirlWarning,
    DemonstrationError,
    InvalidInputError,
    SolverError,
    StorageError,
)
from boirl.policies import TabularSolver
from boirl.problem import TabularProblem
from boirl.problem.catalogue import load_problem
from boirl.rewards import LinearReward

SEEDS = st.integers(0, 10_000)
OPERATORS = ("max", "boltzmann", "logsumexp")
WEIGHT = {"weight": (-2.0, 2.0)}
ENDS = LinearReward(lambda steps: np.asarray(steps.next_states)[:, None], WEIGHT)
"""Pays the number of the state at the end of a step."""


def endless(gamma):
    """Two states for ever, a reward on one of them."""
    ring = TabularMDP.from_next_states([[1, 0], [0, 1]], gamma)
    demonstrations = Demonstrations.from_arrays([[0, 1, 0]], [[0, 0]])
    return TabularProblem(ring, LinearReward(np.array([[1.0], [0.0]]), WEIGHT), demonstrations)


@pytest.mark.parametrize("bellman", OPERATORS)
@given(seed=SEEDS, deterministic=st.booleans())
def test_a_constant_reward_more_changes_no_policy_and_no_nll(
    random_problem, bellman, seed, deterministic
):
    features = np.random.default_rng(seed).uniform(-1.0, 1.0, (4, 1))
    reward = LinearReward(
        np.hstack([features, np.ones((4, 1))]), {**WEIGHT, "constant": (-10.0, 10.0)}
    )
    problem = random_problem(seed, bellman, deterministic, reward)
    thetas = np.array([[1.5, 0.0], [1.5, 10.0], [1.5, -10.0]])
    nll = problem.nll_batch(thetas)
    assume(bellman != "boltzmann" or np.isfinite(nll).all())
    plain, *shifted = (problem.policy(theta).log_probabilities for theta in thetas)
    for one in shifted:
        np.testing.assert_allclose(one, plain, atol=1e-9)
    np.testing.assert_allclose(np.ptp(nll), 0.0, atol=1e-8)


@pytest.mark.parametrize("bellman", ["max", "logsumexp"])
@given(seed=SEEDS)
def test_potential_shaping_changes_no_policy(random_problem, bellman, seed):
    potential = np.random.default_rng(seed).uniform(-5.0, 5.0, 4)
    base, gamma = np.random.default_rng(seed + 1).normal(size=(4, 3, 4)), 0.9

    def features(steps):
        paid = base[steps.states, steps.actions, steps.next_states]
        shaping = gamma * potential[steps.next_states] - potential[steps.states]
        return np.stack([paid, shaping], axis=1)

    reward = LinearReward(features, {**WEIGHT, "shaping": (0.0, 1.0)})
    problem = random_problem(seed, bellman, reward=reward, gamma=gamma)
    plain, shaped = (problem.policy([1.0, amount]).log_probabilities for amount in (0.0, 1.0))
    np.testing.assert_allclose(shaped, plain, atol=1e-9)


@pytest.mark.parametrize("bellman", OPERATORS)
def test_a_batch_equals_one_evaluation_at_a_time(random_problem, bellman):
    problem = random_problem(0, bellman)
    thetas = problem.box.from_unit(np.random.default_rng(0).random((6, 2)))
    singly = [problem.evaluate(theta).nll for theta in thetas]
    np.testing.assert_allclose(problem.nll_batch(thetas), singly, rtol=1e-10)


def test_a_batch_too_large_for_memory_is_cut_up(random_problem, monkeypatch):
    problem = random_problem(0)
    thetas = problem.box.from_unit(np.random.default_rng(0).random((7, 2)))
    whole = problem.nll_batch(thetas)
    monkeypatch.setattr("boirl.problem.tabular.BATCH_ENTRIES", 3 * 4 * 3)
    np.testing.assert_allclose(problem.nll_batch(thetas), whole, rtol=1e-12)


@pytest.mark.parametrize("deterministic", [False, True])
def test_one_reward_described_in_three_ways_has_one_nll_and_one_esor(random_problem, deterministic):
    paid = np.arange(4.0)[:, None]
    families = (
        LinearReward(paid, WEIGHT),
        LinearReward(np.repeat(paid[:, None], 3, axis=1), WEIGHT),
        LinearReward(lambda steps: paid[steps.states], WEIGHT),
    )
    found = []
    for family in families:
        problem = random_problem(1, reward=family, deterministic=deterministic)
        known = TabularProblem(problem.mdp, family, problem.demonstrations, truth=(1.0,))
        found.append((known.evaluate([-0.7]).nll, known.esor([-0.7])))
    np.testing.assert_allclose(found, [found[0]] * 3, rtol=1e-10)


def test_a_failed_solver_is_reported_and_not_raised():
    evaluation = endless(gamma=1.0).evaluate([1.0])
    assert np.isnan(evaluation.nll)
    assert not evaluation.ok
    assert "did not converge" in evaluation.failure


def test_a_failed_solver_is_nan_in_a_batch_and_spares_the_others():
    nll = endless(gamma=1.0).nll_batch([[0.0], [1.0]])
    assert np.isnan(nll).tolist() == [False, True]


def test_policies_and_returns_of_a_failed_solver_raise():
    problem = endless(gamma=1.0)
    known = TabularProblem(problem.mdp, problem.reward, problem.demonstrations, truth=(1.0,))
    with pytest.raises(SolverError):
        problem.policy([1.0])
    with pytest.raises(SolverError):
        known.esor([1.0])


def test_an_evaluation_remembers_what_it_was_of(random_problem):
    evaluation = random_problem(0).evaluate([0.5, -1.0], seed=7)
    assert (evaluation.theta, evaluation.seed, evaluation.ok) == ((0.5, -1.0), 7, True)


def test_the_truth_explains_its_own_demonstrations_better_than_its_opposite(gridworld):
    steepness, midpoint, translation = gridworld.truth
    assert (
        gridworld.evaluate(gridworld.truth).nll
        < gridworld.evaluate([-steepness, midpoint, translation]).nll
    )


def test_nothing_beats_the_truth_at_its_own_reward_where_policies_are_greedy():
    problem = load_problem("gridworld", inverse_temperature=20.0)
    thetas = problem.box.from_unit(np.random.default_rng(0).random((50, 3)))
    assert (problem.esor(thetas) <= problem.esor(problem.truth) + 1e-4).all()


def test_esor_needs_a_truth(random_problem):
    with pytest.raises(InvalidInputError, match="no known truth"):
        random_problem(0).esor([0.0, 0.0])


def test_thetas_outside_the_box_are_refused(random_problem):
    with pytest.raises(InvalidInputError, match="second = 3"):
        random_problem(0).evaluate([0.0, 3.0])


def test_one_theta_is_evaluated_at_a_time(random_problem):
    with pytest.raises(InvalidInputError):
        random_problem(0).evaluate([[0.0, 1.0], [1.0, 0.0]])


def test_the_truth_lies_in_the_box(random_problem):
    problem = random_problem(0)
    with pytest.raises(InvalidInputError, match="first = 5"):
        TabularProblem(problem.mdp, problem.reward, problem.demonstrations, truth=(5.0, 0.0))


def test_an_impossible_step_warns_and_is_named():
    ring = TabularMDP.from_next_states([[1, 0], [0, 1]], 0.9)
    wrong = Demonstrations.from_arrays([[0, 1, 0], [0, 1, 1]], [[0, 0], [0, 0]])
    with pytest.warns(
        BoirlWarning, match="trajectory 1, step 1: action 0 in state 1 led to state 1"
    ):
        TabularProblem(ring, LinearReward(np.eye(2), {"a": (0, 1), "b": (0, 1)}), wrong)


def test_a_state_outside_the_mdp_is_named(random_problem):
    problem = random_problem(0)
    with pytest.raises(DemonstrationError, match="trajectory 0, step 1: states is 4"):
        problem.with_demonstrations(Demonstrations.from_arrays([[0, 4]], [[0, 0]]))


def test_deterministic_dynamics_fill_in_the_end():
    ring = TabularMDP.from_next_states([[1, 0], [0, 1]], 0.9)
    unknown = Demonstrations.from_arrays([[0, 1]], [[0, 0]])
    problem = TabularProblem(ring, ENDS, unknown)
    assert problem.demonstrations.next_states.tolist() == [1, 0]


def test_an_unknown_end_matters_where_the_reward_looks_at_it(random_mdp):
    ended = Demonstrations.from_arrays([[0, 1, 2]], [[0, 0]])
    unknown = Demonstrations.from_arrays([[0, 1]], [[0, 0]])
    both = Demonstrations.concatenate([ended, unknown])
    with pytest.raises(DemonstrationError, match="trajectory 1 does not say where its last action"):
        TabularProblem(random_mdp(0), ENDS, both)
    on_states = LinearReward(np.ones((4, 1)), WEIGHT)
    assert len(TabularProblem(random_mdp(0), on_states, both).demonstrations) == 2


def test_policies_that_act_alike_are_at_distance_zero(gridworld):
    thetas = [(1.25, 5.0, 0.0), (1.25, 5.0, 3.0), (-2.0, -5.0, 0.0)]
    distances = gridworld.behaviour_distances([gridworld.policy(theta) for theta in thetas])
    np.testing.assert_allclose(distances, distances.T)
    np.testing.assert_allclose(np.diag(distances), 0.0)
    assert distances[0, 1] < 1e-9 < 0.1 < distances[0, 2] <= 1.0


def test_the_fingerprint_changes_with_all_that_an_nll_depends_on(random_problem):
    problem = random_problem(0)
    other_features = LinearReward(np.eye(4)[:, :2], problem.reward.parameters)
    others = [
        random_problem(0, gamma=0.8),
        random_problem(0, bellman="logsumexp"),
        random_problem(1),
        problem.with_demonstrations(problem.demonstrations.subset([0, 1])),
        TabularProblem(
            problem.mdp, problem.reward, problem.demonstrations, TabularSolver("max", 2.0)
        ),
        TabularProblem(problem.mdp, problem.reward.fix(first=1.0), problem.demonstrations),
        TabularProblem(problem.mdp, other_features, problem.demonstrations),
    ]
    prints = {one.fingerprint() for one in [problem, *others]}
    assert len(prints) == 1 + len(others)
    assert random_problem(0).fingerprint() == problem.fingerprint()


def test_a_batch_on_many_states_without_a_finite_reward_is_all_nan():
    town = boirl.load_problem("road-network", n_links=300, n_demonstrations=5)
    assert town.mdp.n_states > 500
    infinite = boirl.CallableReward(
        lambda theta, transitions: theta[:, :1] * torch.full((len(transitions),), torch.inf),
        {"weight": (1.0, 2.0)},
    )
    problem = boirl.TabularProblem(town.mdp, infinite, town.demonstrations)
    assert np.isnan(problem.nll_batch([[1.0], [2.0]])).all()


@pytest.mark.parametrize(
    ("features", "found"),
    [
        (np.zeros((3, 1)), "for 3 states"),
        (np.zeros((5, 1)), "for 5 states"),
        (np.zeros((4, 2, 1)), "for 4 x 2 states and actions"),
        (np.zeros((3, 3, 1)), "for 3 x 3 states and actions"),
    ],
)
def test_tables_of_features_for_other_states_are_refused(random_mdp, features, found):
    """Also those with too many rows, which would be looked up without an error."""
    shown = Demonstrations.from_arrays([[0, 1]], [[0, 0]])
    with pytest.raises(InvalidInputError, match=f"{found}, and the environment has 4 states and 3"):
        TabularProblem(random_mdp(0), LinearReward(features, WEIGHT), shown)


def test_a_function_that_does_not_cover_all_states_is_refused(random_mdp):
    short = LinearReward(lambda steps: np.zeros((3, 1))[steps.states], WEIGHT, "state")
    shown = Demonstrations.from_arrays([[0, 1]], [[0, 0]])
    with pytest.raises(InvalidInputError, match="does not cover the 4 states and 3 actions"):
        TabularProblem(random_mdp(0), short, shown)


def test_a_horizon_is_at_least_one_step(random_problem):
    problem = random_problem(0)
    with pytest.raises(InvalidInputError, match="the horizon is 0"):
        TabularProblem(problem.mdp, problem.reward, problem.demonstrations, horizon=0)
    assert problem.steps == 6
    longer = TabularProblem(problem.mdp, problem.reward, problem.demonstrations, horizon=9)
    assert longer.steps == 9


def test_any_reward_can_be_solved_for(random_problem):
    problem = random_problem(0, "logsumexp")
    other = LinearReward(np.arange(4.0)[:, None], WEIGHT)
    cold = problem.solve(other, (1.0,))
    warm = problem.solve(other, (1.0,), warm_start=problem.solve(other, (1.0 - 1e-9,)))
    np.testing.assert_allclose(warm.log_probabilities, cold.log_probabilities, atol=1e-10)
    assert warm.facts["sweeps"] < cold.facts["sweeps"]
    own = problem.solve(problem.reward, (1.0, -1.0)).log_probabilities
    np.testing.assert_array_equal(own, problem.policy((1.0, -1.0)).log_probabilities)
    infinite = LinearReward(lambda steps: np.full((len(steps), 1), np.inf), WEIGHT, "state")
    with pytest.raises(SolverError, match="not finite"):
        problem.solve(infinite, (1.0,))


NAMES = (("home", "shop", "park", "pub"), ("walk", "ride", "wait"))


def test_names_change_no_number_that_is_computed(random_problem):
    plain = random_problem(3)
    mdp = plain.mdp.with_names(*NAMES)
    shown = Demonstrations.from_trajectories(
        [
            ([NAMES[0][s] for s in (*one.states, one.next_states[-1])], [NAMES[1][a] for a in acts])
            for one in plain.demonstrations
            for acts in [one.actions]
        ]
    )
    named = TabularProblem(mdp, plain.reward, shown, plain.solver)
    assert named.fingerprint() == plain.fingerprint()
    assert named.nll([0.5, -0.5]) == plain.nll([0.5, -0.5])


def test_answers_and_warnings_use_names(random_problem):
    plain = random_problem(3, deterministic=True)
    named = TabularProblem(plain.mdp.with_names(*NAMES), plain.reward, plain.demonstrations)
    policies = [problem.policy(t) for problem in (plain, named) for t in ([2, 2], [-2, -2])]
    (one, other), (first, second) = policies[:2], policies[2:]
    unnamed = plain.most_different(one, other, 1)[0]
    apart = named.most_different(first, second, 1)[0]
    assert apart.names == (
        NAMES[0][unnamed.state],
        NAMES[1][unnamed.action],
        NAMES[1][unnamed.other_action],
    )
    assert str(apart).startswith(f"{apart.names[0]}: {apart.names[1]}, the other ")
    assert str(unnamed).startswith(f"state {unnamed.state}: action {unnamed.action}")
    elsewhere = (plain.mdp.next_states[0, 0] + 1) % 4
    wrong = Demonstrations.from_trajectories([([0, elsewhere], [0])])
    with pytest.warns(BoirlWarning, match=f"walk in home led to {NAMES[0][elsewhere]}"):
        named.with_demonstrations(wrong)


@pytest.mark.parametrize(
    "kept",
    [{}, {"values": np.zeros(3)}, {"values": np.full(4, np.nan)}, {"values": np.zeros(4, complex)}],
)
def test_a_policy_that_is_damaged_is_refused(random_problem, kept):
    problem = random_problem(61)
    evaluation = replace(problem.evaluate((0.5, -0.5)), policies=(kept,))
    with pytest.raises(StorageError, match="is damaged: its values"):
        problem.policy_of(evaluation)
