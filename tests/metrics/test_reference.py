"""The exact optimum and posterior, against a grid."""

import numpy as np
import pytest

from boirl.cache import CACHE_VARIABLE
from boirl.metrics import reference as reference_module
from boirl.metrics.posterior import exact_posterior
from boirl.metrics.reference import exact_reference, marginal_shares


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def problem(request):
    return request.getfixturevalue("random_problem")(7, "logsumexp", count=20)


@pytest.fixture(scope="module")
def reference(problem):
    return exact_reference(problem)


def test_samples_have_the_marginals_of_a_grid(reference, problem):
    grid = exact_posterior(problem, (20, 20))
    shares = grid.shares(reference.samples)
    for axis in (0, 1):
        away = 0.5 * np.abs((shares - grid.probabilities).sum(axis=axis)).sum()
        assert away < 0.04
    assert reference.r_hat < 1.01
    assert reference.effective_sample_size >= 5000.0


def test_nothing_is_below_the_optimum(reference, problem):
    assert reference.best_nll <= problem.nll_batch(reference.samples[::7]).min() + 1e-12
    assert problem.nll(reference.best) == pytest.approx(reference.best_nll, abs=1e-12)
    assert reference.tolerances_above(reference.best_nll) == 0.0
    # chi2.ppf(0.95, 2) / (2 N)
    assert reference.tolerances_above(reference.best_nll + 5.991464547 / 40) == pytest.approx(1.0)


def test_independent_draws_are_as_far_away_as_the_noise(reference):
    """Fresh chains on the same posterior stand for draws from the truth."""
    assert 0.04 < reference.noise(1000) < 0.08
    assert reference.noise(4000) < reference.noise(1000)
    rng = np.random.default_rng(1)
    drawn = reference.samples[rng.integers(len(reference.samples), size=(8, 1000))]
    found = np.mean([reference.variation(samples) for samples in drawn])
    assert found == pytest.approx(reference.noise(1000), abs=0.012)


def test_another_run_of_the_chains_agrees_up_to_noise(reference, problem):
    other = exact_reference(problem, seed=5)
    rng = np.random.default_rng(2)
    drawn = other.samples[rng.integers(len(other.samples), size=(8, 1000))]
    excess = np.mean([reference.variation(samples) for samples in drawn]) - reference.noise(1000)
    assert abs(excess) < 0.015


def test_what_is_off_is_seen(reference):
    shifted = reference.samples + 0.5 * reference.samples.std(axis=0)
    assert reference.variation(shifted) > 0.15
    assert reference.variation(np.tile(reference.best, (1000, 1))) > 0.9


def test_shares_of_bins():
    np.testing.assert_allclose(
        marginal_shares(np.array([0.0, 1.0]), np.array([-5.0, 0.5, 0.7, 9.0])), [0.25, 0.5, 0.25]
    )


def test_it_is_computed_once(problem, reference, monkeypatch):
    monkeypatch.setattr(reference_module, "sample_exactly", None)
    again = exact_reference(problem)
    np.testing.assert_array_equal(again.chains, reference.chains)
    with pytest.raises(TypeError):
        exact_reference(problem, seed=99)
