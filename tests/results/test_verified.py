"""Verified answers, against exact posteriors."""

from dataclasses import replace

import numpy as np
import pytest

import boirl
from boirl.errors import InvalidInputError, SolverError
from boirl.metrics.exact_chains import sample_exactly
from boirl.results.verified import LEAST_EFFECTIVE, VerifiedRewards, check_verifiable

LEVELS = (0.025, 0.25, 0.5, 0.75, 0.975)


@pytest.fixture(scope="module")
def search(random_problem):
    problem = random_problem(1005, "logsumexp", count=40)
    return boirl.explore(problem, evaluations=8, seed=1005)


@pytest.fixture(scope="module")
def verified(search):
    return search.verify(evaluations=1500)


def exact_samples(search, log_prior=lambda thetas: 0.0):
    box, n = search.problem.box, len(search.problem.demonstrations)

    def log_density(unit):
        thetas = box.from_unit(unit)
        return -n * search.problem.nll_batch(thetas) + log_prior(thetas)

    chains = sample_exactly(log_density, box.dimension, seed=0, least_effective=2000.0)
    return box.from_unit(chains.points.reshape(-1, box.dimension))


def assert_same_quantiles(samples, exact):
    spread = exact.std(axis=0)
    gaps = np.quantile(samples, LEVELS, axis=0) - np.quantile(exact, LEVELS, axis=0)
    assert np.abs(gaps / spread).max() < 0.2


def test_samples_are_those_of_the_exact_posterior(search, verified):
    assert_same_quantiles(verified.samples(4000), exact_samples(search))


def test_a_prior_enters_it(search):
    with_prior = search.with_prior(boirl.NormalPrior([1.0, -1.0], [0.3, 0.5]))
    verified = with_prior.verify(evaluations=1500)
    assert_same_quantiles(verified.samples(4000), exact_samples(with_prior, with_prior.log_prior))
    assert abs(verified.samples()[:, 0].mean() - 1.0) < 0.5


def test_nlls_are_exact_and_weights_follow_from_them(search, verified):
    np.testing.assert_allclose(verified.nll[:20], search.problem.nll_batch(verified.thetas[:20]))
    assert verified.evaluations == 1500
    assert verified.weights.sum() == pytest.approx(1.0)
    assert verified.effective_sample_size > 300
    assert verified.best_nll == verified.nll.min()
    assert search.problem.nll(verified.best) == pytest.approx(verified.best_nll)
    assert set(map(tuple, verified.samples(50))) <= set(map(tuple, verified.thetas))


def test_a_good_one_needs_no_attention(verified):
    assert verified.health().is_good
    assert verified.weights.max() < 1.0 / LEAST_EFFECTIVE


def test_the_same_seed_gives_the_same_answer(search):
    one, other = (search.verify(evaluations=60, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.weights, other.weights)
    np.testing.assert_array_equal(one.samples(10), other.samples(10))


def test_thetas_whose_solver_fails_have_no_weight(search, monkeypatch):
    batch = type(search.problem).nll_batch

    def failing(self, thetas):
        return np.where(np.asarray(thetas)[:, 0] > 0.0, np.nan, batch(self, thetas))

    monkeypatch.setattr(type(search.problem), "nll_batch", failing)
    verified = search.verify(evaluations=600)
    assert np.isnan(verified.nll).any()
    assert verified.weights[np.isnan(verified.nll)].sum() == 0.0
    assert (verified.samples(500)[:, 0] <= 0.0).all()
    assert "the solver failed for" in verified.health().named("failed evaluations").message
    monkeypatch.setattr(
        type(search.problem), "nll_batch", lambda self, thetas: np.full(len(thetas), np.nan)
    )
    with pytest.raises(SolverError, match="none of 60 thetas"):
        search.verify(evaluations=60)


def test_too_few_effective_samples_need_attention(verified):
    few = replace(verified, effective_sample_size=LEAST_EFFECTIVE - 1.0)
    lopsided = np.append(0.5, 0.5 * verified.weights[1:] / verified.weights[1:].sum())
    heavy = replace(verified, tail_shape=0.9, weights=lopsided)
    for poor in (few, heavy):
        (finding,) = poor.health().attention
        assert finding.name == "weights"
        assert f"! {finding}" in str(poor)


def test_a_search_that_had_not_ended_is_seen(verified):
    poor = replace(verified, searched_nll=verified.best_nll + 1.0)
    (finding,) = poor.health().attention
    assert finding.name == "better reward"
    assert "an NLL 1 below" in finding.message


def test_it_prints_well(verified):
    lines = str(verified).splitlines()
    assert "verified by 1500 exact evaluations" in lines[0]
    assert [line.split()[0] for line in lines[-2:]] == list(verified.box.names)
    assert repr(verified).startswith("VerifiedRewards(")


def test_it_survives_a_file(verified, search, tmp_path):
    verified.save(tmp_path / "verified.npz")
    again = VerifiedRewards.load(tmp_path / "verified.npz")
    assert str(again) == str(verified)
    np.testing.assert_array_equal(again.samples(20), verified.samples(20))
    search.save(tmp_path / "rewards.npz")
    with pytest.raises(InvalidInputError, match=r"expected a file that VerifiedRewards\.save"):
        VerifiedRewards.load(tmp_path / "rewards.npz")


def test_what_cannot_be_verified_is_refused(search, verified, monkeypatch):
    with pytest.raises(InvalidInputError, match=r"are 10; expected at least 50"):
        search.verify(evaluations=10)
    with pytest.raises(InvalidInputError, match="n is 0"):
        verified.samples(0)
    monkeypatch.setattr(type(search.problem), "is_model_free", True)
    with pytest.raises(InvalidInputError, match="are learned"):
        check_verifiable(search.problem, 100)
