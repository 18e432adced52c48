"""All checks on searches that are known to be good, or bad."""

from dataclasses import replace

import numpy as np
import pytest

import boirl
from boirl.results.health import (
    check_failures,
    check_noise,
    check_projection,
    check_unsearched,
    known_well,
    mark_unsearched,
)
from boirl.results.inference import summarise_parameters


def test_a_good_search_needs_no_attention(found):
    health = found.health()
    assert health.is_good, str(health)
    assert {one.name for one in health} >= {
        "search ended too early",
        "edge of the box",
        "region unsearched",
        "predictions",
        "projection blind",
        "rewards tied",
    }
    assert health.named("failed evaluations") is None
    assert health.named("noise") is None


def test_a_short_search_in_many_dimensions_needs_attention():
    few = boirl.explore(boirl.load_problem("terrain"), evaluations=8, seed=1000)
    health = few.health()
    assert not health.is_good
    assert health.named("search ended too early").needs_attention


def test_health_is_computed_once_and_needs_no_solver(found, monkeypatch):
    again = replace(found)
    monkeypatch.setattr(type(found.problem), "nll_batch", None)
    monkeypatch.setattr(type(found.problem), "evaluate", None)
    health = again.health()
    assert health is again.health()
    assert str(health) == str(found.health())


def test_what_was_not_searched_is_told_by_the_standard_deviation(found):
    short = found.truncate(2)
    samples = short.sample(200, possible=True)
    finding = check_unsearched(short, samples)
    assert finding.needs_attention
    assert finding.data["share"] == pytest.approx(1.0 - known_well(short, samples).mean())
    sd = short.predict_nll(samples)[1]
    np.testing.assert_array_equal(
        known_well(short, samples), sd <= short.likelihood_ratio_tolerance()
    )


def test_free_is_told_from_not_searched_enough(found):
    late = {one.name: one.verdict for one in found.parameter_summary()}
    assert late["translation"] == "free", "nothing depends on it"
    early = {one.verdict for one in found.truncate(1).parameter_summary()}
    assert "not searched enough" in early
    assert "free" not in early


def test_a_parameter_that_unknown_samples_alone_widen_was_not_searched(found, monkeypatch):
    box = found.problem.box
    samples = box.from_unit(np.random.default_rng(0).random((1000, 3)))
    samples[:700, 0] = 1.5
    known = np.arange(1000) < 700
    monkeypatch.setattr("boirl.results.health.known_well", lambda search, thetas: known)
    marked = mark_unsearched(found, samples, summarise_parameters(samples, box))
    assert [one.searched for one in marked] == [False, True, True]
    assert [one.verdict for one in marked] == ["not searched enough", "free", "free"]


def test_a_blind_projection_needs_attention_where_the_answer_is_doubtful(found, monkeypatch):
    sharp = check_projection(found, True)
    assert not sharp.needs_attention
    assert sharp.data["share"] < 0.5
    projection = found.surrogate.projection
    monkeypatch.setattr(projection, "project_many", lambda theta: 1e-6 * theta - 1e-4)
    blind = check_projection(found, True)
    assert blind.needs_attention
    assert blind.data["share"] == 1.0
    assert "rollouts='solved'" in blind.message
    assert not check_projection(found, False).needs_attention


def test_kernels_on_theta_have_no_projection(gridworld):
    plain = boirl.explore(gridworld, evaluations=4, seed=1000, kernel="rbf")
    assert check_projection(plain, True) is None


def test_noise_is_compared_with_what_nlls_differ_by(found, made_up):
    spread = float(found.nll.std())
    clear = check_noise(made_up(found.nll, nll_se=np.full(25, 0.05 * spread)))
    assert not clear.needs_attention
    rng = np.random.default_rng(0)
    nothing = made_up(30.0 + rng.standard_normal(25), nll_se=np.full(25, 1.2))
    drowned = check_noise(nothing)
    assert drowned.needs_attention
    assert drowned.name == "noise above signal"
    assert "repeats" in drowned.message
    assert check_noise(made_up(found.nll)) is None


def test_failures_matter_where_the_posterior_reaches_them(found, made_up):
    box = found.problem.box
    low = box.to_unit(found.thetas)[:, 0] < 0.4
    failed = made_up(np.where(low, np.nan, found.nll))
    far = np.tile(found.best, (50, 1))
    assert found.best[0] > 0
    finding = check_failures(failed, far)
    assert not finding.needs_attention
    assert finding.data["count"] == low.sum()
    assert "mostly at low steepness" in finding.message
    near = np.tile(found.thetas[np.flatnonzero(low)[0]], (50, 1))
    finding = check_failures(failed, near)
    assert finding.needs_attention
    assert "narrow the bounds of steepness" in finding.message
