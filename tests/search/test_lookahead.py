"""Looking two evaluations ahead: what it is worth, and what it proposes."""

import numpy as np
import pytest
from scipy.stats import norm

from boirl.search import explore
from boirl.search.lookahead import candidates, expected_improvement, two_step_gains


def test_expected_improvement_is_the_mean_of_improvements():
    mean, sd = np.array([1.0, 2.0]), np.array([0.5, 3.0])
    levels = (np.arange(20_000) + 0.5) / 20_000
    drawn = mean[:, None] + sd[:, None] * norm.ppf(levels)
    expected = np.maximum(1.2 - drawn, 0.0).mean(axis=1)
    np.testing.assert_allclose(expected_improvement(mean, sd, 1.2), expected, rtol=1e-3)


def test_with_independent_thetas_the_second_evaluation_adds_what_is_left():
    """The first of two equal thetas tells nothing of the second."""
    gains = two_step_gains(np.zeros(2), np.eye(2), best=0.0)
    drawn = np.random.default_rng(0).standard_normal((200_000, 2))
    both = np.maximum(-drawn.min(axis=1), 0.0).mean()
    # The better of the rest is chosen after the first is known: never worse than both in turn.
    np.testing.assert_allclose(gains, both, atol=0.02)


def test_two_evaluations_are_worth_more_than_one_and_copies_nothing():
    alone = two_step_gains(np.zeros(1), np.eye(1), best=0.0)
    assert alone[0] == pytest.approx(float(expected_improvement(np.zeros(1), np.ones(1), 0.0)[0]))
    same = two_step_gains(np.zeros(2), np.ones((2, 2)), best=0.0)
    np.testing.assert_allclose(same, alone[0], atol=1e-9)


def test_what_teaches_about_the_rest_is_preferred():
    """Two thetas promise the same at once; one of them moves a third."""
    covariance = np.eye(3)
    covariance[0, 2] = covariance[2, 0] = 0.9
    gains = two_step_gains(np.array([0.0, 0.0, 0.3]), covariance, best=-0.5)
    assert gains[0] > gains[1]


def test_thetas_of_little_promise_are_not_looked_ahead_from():
    mean = np.concatenate([np.zeros(32), np.full(8, 5.0)])
    gains = two_step_gains(mean, np.eye(40), best=0.0)
    assert np.isfinite(gains[:32]).all()
    assert np.isneginf(gains[32:]).all()


def test_candidates_are_in_the_cube_and_near_the_best():
    centre = np.array([0.99, 0.01])
    points = candidates(centre, np.random.default_rng(0))
    assert points.shape == (192, 2)
    assert points.min() >= 0.0
    assert points.max() <= 1.0
    assert (np.linalg.norm(points - centre, axis=1) < 0.05).sum() > 10


def test_a_search_with_it_gets_on(random_problem):
    problem = random_problem(3, "logsumexp")
    found = explore(problem, 5, seed=1000, acquisition="two-step", n_initial=2)
    assert found.best_nll < found.nll[:2].min()
    again = explore(problem, 5, seed=1000, acquisition="two-step", n_initial=2)
    np.testing.assert_array_equal(found.thetas, again.thetas)
