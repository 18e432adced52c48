"""The problems on Gridworld."""

import numpy as np
import pytest

import boirl
from boirl.domains.gridworld.environment import HORIZON, SIDE
from boirl.errors import InvalidInputError


@pytest.mark.parametrize(
    ("name", "names", "truth"),
    [
        ("gridworld", ("steepness", "midpoint", "translation"), (1.25, 5.0, 0.0)),
        ("gridworld2d", ("steepness", "midpoint"), (1.25, 5.0)),
    ],
)
def test_the_problem_is_that_of_the_paper(name, names, truth):
    problem = boirl.load_problem(name)
    assert (problem.name, problem.box.names, problem.truth) == (name, names, truth)
    assert (problem.gamma, problem.steps) == (0.9, 15)
    assert problem.demonstrations.lengths.tolist() == [HORIZON] * 50
    assert problem.demonstrations.starts.max() < SIDE
    np.testing.assert_array_equal(problem.box.low[:2], [-2.0, -10.0])
    np.testing.assert_array_equal(problem.box.high[:2], [2.0, 10.0])


def test_translation_changes_nothing():
    three, two = boirl.load_problem("gridworld"), boirl.load_problem("gridworld2d")
    np.testing.assert_array_equal(three.demonstrations.states, two.demonstrations.states)
    expected = two.nll((1.0, 2.0))
    for translation in (-4.0, 0.0, 3.0):
        assert three.nll((1.0, 2.0, translation)) == pytest.approx(expected, rel=1e-9)


def test_the_best_reward_of_the_usual_demonstrations_is_about_the_truth(gridworld):
    truth = gridworld.nll(gridworld.truth)
    thetas = gridworld.box.from_unit(np.random.default_rng(1000).random((300, 3)))
    nll = gridworld.nll_batch(thetas)
    assert truth < np.quantile(nll, 0.1)
    assert gridworld.esor(thetas[nll.argmin()]) == pytest.approx(
        gridworld.esor(gridworld.truth), rel=0.02
    )


def test_options_reach_the_problem():
    problem = boirl.load_problem(
        "gridworld", bellman="logsumexp", seed=1000, n_demonstrations=7, inverse_temperature=2.0
    )
    assert len(problem.demonstrations) == 7
    assert problem.solver == boirl.TabularSolver("logsumexp", 2.0)
    same = boirl.load_problem(
        "gridworld", bellman="logsumexp", seed=1000, n_demonstrations=7, inverse_temperature=2.0
    )
    other = boirl.load_problem("gridworld", bellman="logsumexp", seed=1001, n_demonstrations=7)
    assert same.fingerprint() == problem.fingerprint() != other.fingerprint()
    with pytest.raises(InvalidInputError, match="bellman is 'min'"):
        boirl.load_problem("gridworld", bellman="min")
