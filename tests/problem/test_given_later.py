"""Problems without demonstrations until there are some."""

import pickle

import numpy as np
import pytest

import boirl
from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError
from tests.problem.learned import HORIZON, TRUTH, Magnet, build


def test_without_demonstrations_the_error_says_how_to_get_some():
    mdp = TabularMDP.from_next_states([[1], [1]], 0.9, terminal=[1])
    problem = boirl.TabularProblem(
        mdp, boirl.LinearReward(np.ones((2, 1)), {"weight": (-1, 0)}), name="two"
    )
    assert "no trajectories" in repr(problem)
    for use in (lambda: problem.evaluate([-0.5]), lambda: boirl.explore(problem, 3)):
        with pytest.raises(InvalidInputError, match="problem 'two' has no demonstrations yet"):
            use()
    with pytest.raises(InvalidInputError, match="count is 0"):
        problem.demonstrate([-0.5], 0, seed=0)
    shown = problem.demonstrate([-0.5], 4, seed=0)
    assert problem.with_demonstrations(shown).evaluate([-0.5]).nll == 0.0


def test_demonstrations_survive_a_pickle(random_problem):
    problem = random_problem(0)
    again = pickle.loads(pickle.dumps(problem))
    assert again.has_demonstrations
    np.testing.assert_array_equal(again.demonstrations.states, problem.demonstrations.states)


def test_they_belong_to_a_problem():
    with pytest.raises(AttributeError, match="not to its class"):
        _ = boirl.TabularProblem.demonstrations


def test_learned_problems_demonstrate_without_demonstrations():
    given = build(Magnet(jitter=0.0))
    problem = boirl.GymProblem(
        given.env, given.reward, None, given.solver, gamma=0.9, horizon=HORIZON, workers=0
    )
    assert not problem.has_demonstrations
    shown = problem.demonstrate(TRUTH, 3, seed=1)
    assert shown.lengths.tolist() == [HORIZON] * 3
    assert np.isfinite(problem.with_demonstrations(shown).evaluate(TRUTH, seed=0).nll)
    with pytest.raises(InvalidInputError, match="count is 0"):
        problem.demonstrate(TRUTH, 0, seed=1)
