"""Logarithms on both sides of the Gaussian process, and the choice whether to take them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import boirl
from boirl.projections import Identity, Rho
from boirl.surrogate.fitting import Surrogate
from boirl.surrogate.kernels import KERNELS
from boirl.surrogate.warping import SCALES, OutputScale

CENTRES = st.floats(-1e6, 1e6)
SPREADS = st.floats(1e-2, 1e6)
SEEDS = st.integers(0, 10_000)


def some_nll(seed, centre, spread):
    return centre + spread * np.random.default_rng(seed).random(8)


@pytest.mark.parametrize("scale", SCALES)
@given(seed=SEEDS, centre=CENTRES, spread=SPREADS)
def test_back_undoes_forward(scale, seed, centre, spread):
    nll = some_nll(seed, centre, spread)
    output = OutputScale.of(scale, nll)
    found, _ = output.back(output.forward(nll), np.zeros(8))
    np.testing.assert_allclose(found, nll, rtol=1e-12, atol=1e-6 * spread)


@pytest.mark.parametrize("scale", SCALES)
@given(seed=SEEDS, centre=st.floats(-100.0, 100.0), spread=st.floats(0.1, 1e4))
def test_slopes_are_those_of_finite_differences(scale, seed, centre, spread):
    nll = some_nll(seed, centre, spread)
    output, step = OutputScale.of(scale, nll), 1e-5 * spread
    slopes = (output.forward(nll + step) - output.forward(nll - step)) / (2.0 * step)
    np.testing.assert_allclose(np.exp(output.log_slopes(nll)), slopes, rtol=1e-4)


@pytest.mark.parametrize("scale", SCALES)
@given(seed=SEEDS)
def test_spreads_are_brought_back_to_first_order(scale, seed):
    nll = some_nll(seed, 20.0, 300.0)
    output = OutputScale.of(scale, nll)
    mean, sd = output.forward(nll), np.random.default_rng(seed).random(8)
    below, above = (output.back(mean + sign * 1e-6 * sd, sd)[0] for sign in (-1.0, 1.0))
    np.testing.assert_allclose(output.back(mean, sd)[1], (above - below) / 2e-6, rtol=1e-5)


@pytest.mark.parametrize("scale", SCALES)
@given(seed=SEEDS, centre=CENTRES, spread=SPREADS)
def test_the_order_of_rewards_is_kept(scale, seed, centre, spread):
    nll = np.sort(some_nll(seed, centre, spread))
    outputs = OutputScale.of(scale, nll).forward(nll)
    assert np.isfinite(outputs).all()
    assert (np.diff(outputs) >= 0.0).all()
    assert outputs[-1] > outputs[0]


def test_the_linear_scale_changes_nothing():
    nll, sd = np.array([3.0, 100.0, -7.0]), np.array([1.0, 2.0, 3.0])
    output = OutputScale.of("linear", nll)
    assert output == OutputScale()
    np.testing.assert_array_equal(output.forward(nll), nll)
    np.testing.assert_array_equal(output.log_slopes(nll), 0.0)
    np.testing.assert_array_equal(output.back(nll, sd), (nll, sd))


@pytest.mark.parametrize("nll", [[30.0], [30.0] * 5, [-4.0] * 2, [0.0] * 3])
def test_equal_outputs_stay_as_they_are(nll):
    assert OutputScale.of("log", np.array(nll)) == OutputScale.of("linear", np.array(nll))


@pytest.mark.parametrize("nll", [[-900.0, -10.0, -899.0], [-5.0, 0.0, 5000.0]])
def test_outputs_below_zero_have_logarithms_too(nll):
    output = OutputScale.of("log", np.array(nll))
    assert output.offset is not None
    assert np.isfinite(output.forward(np.array(nll))).all()


@pytest.mark.parametrize("nll", [[30.0, np.nextafter(30.0, 31.0)], [-1e5, -1e5 + 1e-10]])
def test_outputs_that_only_rounding_tells_apart_stay_finite(nll):
    nll = np.array(nll, dtype=np.float64)
    assert np.isfinite(OutputScale.of("log", nll).forward(nll)).all()


def test_the_logarithm_opens_the_valley():
    nll = np.array([10.0, 11.0, 12.0, 1000.0])
    outputs = OutputScale.of("log", nll).forward(nll)
    share = (outputs[1] - outputs[0]) / (outputs[-1] - outputs[0])
    assert share > 5.0 * (nll[1] - nll[0]) / (nll[-1] - nll[0])


def test_log_rho_is_compressed_in_order_and_without_end(gridworld_log_rho):
    latent = torch.tensor([0.0, -1e-9, -1e-3, -1.0, -10.0, -1e3, -1e6], dtype=torch.float64)
    latent = latent[:, None].expand(-1, 5).clone().requires_grad_()
    compressed = gridworld_log_rho.compress(latent)
    assert compressed.shape == latent.shape
    assert torch.isfinite(compressed).all()
    assert (compressed.diff(dim=0) < 0.0).all()
    compressed.sum().backward()
    assert torch.isfinite(latent.grad).all()
    assert (latent.grad > 0.0).all()


def test_other_projections_are_not_compressed(gridworld, gridworld_log_rho):
    rho = Rho(gridworld, gridworld_log_rho.demonstrations, gridworld_log_rho.rollouts)
    latent = torch.rand(4, 5, dtype=torch.float64)
    assert torch.equal(rho.compress(latent), latent)
    assert torch.equal(Identity(gridworld.box).compress(latent), latent)


@pytest.fixture(scope="module")
def thetas(gridworld):
    return gridworld.box.from_unit(np.random.default_rng(0).random((18, 3)))


@pytest.fixture(scope="module")
def elsewhere(gridworld):
    return gridworld.box.from_unit(np.random.default_rng(1).random((20, 3)))


@pytest.fixture(params=KERNELS)
def surrogate(request, gridworld, gridworld_log_rho):
    """A builder of surrogates with a scale."""
    kernel = KERNELS[request.param]
    projection = gridworld_log_rho if kernel.projected else Identity(gridworld.box)
    return lambda scale: Surrogate(kernel, projection, gridworld.box, scale)


@pytest.fixture
def automatic(gridworld, gridworld_log_rho):
    return Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box, "auto")


def linear_nll(projection, thetas):
    return -projection.transform(thetas).mean(dim=-1).numpy()


def steep_nll(projection, thetas):
    """Over five orders of magnitude."""
    compressed = projection.compress(projection.transform(thetas)).mean(dim=-1).numpy()
    return np.exp(-5.0 * compressed)


def test_the_better_scale_predicts_better(gridworld, gridworld_log_rho, thetas, elsewhere):
    nll, truth = (steep_nll(gridworld_log_rho, at) for at in (thetas, elsewhere))
    error = {}
    for scale in SCALES:
        surrogate = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box, scale)
        mean, _ = surrogate.fit(thetas, nll).posterior(elsewhere)
        good = truth < np.median(truth)
        error[scale] = np.abs(mean - truth)[good].mean()
    assert error["log"] < 0.5 * error["linear"]


def test_gradients_on_the_log_scale_match_finite_differences(surrogate, thetas, automatic):
    fitted = surrogate("log").fit(thetas, steep_nll(automatic.projection, thetas), draws=1)
    unit = torch.tensor(np.random.default_rng(3).uniform(0.1, 0.9, (4, 3)), requires_grad=True)
    (found,) = torch.autograd.grad(fitted.marginals(unit)[0].sum(), unit)
    for axis in range(3):
        step = 1e-5 * torch.eye(3, dtype=torch.float64)[axis]
        with torch.no_grad():
            above, below = (fitted.marginals(unit + sign * step)[0] for sign in (1.0, -1.0))
        expected = (above - below) / 2e-5
        assert float((found[:, axis] - expected).abs().max()) <= 1e-3 * float(found.abs().max())


def test_outputs_that_only_rounding_tells_apart_do_not_break_a_fit(surrogate, thetas):
    nll = np.full(18, 30.0)
    nll[3] = np.nextafter(30.0, 31.0)
    for scale in ("auto", *SCALES):
        mean, sd = surrogate(scale).fit(thetas, nll).posterior(thetas)
        np.testing.assert_allclose(mean, 30.0)
        assert np.isfinite(sd).all()


def test_a_search_among_rewards_that_all_behave_alike_goes_on(gridworld):
    reward = gridworld.reward.fix(steepness=1.25, midpoint=5.0)
    problem = boirl.TabularProblem(gridworld.mdp, reward, gridworld.demonstrations)
    found = boirl.explore(problem, kernel="rbf", evaluations=7)
    np.testing.assert_allclose(found.nll, found.best_nll)


def scales(fitted):
    return {one.scale for one in fitted.components}


def test_the_evidence_weighs_the_scales(automatic, thetas):
    log_rho = automatic.projection
    assert scales(automatic.fit(thetas, linear_nll(log_rho, thetas))) == {"linear"}
    assert scales(automatic.fit(thetas, steep_nll(log_rho, thetas))) == {"log"}


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_that_was_asked_for_is_taken(surrogate, thetas, scale, automatic):
    nll = steep_nll(automatic.projection, thetas)
    assert scales(surrogate(scale).fit(thetas, nll)) == {scale}
    assert scales(surrogate(scale).build(thetas[:1], nll[:1])) == {scale}


@pytest.mark.parametrize("scale", ["auto", "log"])
def test_hyperparameters_keep_the_scale(gridworld, gridworld_log_rho, thetas, elsewhere, scale):
    surrogate = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box, scale)
    nll = steep_nll(gridworld_log_rho, thetas)
    fitted = surrogate.fit(thetas, nll)
    rebuilt = surrogate.build(thetas, nll, fitted.hyperparameters)
    assert scales(rebuilt) == {"log"}
    np.testing.assert_allclose(rebuilt.posterior(elsewhere), fitted.posterior(elsewhere))
