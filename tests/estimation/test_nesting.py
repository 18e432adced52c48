"""Which models contain which, as far as can be told."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import boirl
from boirl.estimation.nesting import contains, different_setting, same_demonstrations
from boirl.rewards import CallableReward, LinearReward
from tests.domains.roads.conftest import town_with_trips

FEATURES = np.random.default_rng(3).uniform(-1.0, 1.0, (4, 3))
BOUNDS = (-2.0, 2.0)


def linear(columns, names, features=FEATURES):
    return LinearReward(features[:, columns], dict.fromkeys(names, BOUNDS))


def first_feature(theta, transitions):
    return theta @ torch.tensor(FEATURES[transitions.states, :1].T)


@pytest.fixture(scope="module")
def problem(request):
    family = linear([0, 1, 2], "abc")
    return request.getfixturevalue("random_problem")(31, "logsumexp", reward=family, count=12)


def with_family(problem, family):
    return replace(problem, reward=family)


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        (linear([0, 2], "ac"), True),
        (linear([0, 2], "xy"), True),
        (LinearReward(FEATURES @ [[1.0], [2.0], [-1.0]], {"sum": BOUNDS}), True),
        (linear([0, 1], "ab", np.cos(FEATURES)), False),
        (linear([0, 1, 2], "abc").fix(b=0.0), True),
        (linear([0, 1, 2], "abc").fix(b=1.5), True),
        (CallableReward(first_feature, {"a": BOUNDS}), True),
        (CallableReward(first_feature, {"x": BOUNDS}), None),
    ],
    ids=["fewer", "renamed", "a sum", "others", "held at 0", "held", "code", "unknown code"],
)
def test_families(problem, family, expected):
    assert contains(problem, with_family(problem, family)) is expected


def test_a_value_that_the_bounds_exclude_is_not_contained_by_name(problem):
    wide = LinearReward(FEATURES, dict.fromkeys("abc", (0.5, 2.0)))
    crooked = CallableReward(
        lambda theta, t: theta @ torch.tensor(FEATURES[t.states].T), wide.parameters
    )
    assert contains(with_family(problem, crooked), with_family(problem, linear([0], "a"))) is None


def test_families_of_states_and_of_actions(problem):
    by_action = np.concatenate(
        [np.repeat(FEATURES[:, None, :1], 3, axis=1), np.eye(3)[None].repeat(4, axis=0)], axis=2
    )
    larger = LinearReward(by_action, dict.fromkeys(("a", "x", "y", "z"), BOUNDS))
    assert contains(with_family(problem, larger), with_family(problem, linear([0], "a")))
    assert contains(with_family(problem, linear([0], "a")), with_family(problem, larger)) is False


def test_logistic_rewards_with_a_parameter_held():
    whole, held = boirl.load_problem("gridworld"), boirl.load_problem("gridworld2d")
    assert contains(whole, held)
    assert different_setting(whole, held) is None
    assert same_demonstrations(whole, held)


def test_trips():
    problem = boirl.recursive_logit_problem(*town_with_trips(1))
    held = replace(problem, reward=problem.reward.fix(left=0.0))
    assert contains(problem, held)
    assert different_setting(problem, held) is None
    assert contains(held, problem) is False


def test_settings_that_differ_are_named(problem, random_problem):
    assert different_setting(problem, problem.with_gamma(0.9)) is None
    assert different_setting(problem, problem.with_gamma(0.5)) == "their discounts are 0.9 and 0.5"
    other = replace(problem, solver=boirl.TabularSolver("max"))
    assert "solvers" in str(different_setting(problem, other))
    newton = replace(problem, solver=boirl.TabularSolver("logsumexp", method="newton"))
    assert different_setting(problem, newton) is None
    elsewhere = random_problem(32, "logsumexp", reward=problem.reward)
    assert different_setting(problem, elsewhere) == "their dynamics differ"
    trips = boirl.recursive_logit_problem(*town_with_trips(1))
    assert "TabularProblem and a Recursive" in str(different_setting(problem, trips))


def test_demonstrations_that_differ(problem):
    fewer = problem.with_demonstrations(problem.demonstrations.subset(range(11)))
    turned = problem.with_demonstrations(problem.demonstrations.subset(range(11, -1, -1)))
    assert not same_demonstrations(problem, fewer)
    assert not same_demonstrations(problem, turned)
    assert same_demonstrations(problem, turned.with_demonstrations(problem.demonstrations))
