"""How probable hyperparameters are."""

import numpy as np
import pytest
import torch
from scipy.optimize import check_grad

from boirl.surrogate.evidence import Laplace, to_vector
from boirl.surrogate.fitting import Surrogate, _Seen
from boirl.surrogate.kernels import KERNELS


@pytest.fixture(scope="module")
def evidence(gridworld, gridworld_log_rho):
    thetas = gridworld.box.from_unit(np.random.default_rng(0).random((6, 3)))
    seen = [gridworld.evaluate(theta) for theta in thetas]
    surrogate = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box)
    nll, gradients = np.array([one.nll for one in seen]), np.array([one.gradient for one in seen])
    return _Seen(surrogate, thetas, nll, None, gradients, None).task("linear").evidence


def test_slopes_of_the_loss_are_those_of_finite_differences(evidence):
    at = np.random.default_rng(1).normal(scale=0.3, size=evidence.size)
    error = check_grad(lambda x: evidence.loss(x)[0], lambda x: evidence.loss(x)[1], at)
    assert error <= 1e-3 * np.linalg.norm(evidence.loss(at)[1])
    assert evidence.loss(at)[0] == pytest.approx(-evidence.log_probability(at))


def test_hyperparameters_that_cannot_be_are_refused(evidence, monkeypatch):
    monkeypatch.setattr("boirl.surrogate.process.JITTERS", ())
    at = np.zeros(evidence.size)
    assert evidence.log_probability(at) == -np.inf
    loss, slopes = evidence.loss(at)
    assert loss == 1e10
    assert not slopes.any()


def test_the_most_probable_are_more_probable_than_the_medians(evidence):
    best, height = evidence.maximise(np.zeros(evidence.size), 60)
    assert height == pytest.approx(evidence.log_probability(best))
    assert height > evidence.log_probability(np.zeros(evidence.size))


def test_draws_spread_no_wider_than_the_prior(evidence):
    laplace = Laplace.around(evidence, *evidence.maximise(np.zeros(evidence.size), 60))
    noise = np.random.default_rng(0).standard_normal((32, evidence.size))
    drawn = laplace.draws(evidence, noise, 6)
    assert drawn.shape == (6, evidence.size)
    best = evidence.log_probability(laplace.centre)
    assert all(evidence.log_probability(one) > best - 5.0 * evidence.size for one in drawn)
    assert np.linalg.norm(laplace.root, axis=0).max() <= 1.0 + 1e-9


def test_hyperparameters_by_name_are_a_vector(evidence):
    vector = np.random.default_rng(1).normal(size=evidence.size)
    values = {name: v.tolist() for name, v in evidence.values(torch.tensor(vector)).items()}
    np.testing.assert_allclose(to_vector(evidence.priors, values), vector)
    assert to_vector(evidence.priors, {}) is None
