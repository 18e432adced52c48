"""Standard errors that hold where the model is not quite right."""

import numpy as np
import pytest

import boirl
from boirl.errors import InvalidInputError


@pytest.fixture(scope="module")
def blank():
    states = np.arange(6)
    next_states = np.stack([(states + 1) % 6, (states - 1) % 6, states], axis=1)
    mdp = boirl.TabularMDP.from_next_states(next_states, gamma=0.8)
    features = np.random.default_rng(1000).normal(size=(6, 2))
    reward = boirl.LinearReward(features, {"a": (-3.0, 3.0), "b": (-3.0, 3.0)})
    return boirl.TabularProblem(mdp, reward, solver=boirl.TabularSolver("logsumexp"))


@pytest.fixture(scope="module")
def fit(blank):
    shown = blank.demonstrate((1.0, -0.5), 400, seed=1000, horizon=8)
    return boirl.maximum_likelihood(blank.with_demonstrations(shown))


def test_they_are_the_usual_ones_where_the_model_is_right(fit):
    np.testing.assert_allclose(fit.robust_standard_errors(), fit.standard_errors, rtol=0.15)


def test_demonstrations_that_were_copied_are_no_news_if_they_are_grouped(blank, fit):
    shown = fit.problem.demonstrations
    twice = np.tile(np.arange(len(shown)), 2)
    copied = boirl.maximum_likelihood(blank.with_demonstrations(shown.subset(twice)))
    np.testing.assert_allclose(copied.theta, fit.theta, atol=1e-4)
    alone, grouped = copied.robust_standard_errors(), copied.robust_standard_errors(twice)
    np.testing.assert_allclose(grouped, fit.robust_standard_errors(), rtol=1e-2)
    np.testing.assert_allclose(alone, grouped / np.sqrt(2.0), rtol=1e-2)


def test_groups_that_do_not_fit_are_refused(fit):
    with pytest.raises(InvalidInputError, match="expected 400 labels"):
        fit.robust_standard_errors([1, 2, 3])
    with pytest.raises(InvalidInputError, match="2 groups for 2 parameters"):
        fit.robust_standard_errors(np.arange(400) % 2)


def test_parameters_without_a_standard_error_keep_what_they_have(blank):
    features = np.stack([np.ones(6), np.arange(6.0)], axis=1)
    reward = boirl.LinearReward(features, {"constant": (-3.0, 3.0), "slope": (-3.0, 3.0)})
    problem = boirl.TabularProblem(blank.mdp, reward, solver=boirl.TabularSolver("logsumexp"))
    shown = problem.demonstrate((0.0, 0.5), 100, seed=1000, horizon=8)
    fit = boirl.maximum_likelihood(problem.with_demonstrations(shown))
    assert np.isinf(fit.standard_errors[0])
    robust = fit.robust_standard_errors()
    assert np.isinf(robust[0])
    assert robust[1] == pytest.approx(fit.standard_errors[1], rel=0.4)


def test_nothing_is_known_of_an_estimate_that_is_on_its_bounds(blank):
    reward = boirl.LinearReward(np.arange(6.0)[:, None], {"slope": (-0.1, 0.1)})
    problem = boirl.TabularProblem(blank.mdp, reward, solver=boirl.TabularSolver("logsumexp"))
    always = boirl.Demonstrations.from_trajectories([([0, 1, 2, 3, 4], [0, 0, 0, 0, 0])] * 4)
    fit = boirl.maximum_likelihood(problem.with_demonstrations(always))
    assert np.isnan(fit.robust_standard_errors()).all()
