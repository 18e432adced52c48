"""Hyperparameters for evaluations on one scale."""

import numpy as np
import pytest

from boirl.surrogate import Observations
from boirl.surrogate.fitting import _Seen


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


def task_of(surrogate, seen, gradients, scale="linear"):
    return _Seen(surrogate, seen.thetas, seen.nll, None, gradients, None).task(scale)


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("doubt", [-4.0, 2.0])
def test_the_other_peak_is_taken_where_it_is_higher(surrogate, seen, scale, doubt):
    task = task_of(surrogate, seen, seen.gradients, scale)
    start = np.zeros(task.evidence.size)
    start[-1] = doubt
    climb = task.most_probable(start)
    higher = task.other_peak(climb)
    assert higher.height >= climb.height
    assert task.log_probability(higher.vector) == pytest.approx(higher.height)
    assert task.laplace(start).centre.shape == start.shape


def test_what_cannot_be_doubted_has_one_peak(surrogate, seen):
    task = task_of(surrogate, seen, None)
    climb = task.most_probable(None)
    assert task.other_peak(climb) is climb
