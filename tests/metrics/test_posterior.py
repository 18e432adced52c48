"""The exact posterior in cells, and how far samples are from it."""

import numpy as np
import pytest

from boirl.cache import CACHE_VARIABLE
from boirl.errors import InvalidInputError
from boirl.metrics.posterior import ExactPosterior, exact_posterior
from boirl.problem import TabularProblem
from boirl.types import Box

BOX = Box(("first", "second"), np.array([0.0, -5.0]), np.array([1.0, 5.0]))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))


@pytest.fixture
def uneven():
    return ExactPosterior(BOX, np.array([[0.5, 0.1], [0.3, 0.1]]))


def draws(posterior, count, seed=0):
    """Independent draws, `count x d`."""
    rng = np.random.default_rng(seed)
    flat = rng.choice(posterior.probabilities.size, count, p=posterior.probabilities.ravel())
    cells = np.stack(np.unravel_index(flat, posterior.probabilities.shape), axis=1)
    unit = (cells + rng.random(cells.shape)) / posterior.probabilities.shape
    return posterior.box.from_unit(unit)


def test_probabilities_are_means_over_points_in_cells(random_problem):
    problem = random_problem(0)
    exact = exact_posterior(problem, (2, 1), inside=2)
    points = np.array([-1.5, -0.5, 0.5, 1.5])
    thetas = np.array([[first, second] for first in points for second in (-1.0, 1.0)])
    weights = np.exp(-len(problem.demonstrations) * problem.nll_batch(thetas)).reshape(2, 4)
    expected = weights.sum(axis=1, keepdims=True) / weights.sum()
    np.testing.assert_allclose(exact.probabilities, expected)


def test_rewards_without_a_policy_have_no_probability(random_problem, monkeypatch):
    problem = random_problem(0)
    monkeypatch.setattr(
        TabularProblem,
        "nll_batch",
        lambda self, thetas: np.where(thetas[:, 0] < 0.0, np.nan, 3.0),
    )
    np.testing.assert_allclose(exact_posterior(problem, (2, 1)).probabilities, [[0.0], [1.0]])


def test_nlls_are_computed_once_whatever_the_cells(random_problem, monkeypatch):
    problem = random_problem(0)
    coarse = exact_posterior(problem, (4, 2), inside=2)

    def refuse(self, thetas):
        raise AssertionError("computed")

    monkeypatch.setattr(TabularProblem, "nll_batch", refuse)
    fine = exact_posterior(problem, (8, 4), inside=1)
    np.testing.assert_allclose(fine.coarsened((4, 2)).probabilities, coarse.probabilities)
    with pytest.raises(AssertionError, match="computed"):
        exact_posterior(problem, (8, 4), inside=2)


def test_cells_that_do_not_make_others_are_refused(uneven):
    np.testing.assert_allclose(uneven.coarsened((1, 2)).probabilities, [[0.8, 0.2]])
    for cells in ((3, 1), (2,)):
        with pytest.raises(InvalidInputError, match="do not make"):
            uneven.coarsened(cells)


def test_total_variation_by_hand(uneven):
    samples = np.array([[0.2, -1.0], [0.7, -1.0], [0.2, 1.0], [1.0, 5.0]])
    np.testing.assert_allclose(uneven.shares(samples), [[0.25, 0.25], [0.25, 0.25]])
    assert uneven.total_variation(samples) == pytest.approx(0.3)
    corner = ExactPosterior(BOX, np.array([[0.0, 0.0], [0.0, 1.0]]))
    assert corner.total_variation(samples[3:]) == 0.0
    assert corner.total_variation(samples[:3]) == 1.0


@pytest.mark.parametrize("count", [10, 1000])
def test_independent_draws_are_as_far_away_as_is_said(count):
    weights = np.random.default_rng(0).random((6, 5)) ** 4
    posterior = ExactPosterior(BOX, weights / weights.sum())
    measured = np.mean(
        [posterior.total_variation(draws(posterior, count, seed)) for seed in range(50)]
    )
    assert posterior.variation_of_draws(count) == pytest.approx(measured, rel=0.1)


def test_occupied_cells_hold_nearly_all():
    flat = ExactPosterior(BOX, np.full((10, 10), 0.01))
    assert flat.occupied == 99
    assert ExactPosterior(BOX, np.array([[0.995, 0.005]])).occupied == 1
