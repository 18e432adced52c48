"""A federation is the problem of all demonstrations, and knows none of them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import boirl
from boirl.errors import InvalidInputError
from boirl.federation import FederatedProblem, LocalSite
from boirl.federation.questions import SiteSums
from boirl.search import SearchSettings

from .conftest import SIZES

SEED = 5002
THETAS = np.array([[0.3, -1.2], [-2.0, 2.0], [1.5, 0.7]])


def test_sums_add_up_to_the_evaluation_of_all_demonstrations(whole, federation):
    for theta in THETAS:
        pooled, shared = whole.evaluate(theta), federation.evaluate(theta)
        assert shared.nll == pytest.approx(pooled.nll, abs=1e-9)
        assert shared.gradient == pytest.approx(pooled.gradient, abs=1e-8)
        assert shared.log_likelihoods is None


def test_nothing_depends_on_where_demonstrations_are(whole):
    splits = [FederatedProblem.split(whole, sizes) for sizes in ((7,), (3, 4), (1, 5, 1))]
    for theta in THETAS:
        one, *others = (split.evaluate(theta) for split in splits)
        for other in others:
            assert other.nll == one.nll
            assert (other.gradient == one.gradient).all()


def test_a_search_goes_where_it_goes_with_one_site(whole):
    found = [
        boirl.explore(FederatedProblem.split(whole, sizes), 5, seed=SEED)
        for sizes in ((sum(SIZES),), SIZES)
    ]
    assert (found[0].thetas == found[1].thetas).all()
    assert (found[0].nll == found[1].nll).all()


def test_the_projection_is_that_of_all_demonstrations(whole, federation):
    settings = SearchSettings(seed=SEED, n_demonstrations=5, n_rollouts=3)
    pooled, shared = (settings.build_surrogate(one).projection for one in (whole, federation))
    at = torch.tensor(THETAS, requires_grad=True)
    values = [one.project(at) for one in (pooled, shared)]
    assert torch.allclose(values[0], values[1], rtol=0.0, atol=1e-9)
    weights = torch.linspace(-1.0, 1.0, 15, dtype=torch.float64).reshape(3, 5)
    slopes = [torch.autograd.grad((weights * value).sum(), at)[0] for value in values]
    assert torch.allclose(slopes[0], slopes[1], rtol=0.0, atol=1e-9)


def test_behaviour_is_compared_along_all_demonstrations(whole, federation):
    pooled = whole.behaviour_distances([whole.policy(theta) for theta in THETAS])
    shared = federation.behaviour_distances([federation.policy(theta) for theta in THETAS])
    assert shared == pytest.approx(pooled, abs=1e-12)
    with pytest.raises(InvalidInputError, match="of no theta"):
        federation.behaviour_distances([whole.policy(THETAS[0])])


def test_demonstrations_can_be_counted_and_nothing_else(federation, tmp_path):
    shown = federation.demonstrations
    assert len(shown) == sum(SIZES)
    assert "site-0" in repr(shown)
    for name in ("states", "actions", "lengths", "starts"):
        with pytest.raises(InvalidInputError, match="stay at their sites"):
            getattr(shown, name)
    with pytest.raises(InvalidInputError, match="stay at their sites"):
        boirl.explore(federation, 2, seed=SEED).save(tmp_path / "found.npz")
    with pytest.raises(InvalidInputError, match="stay at their sites"):
        federation.most_different(*[federation.policy(theta) for theta in THETAS[:2]], 3)


def test_an_answer_is_printed_without_places(federation, monkeypatch):
    found = boirl.explore(federation, 4, seed=1000, kernel="rbf", acquisition="random")
    groups = [group for group in found.groups() for _ in range(2)]
    monkeypatch.setattr("boirl.results.report.shown_groups", lambda *given: (groups, "shown"))
    assert "distinct behaviours shown" in str(found)
    assert "differs from 1" not in str(found)


def test_other_problems_are_refused(whole, known, parts):
    other = replace(parts[1], solver=boirl.TabularSolver("max"))
    with pytest.raises(InvalidInputError, match="'b' has another problem"):
        FederatedProblem(known, [LocalSite(parts[0], "a"), LocalSite(other, "b")])
    with pytest.raises(InvalidInputError, match="different names"):
        FederatedProblem(known, [LocalSite(one) for one in parts])
    with pytest.raises(InvalidInputError, match="at least one"):
        FederatedProblem(known, [])
    with pytest.raises(InvalidInputError, match="sum to the 7"):
        FederatedProblem.split(whole, [3, 3])


def test_a_study_refuses_other_demonstrations(whole, known, parts, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    sites = [LocalSite(one, name) for one, name in zip(parts, "ab", strict=True)]
    options = {"storage": storage, "seed": SEED, "kernel": "rbf"}
    boirl.explore(FederatedProblem(known, sites), 2, **options)
    fewer = LocalSite(parts[1].with_demonstrations(parts[1].demonstrations.subset([0])), "b")
    with pytest.raises(InvalidInputError, match="other problem"):
        boirl.explore(FederatedProblem(known, [sites[0], fewer]), 3, **options)


def test_a_theta_without_a_policy_fails_with_the_name_of_the_site(known, parts):
    class Failing(LocalSite):
        def sums(self, theta):
            return SiteSums(float("nan"), failure="the values do not converge")

    failing = FederatedProblem(known, [LocalSite(parts[0], "a"), Failing(parts[1], "b")])
    assert failing.evaluate(THETAS[0]).failure == "site 'b': the values do not converge"


def test_public_demonstrations_serve_the_projection_alone(whole, parts):
    sites = [LocalSite(parts[0], "a")]
    shared = FederatedProblem(parts[1], sites)
    assert shared.evaluate(THETAS[0]).nll == pytest.approx(parts[0].nll(THETAS[0]), abs=1e-9)
    settings = SearchSettings(seed=SEED)
    own, public = (settings.build_surrogate(one).projection for one in (shared, parts[1]))
    assert own.fingerprint() == public.fingerprint()


def test_other_projections_and_given_policies_are_refused(whole, federation):
    with pytest.raises(InvalidInputError, match="'canonical'"):
        boirl.explore(federation, 2, projection="canonical")
    with pytest.raises(InvalidInputError, match="rollout_policies"):
        boirl.explore(federation, 2, rollout_policies=[whole.policy(THETAS[0])])
