"""Evaluations of exact problems: gradients, kept policies."""

import numpy as np
import pytest
import torch

from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import DemonstrationError, InvalidInputError, SolverError
from boirl.policies.bellman import TabularSolver
from boirl.problem import TabularProblem, check_ends
from boirl.rewards import CallableReward, LinearReward
from tests.problem import learned

OPERATORS = pytest.mark.parametrize("bellman", ["max", "boltzmann", "logsumexp"])
DYNAMICS = pytest.mark.parametrize("deterministic", [False, True], ids=["stochastic", "certain"])
WEIGHT = {"weight": (-2.0, 2.0)}


def inner_theta(problem, seed):
    unit = np.random.default_rng(seed).uniform(0.05, 0.95, problem.box.dimension)
    return problem.box.from_unit(unit)


def by_differences(problem, theta, step=1e-5):
    moves = step * np.eye(problem.box.dimension)
    return np.array(
        [(problem.nll(theta + move) - problem.nll(theta - move)) / (2 * step) for move in moves]
    )


@OPERATORS
@DYNAMICS
@pytest.mark.parametrize("seed", range(1000, 1004))
def test_gradients_are_those_of_finite_differences(random_problem, bellman, deterministic, seed):
    problem = random_problem(seed, bellman, deterministic)
    theta = inner_theta(problem, seed)
    evaluation = problem.evaluate(theta)
    np.testing.assert_allclose(evaluation.gradient, by_differences(problem, theta), atol=1e-6)


@OPERATORS
@DYNAMICS
def test_the_nll_is_the_mean_over_trajectories(random_problem, bellman, deterministic):
    problem = random_problem(1000, bellman, deterministic, count=7)
    evaluation = problem.evaluate(inner_theta(problem, 1000))
    assert evaluation.log_likelihoods.shape == (7,)
    assert evaluation.nll == -evaluation.log_likelihoods.mean()
    alone = problem.with_demonstrations(problem.demonstrations.subset([3]))
    assert alone.evaluate(evaluation.theta).nll == pytest.approx(-evaluation.log_likelihoods[3])


def test_evaluating_changes_nothing(random_problem):
    problem = random_problem(1000)
    theta = inner_theta(problem, 1000)
    before = dict(vars(problem))
    given = theta.copy()
    first = problem.evaluate(theta, seed=1)
    # Whatever was evaluated in between.
    problem.evaluate(-theta, seed=2)
    again = problem.evaluate(theta, seed=1)
    assert vars(problem) == before
    np.testing.assert_array_equal(theta, given)
    assert again.nll == first.nll
    np.testing.assert_array_equal(again.policies[0]["values"], first.policies[0]["values"])


@OPERATORS
@DYNAMICS
def test_the_policy_of_an_evaluation_is_that_of_theta_and_nothing_is_solved(
    random_problem, bellman, deterministic, monkeypatch
):
    problem = random_problem(1001, bellman, deterministic)
    theta = inner_theta(problem, 1001)
    evaluation, expected = problem.evaluate(theta), problem.policy(theta)

    def refuse(*_, **__):
        raise AssertionError("solved")

    monkeypatch.setattr(TabularSolver, "solve_batch", refuse)
    found = problem.policy_of(evaluation)
    assert found.log_probabilities.tobytes() == expected.log_probabilities.tobytes()
    assert found.values.tobytes() == expected.values.tobytes()
    rescored = problem.with_demonstrations(problem.demonstrations.subset([1])).rescore(evaluation)
    assert rescored.nll == pytest.approx(-evaluation.log_likelihoods[1], rel=1e-12)


def test_the_policy_on_many_states_is_kept_too(monkeypatch):
    """Where Newton's method solves for the values."""
    rng = np.random.default_rng(1000)
    mdp = TabularMDP.from_next_states(rng.integers(600, size=(600, 3)), 0.95)
    reward = LinearReward(rng.normal(size=(600, 2)), {"a": (-2.0, 2.0), "b": (-2.0, 2.0)})
    shown = Demonstrations.from_arrays([[0, mdp.next_states[0, 1]]], [[1, 2]])
    for bellman in ("max", "boltzmann", "logsumexp"):
        problem = TabularProblem(mdp, reward, shown, TabularSolver(bellman))
        theta = np.array([1.0, -0.5])
        found = problem.policy_of(problem.evaluate(theta)).log_probabilities
        assert found.tobytes() == problem.policy(theta).log_probabilities.tobytes()


def test_a_solver_that_fails_gives_a_failed_evaluation(random_problem):
    problem = random_problem(1000)
    hasty = TabularProblem(
        problem.mdp, problem.reward, problem.demonstrations, TabularSolver(max_sweeps=2)
    )
    evaluation = hasty.evaluate((1.0, 1.0), seed=3)
    assert not evaluation.ok
    assert "after 2 sweeps" in evaluation.failure
    assert (evaluation.theta, evaluation.seed) == ((1.0, 1.0), 3)
    assert (evaluation.n_policies, evaluation.environment_steps) == (1, 0)
    assert evaluation.seconds > 0.0
    with pytest.raises(SolverError, match="after 2 sweeps"):
        hasty.nll_and_gradient((1.0, 1.0))
    with pytest.raises(SolverError, match="after 2 sweeps"):
        hasty.nll((1.0, 1.0))


def without_slopes(theta, steps):
    return torch.tensor(theta.detach().numpy() * np.asarray(steps.states))


def test_a_reward_without_slopes_has_no_gradient(random_problem):
    problem = random_problem(1000, reward=CallableReward(without_slopes, WEIGHT))
    assert problem.evaluate([0.5]).gradient is None
    with pytest.raises(InvalidInputError, match=r"no exact gradient: .*write it in torch"):
        problem.nll_and_gradient([0.5])


def test_learned_policies_have_no_gradient():
    with pytest.raises(InvalidInputError, match="no exact gradient: its policies are learned"):
        learned.build().nll_and_gradient(learned.TRUTH)


def test_what_a_problem_cannot_do_is_said(random_problem):
    problem = random_problem(1000)
    with pytest.raises(InvalidInputError, match="no known truth"):
        problem.esor((0.0, 0.0))
    assert problem.policies_per_evaluation == 1
    assert problem.env_steps_per_policy == 0
    assert not problem.is_model_free


def test_unknown_ends_are_refused_where_the_reward_depends_on_them():
    unknown = Demonstrations.from_trajectories([([0, 1, 0], [0, 1]), ([0], [1])])
    on_ends = LinearReward(lambda steps: np.asarray(steps.next_states)[:, None], WEIGHT)
    with pytest.raises(DemonstrationError, match="trajectory 1 does not say where its last"):
        check_ends(unknown, on_ends)
    check_ends(unknown, LinearReward(np.eye(2), {"a": (0, 1), "b": (0, 1)}))
    check_ends(unknown.subset([0]), on_ends)
