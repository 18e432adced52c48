"""Hyperparameters for evaluations on one scale."""

import numpy as np
import pytest

from boirl.surrogate import Observations
from boirl.surrogate.evidence import Evidence
from boirl.surrogate.fitting import _Seen
from boirl.surrogate.tasks import WARM_FIT_STEPS


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
def test_a_fit_is_no_worse_than_a_climb_from_either_side(surrogate, seen, scale, doubt):
    task = task_of(surrogate, seen, seen.gradients, scale)
    start = np.zeros(task.evidence.size)
    start[-1] = doubt
    _, height = task.evidence.maximise(start, WARM_FIT_STEPS)
    assert task.most_probable(start)[0] >= height + task.log_units


def test_what_cannot_be_doubted_is_climbed_once(surrogate, seen, monkeypatch):
    climbs = []
    climb = Evidence.maximise

    def counted(evidence, start, steps):
        climbs.append(start)
        return climb(evidence, start, steps)

    monkeypatch.setattr(Evidence, "maximise", counted)
    task_of(surrogate, seen, None).most_probable(None)
    assert len(climbs) == 1
    task_of(surrogate, seen, seen.gradients).most_probable(None)
    assert len(climbs) == 3
