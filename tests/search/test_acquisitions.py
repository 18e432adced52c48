"""Which theta to evaluate next."""

import numpy as np
import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from scipy.stats import qmc

from boirl.errors import InvalidInputError
from boirl.maximise import SAMPLES, maximise
from boirl.projections import Identity
from boirl.search.acquisitions import (
    ACQUISITIONS,
    MarginalLogEI,
    ResolvePosterior,
    log_ei,
    resolve,
)
from boirl.surrogate import FittedSurrogate
from boirl.surrogate.botorch_model import MarginalModel
from boirl.surrogate.fitting import Surrogate
from boirl.surrogate.kernels import KERNELS
from boirl.types import Box

BOX = Box(("a", "b"), np.zeros(2), np.ones(2))


def _valley(size, failed=None):
    """A surrogate of a parabola with its lowest point at (0.3, 0.6)."""
    thetas = qmc.Sobol(2, rng=np.random.default_rng(0)).random(16)[:size]
    nll = 10.0 * ((thetas - [0.3, 0.6]) ** 2).sum(axis=1)
    surrogate = Surrogate(KERNELS["rbf"], Identity(BOX), BOX, "linear", n_demonstrations=20)
    return surrogate.fit(thetas, nll, gradients=20.0 * (thetas - [0.3, 0.6]), failed=failed)


@pytest.fixture(scope="module")
def valley():
    return _valley(12)


@pytest.fixture(scope="module")
def gridworld_search(gridworld, gridworld_log_rho):
    thetas = gridworld.box.from_unit(np.random.default_rng(0).random((10, 3)))
    nll = gridworld.nll_batch(thetas)
    surrogate = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box, n_demonstrations=50)
    return surrogate.fit(thetas, nll, draws=1)


@pytest.mark.parametrize("kind", [MarginalLogEI, ResolvePosterior])
def test_climbing_never_ends_below_the_best_of_the_sample(gridworld_search, kind):
    acquisition = kind(gridworld_search)
    raw = qmc.Sobol(3, rng=np.random.default_rng(4)).random(SAMPLES)
    with torch.no_grad():
        best_raw = float(acquisition(torch.tensor(raw).unsqueeze(-2)).max())
    unit, value = maximise(acquisition, gridworld_search.best_unit, np.random.default_rng(4))
    assert value >= best_raw
    assert ((unit >= 0.0) & (unit <= 1.0)).all()
    assert float(acquisition(torch.tensor(unit)[None, None])) == pytest.approx(value, rel=1e-6)


def test_expected_improvement_is_that_of_botorch(gridworld_search):
    points = torch.tensor(np.random.default_rng(1).random((20, 3))).unsqueeze(-2)
    model = MarginalModel(gridworld_search)
    with torch.no_grad():
        found = MarginalLogEI(gridworld_search)(points)
        reference = LogExpectedImprovement(model, gridworld_search.best_nll, maximize=False)(points)
    torch.testing.assert_close(found, reference, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("propose", [log_ei, resolve])
def test_the_lowest_point_of_a_valley_is_proposed(propose):
    found = propose(_valley(4), np.random.default_rng(0))
    np.testing.assert_allclose(found.unit, [0.3, 0.6], atol=0.1)


def test_it_has_slopes_everywhere(valley):
    points = torch.tensor(np.random.default_rng(1).random((50, 1, 2)), requires_grad=True)
    ResolvePosterior(valley)(points).sum().backward()
    assert torch.isfinite(points.grad).all()


def test_where_evaluations_fail_is_not_proposed():
    failed = np.array([[0.25, 0.6], [0.3, 0.65], [0.35, 0.55], [0.3, 0.6]])
    for kind in (MarginalLogEI, ResolvePosterior):
        here = torch.tensor([[[0.3, 0.6]]], dtype=torch.float64)
        assert float(kind(_valley(6, failed))(here)) < float(kind(_valley(6))(here)) - 0.5


def test_luck_is_not_chased():
    """One of four evaluations of (0.9, 0.1), a poor theta, is lucky."""
    rng = np.random.default_rng(0)
    thetas = np.concatenate([rng.random((20, 2)), np.full((4, 2), [0.9, 0.1])])
    nll = 10.0 * ((thetas - [0.3, 0.6]) ** 2).sum(axis=1) + rng.standard_normal(24)
    nll[-1] = nll.min() - 1.0
    surrogate = Surrogate(KERNELS["rbf"], Identity(BOX), BOX, "linear", n_demonstrations=5)
    fitted = surrogate.fit(thetas, nll, nll_se=np.ones(24))
    assert fitted.best_nll > nll.min()
    for propose in (log_ei, resolve):
        assert np.abs(propose(fitted, np.random.default_rng(0)).unit - [0.9, 0.1]).max() > 0.1


def test_random_ignores_the_surrogate(valley):
    proposal = ACQUISITIONS["random"](valley, np.random.default_rng(0))
    assert proposal.unit.tolist() == np.random.default_rng(0).random(2).tolist()


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_the_same_seed_gives_the_same_proposal_in_the_unit_cube(gridworld_search, name):
    first, again = (
        ACQUISITIONS[name](gridworld_search, np.random.default_rng(3)) for _ in range(2)
    )
    assert first.unit.tolist() == again.unit.tolist()
    assert first.purpose == again.purpose
    assert first.unit.shape == (3,)
    assert ((first.unit >= 0.0) & (first.unit <= 1.0)).all()


def test_an_unknown_acquisition_is_named():
    with pytest.raises(InvalidInputError, match="no acquisition 'ucb'; expected one of "):
        _ = ACQUISITIONS["ucb"]


class Opinion(Identity):
    """A projection that takes one theta for the likeliest."""

    def __init__(self, box, theta):
        super().__init__(box)
        self.theta = np.array(theta)

    def likeliest(self, box):
        return self.theta


@pytest.mark.parametrize(("theta", "is_new"), [([0.9, 0.2], True), ([0.505, 0.5], False)])
def test_without_gradients_what_the_projection_takes_for_likely_comes_first_once(theta, is_new):
    thetas, nll = np.array([[0.5, 0.5], [0.1, 0.9], [0.7, 0.7]]), np.array([1.0, 2.0, 3.0])
    surrogate = Surrogate(KERNELS["rbf"], Opinion(BOX, theta), BOX, "linear")
    proposal = resolve(surrogate.fit(thetas, nll), np.random.default_rng(0))
    assert (proposal.purpose == "likely") == is_new
    with_slopes = surrogate.fit(thetas, nll, gradients=np.ones((3, 2)))
    assert resolve(with_slopes, np.random.default_rng(0)).purpose != "likely"


def test_a_certain_improvement_is_taken_at_once(valley):
    unit, purpose = resolve(valley, np.random.default_rng(0))
    assert purpose == "improve"
    np.testing.assert_allclose(unit, [0.3, 0.6], atol=0.02)


@pytest.mark.parametrize("short", [True, False])
def test_a_descent_that_promises_more_takes_the_place_of_a_short_step(valley, monkeypatch, short):
    optimum = np.array([0.3, 0.6])
    below = valley.best_unit + 0.1 * (optimum - valley.best_unit) if short else optimum
    away = below + 0.2
    step = optimum if short else away
    monkeypatch.setattr("boirl.search.acquisitions._below", lambda *_: below)
    monkeypatch.setattr("boirl.search.acquisitions.quasi_newton_step", lambda *_: step)
    proposal = resolve(valley, np.random.default_rng(0))
    assert proposal.purpose == "improve"
    np.testing.assert_array_equal(proposal.unit, optimum)


def test_at_the_optimum_there_is_nothing_to_improve():
    thetas = np.concatenate([[[0.3, 0.6]], qmc.Sobol(2, rng=np.random.default_rng(0)).random(8)])
    nll = 10.0 * ((thetas - [0.3, 0.6]) ** 2).sum(axis=1)
    surrogate = Surrogate(KERNELS["rbf"], Identity(BOX), BOX, "linear", n_demonstrations=20)
    fitted = surrogate.fit(thetas, nll, gradients=20.0 * (thetas - [0.3, 0.6]))
    assert resolve(fitted, np.random.default_rng(0)).purpose == "resolve"


def test_where_nothing_is_left_to_learn_the_least_well_predicted_is_evaluated(monkeypatch):
    def nothing(self, mean, sd):
        return torch.zeros_like(sd)

    monkeypatch.setattr(FittedSurrogate, "removable_sd", nothing)
    known = _valley(12)
    monkeypatch.setattr("boirl.search.acquisitions._better", lambda _: None)
    proposal = resolve(known, np.random.default_rng(3))
    assert proposal.purpose == "resolve"
    assert np.abs(known.thetas - proposal.unit).max(axis=1).min() > 1e-3
    mean, sd = known.marginals(torch.tensor(proposal.unit[None]))
    assert float(known.predictive_sd(mean, sd)) > float(sd) > 0.0


@pytest.mark.parametrize("size", range(2, 16))
def test_some_evaluations_check_the_surrogate(size):
    proposal = resolve(_valley(size), np.random.default_rng(size))
    assert (proposal.purpose == "check") == (size + 1 in (9, 16))
    assert ((proposal.unit >= 0.0) & (proposal.unit <= 1.0)).all()


def test_without_gradients_nothing_is_checked():
    thetas = qmc.Sobol(2, rng=np.random.default_rng(0)).random(8)
    surrogate = Surrogate(KERNELS["rbf"], Identity(BOX), BOX, "linear", n_demonstrations=20)
    fitted = surrogate.fit(thetas, 10.0 * ((thetas - [0.3, 0.6]) ** 2).sum(axis=1))
    assert resolve(fitted, np.random.default_rng(0)).purpose != "check"


def test_checks_stay_where_evaluations_succeed():
    failed = np.random.default_rng(1).random((40, 2)) * [0.5, 1.0]
    known = _valley(15, failed=failed)
    checks = [resolve(known, np.random.default_rng(seed)) for seed in range(20)]
    assert {one.purpose for one in checks} == {"check"}
    chance = known.feasibility.log_probability(torch.tensor(np.array([c.unit for c in checks])))
    assert float(chance.exp().min()) > 0.5
    assert len({tuple(one.unit) for one in checks}) == len(checks)
