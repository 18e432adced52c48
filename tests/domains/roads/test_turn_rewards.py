"""Rewards on turns: other families work where they pay for turns alone, and are refused else."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import boirl
from boirl.domains.roads.recursive_logit import recursive_logit_problem
from boirl.domains.roads.turn_rewards import TurnReward, TurnUtilities
from boirl.errors import InvalidInputError, SolverError
from boirl.rewards import CallableReward, LinearReward

from .conftest import LOGIT_TRUTH, town_with_trips


@pytest.fixture(scope="module", params=["absorb", "pass"])
def problem(request):
    return recursive_logit_problem(*town_with_trips(2), at_destination=request.param)


def features_of(choice):
    """Features of every step, by a function of its own."""
    table = np.concatenate([choice.network.features, np.zeros((1, 4))])

    def features(transitions):
        return torch.tensor(table[choice.turns_of(transitions.states, transitions.actions)])

    return features


def curved(choice):
    """Time to a power: not linear in theta."""
    features = features_of(choice)

    def reward(theta, transitions):
        time, _, constant, u_turn = features(transitions).T
        paid = -theta[:, :1] * time.clamp(min=1e-9) ** theta[:, 1:2] * (constant > 0)
        return paid - 1.5 * constant - 3.0 * u_turn

    return CallableReward(reward, {"weight": (0.5, 5.0), "power": (0.5, 2.0)}, "state_action")


@pytest.mark.parametrize("form", ["function", "table"])
def test_linear_features_of_ones_own_are_those_that_count(problem, form):
    choice = problem.choice
    features = features_of(choice)
    if form == "table":
        states, actions = np.meshgrid(
            np.arange(choice.n_states), np.arange(choice.n_actions), indexing="ij"
        )
        steps = boirl.rewards.Transitions(states.ravel(), actions.ravel())
        given = (features(steps).numpy() * 2.0).reshape(*states.shape, 4)
        own = LinearReward(given, problem.reward.parameters)
    else:
        own = LinearReward(
            lambda steps: 2.0 * features(steps).numpy(), problem.reward.parameters, "state_action"
        )
    other = replace(problem, reward=own)
    theta = LOGIT_TRUTH
    ours, theirs = problem.evaluate(theta), other.evaluate(theta / 2.0)
    assert theirs.nll == pytest.approx(ours.nll, rel=1e-10)
    np.testing.assert_allclose(theirs.gradient, 2.0 * ours.gradient, rtol=1e-8)
    assert other.evaluate(theta).nll != pytest.approx(ours.nll, rel=1e-3)
    assert other.fingerprint() != problem.fingerprint()


def test_a_family_that_is_not_linear_has_its_exact_gradient(problem):
    other = replace(problem, reward=curved(problem.choice))
    theta, step = np.array([2.0, 1.3]), 1e-5
    found = other.gradient(theta)
    for column, move in enumerate(step * np.eye(2)):
        slope = (other.nll(theta + move) - other.nll(theta - move)) / (2 * step)
        assert found[column] == pytest.approx(slope, rel=1e-5, abs=1e-8)
    np.testing.assert_allclose(other.evaluate(theta).gradient, found)
    estimate = boirl.maximum_likelihood(other, starts=1)
    assert estimate.nll <= other.nll(theta)


def test_a_family_without_a_gradient_is_searched_without_one(problem):
    smooth = curved(problem.choice)

    def reward(theta, transitions):
        return smooth.function(theta, transitions).detach()

    bounds = {"weight": (0.5, 5.0), "power": (0.5, 2.0)}
    other = replace(problem, reward=CallableReward(reward, bounds, "state_action"))
    evaluation = other.evaluate((2.0, 1.0))
    assert evaluation.ok
    assert evaluation.gradient is None
    with pytest.raises(InvalidInputError, match="not differentiable"):
        other.gradient((2.0, 1.0))


def test_rewards_that_depend_on_where_a_trip_goes_are_refused(problem):
    n_links, features = problem.network.n_links, features_of(problem.choice)

    def reward(theta, transitions):
        there = torch.tensor(transitions.states // n_links)
        return theta[:, :1] * features(transitions)[:, 2] * (1.0 + there)

    family = CallableReward(reward, {"weight": (-3.0, -1.0)}, "state_action")
    with pytest.raises(InvalidInputError, match=r"pays .* for a turn on the way to one"):
        replace(problem, reward=family)


def test_rewards_for_the_end_of_a_trip_are_refused(problem):
    family = CallableReward(
        lambda theta, steps: theta[:, :1].expand(-1, len(steps)), {"weight": (-3.0, -1.0)}
    )
    with pytest.raises(InvalidInputError, match="for the end of a trip; expected 0"):
        replace(problem, reward=family)


def test_tables_of_another_size_are_refused(problem):
    table = np.ones((problem.network.n_links, 1))
    with pytest.raises(InvalidInputError, match=r"are for \(\d+,\) states and actions; expected"):
        replace(problem, reward=LinearReward(table, {"weight": (-3.0, -1.0)}))


def test_rewards_that_are_not_finite_fail(problem):
    features = features_of(problem.choice)

    def reward(theta, transitions):
        return features(transitions)[:, 2] * torch.where(
            theta[:, :1] < -2.99, torch.inf, theta[:, :1]
        )

    other = replace(
        problem, reward=CallableReward(reward, {"weight": (-3.0, -1.5)}, "state_action")
    )
    assert other.evaluate([-2.0]).ok
    assert "not finite" in other.evaluate([-3.0]).failure
    with pytest.raises(SolverError, match="not finite"):
        other.policy([-3.0])


def test_the_own_family_is_linear_in_attributes(problem):
    reward = problem.reward
    assert type(reward) is TurnReward
    np.testing.assert_array_equal(reward.turn_features, problem.network.features)
    utilities = TurnUtilities(problem.choice, reward)
    np.testing.assert_array_equal(utilities(LOGIT_TRUTH), problem.network.features @ LOGIT_TRUTH)
