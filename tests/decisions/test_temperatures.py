"""Demonstrators who differ in how carefully they choose."""

from dataclasses import replace

import numpy as np
import pytest

import boirl
from boirl.decisions.temperatures import fit_temperatures
from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.experiments.mixtures import problem_of


@pytest.fixture(scope="module")
def careful_and_careless():
    """Twenty trajectories at an inverse temperature of 4, then twenty at 0.25, of one reward."""
    problem, _, truths = problem_of(1000)
    rng = np.random.default_rng(1000)
    starts = rng.integers(36, size=20)
    parts = []
    for beta in (4.0, 0.25):
        solver = replace(problem.solver, inverse_temperature=beta)
        parts.append(
            replace(problem, solver=solver).roll_out(
                replace(problem, solver=solver).policy(truths[0]), starts, 15, rng
            )
        )
    problem = problem.with_demonstrations(Demonstrations.concatenate(parts))
    found = boirl.explore(
        problem, 3, initial=[truths[0], truths[1]], kernel="rbf", acquisition="random", seed=1000
    )
    return found, truths[0]


def test_labels_show_who_is_careful(careful_and_careless):
    found, truth = careful_and_careless
    fit = fit_temperatures(found, labels=[0] * 20 + [1] * 20)
    np.testing.assert_array_equal(fit.theta, truth)
    assert fit.inverse_temperatures[0] >= 2.0 > fit.inverse_temperatures[1]
    np.testing.assert_array_equal(fit.labels, [0] * 20 + [1] * 20)


def test_they_are_told_apart_without_labels(careful_and_careless):
    found, _ = careful_and_careless
    fit = fit_temperatures(found)
    right = (fit.labels == np.repeat([0, 1], 20)).mean()
    assert max(right, 1 - right) >= 0.85
    assert fit.inverse_temperatures.max() > fit.inverse_temperatures.min()


def test_wrong_arguments_are_refused(careful_and_careless):
    with pytest.raises(InvalidInputError, match="expected 40, one per trajectory"):
        fit_temperatures(careful_and_careless[0], labels=[0])
    for number in (0, 41):
        with pytest.raises(InvalidInputError, match="expected a number from 1 to 40"):
            fit_temperatures(careful_and_careless[0], number)
    for betas in ((), (1.0, -1.0)):
        with pytest.raises(InvalidInputError, match="expected positive numbers"):
            fit_temperatures(careful_and_careless[0], inverse_temperatures=betas)
