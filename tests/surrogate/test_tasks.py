"""Hyperparameters for evaluations on one scale."""

import numpy as np
import pytest

from boirl.surrogate import Observations


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
