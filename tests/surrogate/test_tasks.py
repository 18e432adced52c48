"""Hyperparameters for evaluations on one scale."""

import numpy as np
import pytest

from boirl.surrogate import Observations
from boirl.surrogate.fitting import _Seen
from boirl.surrogate.tasks import COLD_FIT_STEPS


@pytest.fixture(scope="module")
def seen(gridworld):
    thetas = gridworld.box.from_unit(np.random.default_rng(0).random((8, 3)))
    return Observations.of([gridworld.evaluate(theta) for theta in thetas])


def test_the_evidence_of_a_smooth_landscape_is_above_that_of_noise(surrogate, seen):
    shuffled = Observations(
        seen.thetas,
        np.random.default_rng(1).permutation(seen.nll),
        seen.nll_se,
        -seen.gradients,
        seen.failed,
        seen.numbers,
    )
    assert surrogate.log_evidence(seen) > surrogate.log_evidence(shuffled) + 10.0


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_answer_is_fitted_from_the_better_of_two_starts(surrogate, seen, scale):
    task = _Seen(surrogate, seen.thetas, seen.nll, None, seen.gradients, None).task(scale)
    laplace = task.laplace(None)
    _, height = task.evidence.maximise(np.zeros(task.evidence.size), COLD_FIT_STEPS)
    assert task.log_probability(laplace.centre) >= height + task.log_units - 1e-6


def test_what_cannot_be_doubted_has_one_start(surrogate, seen):
    exact, learned = (
        _Seen(surrogate, seen.thetas, seen.nll, None, gradients, None).task("linear")
        for gradients in (seen.gradients, None)
    )
    assert len(exact._cold_starts) == 2
    assert len(learned._cold_starts) == 1
