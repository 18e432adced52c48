"""Noise is what the terms say, the budget is kept, and what has no bound is refused."""

import json
import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest

import boirl
from boirl.errors import InvalidInputError, SiteError, StorageError
from boirl.federation import FederatedProblem, Ledger, LocalSite, PrivacyTerms
from boirl.federation.discrete_gaussian import discrete_gaussian

TERMS = PrivacyTerms(epsilon=2.0, delta=1e-5, clip=20.0, evaluations=3)
THETA = (0.25, -1.0)


def test_all_answers_together_spend_epsilon():
    assert TERMS.spent(TERMS.evaluations) == pytest.approx(TERMS.epsilon)
    assert TERMS.spent(1) < TERMS.epsilon
    assert TERMS.evaluations * TERMS.clip**2 / (2 * TERMS.sigma**2) == pytest.approx(TERMS.rho)


def test_the_discrete_gaussian_has_its_probabilities():
    variance, random = Fraction(7, 2), Random(5201)
    drawn = np.array([discrete_gaussian(variance, random) for _ in range(4000)])
    support = np.arange(-12, 13)
    weights = np.exp(-(support**2) / 7.0)
    expected = weights / weights.sum()
    found = (drawn[:, None] == support).mean(axis=0)
    # Five standard errors of a share.
    assert (np.abs(found - expected) < 5.0 * np.sqrt(expected / 4000) + 1e-3).all()


def test_noise_has_the_standard_deviation_that_is_stated():
    sums = []
    for seed in range(300):
        ledger = Ledger(TERMS, random=Random(seed))
        sums.append(ledger.noisy_sum(THETA, np.full(4, 5.0)))
    assert np.mean(sums) == pytest.approx(20.0, abs=4.0 * TERMS.sigma / math.sqrt(300))
    assert np.std(sums) == pytest.approx(TERMS.sigma, rel=0.2)


@pytest.mark.parametrize("worst", [1e9, np.inf])
def test_a_trajectory_counts_for_no_more_than_the_clip(worst):
    with_it, without = (
        Ledger(TERMS, random=Random(1)).noisy_sum(THETA, np.array([3.0, nll]))
        for nll in (worst, 0.0)
    )
    assert with_it - without == pytest.approx(TERMS.clip)


def test_the_budget_survives_a_restart(tmp_path):
    path = tmp_path / "ledger.json"
    nll = np.ones(5)
    answers = [Ledger(TERMS, path).noisy_sum((float(n), 0.0), nll) for n in range(3)]
    again = Ledger(TERMS, path)
    assert again.noisy_sum((1.0, 0.0), nll) == answers[1]
    with pytest.raises(SiteError, match="all 3 evaluations"):
        again.noisy_sum((9.0, 0.0), nll)
    with pytest.raises(InvalidInputError, match="was begun with"):
        Ledger(PrivacyTerms(9.0, 1e-5, 20.0, 3), path)
    path.write_text(json.dumps({"terms": 1}))
    with pytest.raises((StorageError, InvalidInputError)):
        Ledger(TERMS, path)


def test_an_answer_that_cannot_be_kept_is_not_given(tmp_path):
    ledger = Ledger(TERMS, tmp_path / "file" / "ledger.json")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError):
        ledger.noisy_sum(THETA, np.ones(2))
    assert not ledger.answers


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": 0.0}, "epsilon is 0"),
        ({"clip": math.inf}, "clip is inf"),
        ({"delta": 1.0}, "delta is 1"),
        ({"evaluations": 0}, "evaluations is 0"),
    ],
)
def test_terms_without_a_bound_are_refused(change, message):
    given = {"epsilon": 1.0, "delta": 1e-5, "clip": 5.0, "evaluations": 2, **change}
    with pytest.raises(InvalidInputError, match=message):
        PrivacyTerms(**given)


def test_private_sites_answer_sums_alone(known, parts):
    sites = [
        LocalSite(one, name, Ledger(TERMS, random=Random(2)))
        for one, name in zip(parts, "ab", strict=True)
    ]
    private = FederatedProblem(known, sites)
    assert private.is_private
    evaluation = private.evaluate(THETA)
    assert evaluation.gradient is None
    assert evaluation.nll_se == pytest.approx(math.sqrt(2.0) * TERMS.sigma / 7)
    with pytest.raises(SiteError, match="no bound"):
        boirl.explore(private, 2)
    with pytest.raises(SiteError, match="no bound"):
        private.behaviour_distances([private.policy(THETA)])
    assert len(boirl.explore(private, 2, kernel="rbf", seed=5202)) == 2


def test_a_delta_that_gives_a_trajectory_away_is_refused(parts):
    with pytest.raises(InvalidInputError, match="less than one in their number"):
        LocalSite(parts[0], ledger=Ledger(PrivacyTerms(1.0, 0.5, 5.0, 2)))
