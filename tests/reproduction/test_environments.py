"""The environments, and their small versions."""

import pytest

from boirl.reproduction.environments import ENVIRONMENTS, build_problem, hard_nll


def test_the_settings_are_those_of_the_appendix():
    gridworld = ENVIRONMENTS["gridworld"]
    assert (gridworld.projected, gridworld.rollouts, gridworld.budget) == (10, 5, 100)
    roads = ENVIRONMENTS["borlange wide"]
    assert (roads.projected, roads.rollouts, roads.budget) == (10, 2000, 50)


@pytest.mark.parametrize("environment", ["gridworld", "borlange wide", "borlange real"])
def test_small_versions_need_no_data(environment):
    problem = build_problem(environment, ENVIRONMENTS[environment].chosen_seed, True, None)
    assert problem.truth is not None
    assert hard_nll(environment, True) < hard_nll(environment, False)


def test_demonstrations_follow_from_their_seed():
    one, other = (build_problem("gridworld", seed, True, None) for seed in (3, 4))
    assert one.fingerprint() != other.fingerprint()
