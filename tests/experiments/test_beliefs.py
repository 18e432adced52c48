"""Exact beliefs on a table."""

import numpy as np
import pytest

from boirl.demonstrations import Demonstrations
from boirl.experiments.beliefs import exact_belief
from boirl.experiments.worst_case import problem_of


@pytest.fixture(scope="module")
def problem():
    return problem_of("ambiguous", 1000)


@pytest.fixture(scope="module")
def belief(problem):
    return exact_belief(problem, 256)


def test_likelihoods_are_those_of_the_problem(problem, belief):
    counted = np.flatnonzero(np.isfinite(belief.log_weights))[:8]
    exact = -len(problem.demonstrations) * problem.nll_batch(belief.thetas[counted])
    np.testing.assert_allclose(belief.log_likelihoods[counted], exact, rtol=1e-9)


def test_the_volume_is_that_of_a_fine_grid(problem, belief):
    middles = (np.arange(48) + 0.5) / 48
    unit = np.stack(np.meshgrid(middles, middles), axis=-1).reshape(-1, 2)
    logs = -len(problem.demonstrations) * problem.nll_batch(problem.box.from_unit(unit))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    volume = np.exp(-weights @ np.log(weights)) / len(weights)
    assert belief.volume == pytest.approx(volume, rel=0.12)
    assert belief.weights.sum() == pytest.approx(1.0)
    assert 64 < belief.effective <= 256


def test_more_demonstrations_shrink_the_volume(problem, belief):
    rng = np.random.default_rng(0)
    more = problem.roll_out(problem.policy(problem.truth), np.full(20, 4), 3, rng)
    shown = Demonstrations.concatenate([problem.demonstrations, more])
    after = exact_belief(problem.with_demonstrations(shown), 128, guess=belief)
    assert 0.0 < after.volume < belief.volume <= 1.0
