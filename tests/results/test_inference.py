"""The posterior over rewards, against exact ones."""

import numpy as np
import pytest
from scipy.stats import qmc

import boirl
from boirl.cache import CACHE_VARIABLE
from boirl.errors import InvalidInputError
from boirl.metrics.truth import exact_landscape
from boirl.projections import Identity
from boirl.results.inference import sample_rewards, summarise_parameters
from boirl.surrogate.fitting import Surrogate
from boirl.surrogate.kernels import KERNELS
from boirl.types import Box

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


@pytest.fixture(scope="module")
def samples(found):
    return found.sample()


@pytest.fixture(scope="module")
def parabola():
    """A surrogate of `20 + x A x`, x from the centre of the unit square, and `A`."""
    box = Box(("a", "b"), np.zeros(2), np.ones(2))
    curvature = np.array([[80.0, 35.0], [35.0, 20.0]])
    thetas = np.random.default_rng(0).random((30, 2))
    nll = 20.0 + np.einsum("ni,ij,nj->n", thetas - 0.5, curvature, thetas - 0.5)
    fitted = Surrogate(KERNELS["rbf"], Identity(box), box, "linear").fit(thetas, nll)
    return fitted, curvature


def weighted_quantiles(values, weights, levels):
    order = np.argsort(values)
    return values[order][np.searchsorted(np.cumsum(weights[order]) / weights.sum(), levels)]


def test_quantiles_are_those_of_the_exact_posterior(
    gridworld, samples, tmp_path_factory, monkeypatch
):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path_factory.mktemp("cache")))
    landscape = exact_landscape(gridworld, 8192)
    weights = np.exp(-len(gridworld.demonstrations) * (landscape.nll - landscape.best_nll))
    box = gridworld.box
    for number in range(box.dimension):
        exact = weighted_quantiles(landscape.thetas[:, number], weights, LEVELS)
        drawn = np.quantile(samples[:, number], LEVELS)
        assert np.abs(drawn - exact).max() <= 0.1 * (box.high - box.low)[number]


def test_the_posterior_under_a_parabola_is_a_gaussian(parabola):
    fitted, curvature = parabola
    drawn = sample_rewards(fitted, 200, 4000, np.random.default_rng(0))
    exact = np.linalg.inv(2.0 * 200 * curvature)
    sd = np.sqrt(np.diag(exact))
    np.testing.assert_allclose(drawn.mean(axis=0), 0.5, atol=0.3 * sd.min())
    np.testing.assert_allclose(drawn.std(axis=0), sd, rtol=0.2)
    correlation = exact[0, 1] / (sd[0] * sd[1])
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(correlation, abs=0.05)


def test_a_parameter_without_effect_is_free(found):
    verdicts = {one.name: one.verdict for one in found.parameter_summary()}
    assert verdicts["translation"] == "free"
    assert "free" not in (verdicts["steepness"], verdicts["midpoint"])


def test_samples_lie_in_the_box_as_many_as_asked_for(found, samples):
    assert samples.shape == (1000, 3)
    assert found.sample(7).shape == (7, 3)
    box = found.problem.box
    assert ((samples >= box.low) & (samples <= box.high)).all()


def test_the_seed_decides_about_the_samples(found, samples):
    np.testing.assert_array_equal(found.sample(), samples)
    assert not np.array_equal(found.sample(seed=1), samples)


def test_more_demonstrations_narrow_the_intervals(parabola):
    fitted, _ = parabola
    few, many = (
        summarise_parameters(
            sample_rewards(fitted, count, 1000, np.random.default_rng(0)), fitted.box
        )
        for count in (20, 2000)
    )
    for before, after in zip(few, many, strict=True):
        assert after.share < 0.5 * before.share
        assert before.low <= after.low <= 0.5 <= after.high <= before.high


@pytest.mark.parametrize("seed", range(3))
def test_more_demonstrations_do_not_pin_down_what_has_no_effect(gridworld, gridworld_log_rho, seed):
    # Evaluations so dense that hardly anything but the demonstrations limits what is known.
    unit = qmc.Sobol(3, rng=np.random.default_rng(seed)).random(64)
    thetas = np.array([0.5, 0.0, -4.0]) + unit * [1.5, 10.0, 8.0]
    surrogate = Surrogate(KERNELS["rho-rbf"], gridworld_log_rho, gridworld.box, "log")
    fitted = surrogate.fit(thetas, gridworld.nll_batch(thetas))

    def shares(factor):
        count = factor * len(gridworld.demonstrations)
        drawn = sample_rewards(fitted, count, 1000, np.random.default_rng(0))
        return {one.name: one.share for one in summarise_parameters(drawn, gridworld.box)}

    few, more, many = shares(1), shares(10), shares(100)
    for name in ("steepness", "midpoint"):
        assert more[name] < 0.85 * few[name]
        assert many[name] < 0.5 * few[name]
    assert min(few["translation"], more["translation"], many["translation"]) >= 0.9


def test_what_is_not_known_widens_the_posterior(found):
    """Of what is possible; the samples of the expected NLL are as wide whatever is known of it."""
    early, late = (one.sample(500, possible=True).std(axis=0) for one in (found.truncate(2), found))
    assert (late[:2] < early[:2]).all()


def test_possible_and_expected_rewards_agree_at_the_end_of_a_search(found):
    expected, possible = (found.sample(2000, possible=which) for which in (False, True))
    spread = expected.std(axis=0)
    assert np.abs(expected.mean(axis=0) - possible.mean(axis=0)).max() < 0.2 * spread.max()
    assert possible.std(axis=0) == pytest.approx(spread, rel=0.2)


def test_uniform_samples_are_free_and_constant_ones_pinned_down():
    box = Box(("free", "pinned", "narrowed"), np.array([-4.0, 0, 0]), np.array([4.0, 1, 10]))
    steps = np.linspace(0.0, 1.0, 2001)
    samples = np.stack([-4.0 + 8.0 * steps, np.full(2001, 0.3), 2.0 + 5.0 * steps], axis=1)
    free, pinned, narrowed = summarise_parameters(samples, box)
    assert [one.verdict for one in (free, pinned, narrowed)] == ["free", "pinned down", "narrowed"]
    assert (free.name, pinned.name, narrowed.name) == box.names
    assert free.share == pytest.approx(1.0)
    assert (free.low, free.median, free.high) == pytest.approx((-3.8, 0.0, 3.8))
    assert pinned.share == 0.0
    assert pinned.low == pinned.median == pinned.high == 0.3
    assert narrowed.share == pytest.approx(0.5)


@pytest.mark.parametrize("count", [0, -3])
def test_at_least_one_sample_is_asked_for(found, count):
    with pytest.raises(InvalidInputError, match=f"n is {count}; expected at least one"):
        found.sample(count)


def test_samples_follow_the_prior_where_the_demonstrations_say_nothing(found):
    prior = boirl.NormalPrior([1.2, 5.0, 2.0], [np.inf, np.inf, 0.3])
    drawn = found.with_prior(prior).sample(2000)
    # Nothing depends on the translation, so that its posterior is its prior.
    assert drawn[:, 2].mean() == pytest.approx(2.0, abs=0.1)
    assert drawn[:, 2].std() == pytest.approx(0.3, rel=0.25)
    assert found.sample(2000)[:, 2].std() > 1.5


def test_the_uniform_prior_changes_nothing(found):
    np.testing.assert_array_equal(found.with_prior(None).sample(50), found.sample(50))
    np.testing.assert_array_equal(found.log_prior(found.thetas), 0.0)
