"""The exact set of rewards, and how a search is measured against it."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import boirl
from boirl.cache import CACHE_VARIABLE
from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.metrics.truth import (
    ExactLandscape,
    SetFit,
    behaviours_found,
    exact_landscape,
    existing_behaviours,
    set_fit,
)
from boirl.problem import TabularProblem


@pytest.fixture(scope="module")
def landscape(gridworld, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(tmp_path_factory.mktemp("cache")))
        return exact_landscape(gridworld, 512)


@pytest.fixture(scope="module")
def existing(gridworld, landscape):
    return existing_behaviours(gridworld, landscape)


def evaluated(problem, thetas, nll):
    """What a search would return that evaluated these; without a surrogate."""
    evaluations = tuple(
        Evaluation(tuple(theta), float(one)) for theta, one in zip(thetas, nll, strict=True)
    )
    return boirl.RewardSet(problem, evaluations, surrogate=None, settings={})


def test_the_landscape_holds_the_nll_of_every_theta(gridworld, landscape):
    np.testing.assert_array_equal(landscape.nll, gridworld.nll_batch(landscape.thetas))
    unit = gridworld.box.to_unit(landscape.thetas)
    # A Sobol sequence: each half of each range holds half of the thetas.
    assert (unit < 0.5).sum(axis=0).tolist() == [256] * 3


def test_nothing_beats_the_best_nll(gridworld, landscape):
    assert landscape.best_nll <= landscape.nll.min()
    assert landscape.best_nll <= gridworld.nll(gridworld.truth)
    elsewhere = gridworld.box.from_unit(np.random.default_rng(0).random((2000, 3)))
    assert landscape.best_nll <= gridworld.nll_batch(elsewhere).min()


def test_a_landscape_is_computed_once(random_problem, tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    problem = random_problem(0)
    first = exact_landscape(problem, 64)

    def refuse(self, thetas):
        raise AssertionError("computed")

    monkeypatch.setattr(TabularProblem, "nll_batch", refuse)
    again = exact_landscape(random_problem(0), 64)
    np.testing.assert_array_equal(again.thetas, first.thetas)
    np.testing.assert_array_equal(again.nll, first.nll)
    assert again.best_nll == first.best_nll
    for other, count in ((problem, 32), (random_problem(1), 64)):
        with pytest.raises(AssertionError, match="computed"):
            exact_landscape(other, count)


def test_the_set_is_what_lies_within_a_tolerance_of_the_best():
    nll = np.array([10.0, 10.9, 11.0, 11.1, np.nan])
    landscape = ExactLandscape(np.zeros((5, 1)), nll, best_nll=10.0)
    assert landscape.within(0.1).tolist() == [True, True, True, False, False]
    assert landscape.within(0.95, absolute=True).tolist() == [True, True, False, False, False]
    below_zero = ExactLandscape(np.zeros((3, 1)), np.array([-10.0, -9.2, -8.9]), best_nll=-10.0)
    assert below_zero.within(0.1).tolist() == [True, True, False]
    with pytest.raises(InvalidInputError, match="the tolerance is -1"):
        landscape.within(-1.0)


def predicts(mean, best_nll):
    """A search whose posterior has this mean at the thetas of a landscape."""
    return SimpleNamespace(
        predict_nll=lambda thetas: (np.array(mean), np.zeros(len(mean))), best_nll=best_nll
    )


def test_precision_and_recall_by_hand():
    nll = np.array([10.0, 10.5, 10.9, 10.95, 20.0, np.nan])
    landscape = ExactLandscape(np.zeros((6, 1)), nll, best_nll=10.0)
    # Of those in the set, the first two are predicted; so are one poor and one without policy.
    found = predicts([12.1, 11.0, 15.0, 14.0, 12.0, 13.0], best_nll=12.0)
    fit = set_fit(found, landscape, 0.1)
    assert (fit.precision, fit.recall) == (2 / 4, 2 / 4)
    # 12.5 and less are predicted; 10.5 and less are right.
    fit = set_fit(found, landscape, 0.5, absolute=True)
    assert (fit.precision, fit.recall) == (2 / 3, 1.0)
    assert fit.f1 == pytest.approx(0.8)


def test_a_perfect_prediction_has_f1_one_and_an_empty_one_zero(landscape):
    perfect = predicts(landscape.nll, landscape.best_nll)
    assert set_fit(perfect, landscape, 0.1) == SetFit(1.0, 1.0)
    empty = set_fit(predicts(landscape.nll + 100.0, landscape.best_nll), landscape, 0.1)
    assert empty == SetFit(0.0, 0.0)
    assert empty.f1 == 0.0


@pytest.fixture(scope="module")
def policies_of_the_set(gridworld, landscape):
    return [gridworld.policy(theta) for theta in landscape.thetas[landscape.within(0.1)]]


def test_every_reward_of_the_set_behaves_like_one_that_stands_for_a_group(
    gridworld, policies_of_the_set, existing
):
    distances = gridworld.behaviour_distances([*existing, *policies_of_the_set])
    to_nearest = distances[: len(existing), len(existing) :].min(axis=0)
    assert to_nearest.max() <= gridworld.same_behaviour


def test_rewards_that_behave_differently_are_not_counted_as_one(
    gridworld, policies_of_the_set, existing
):
    distances = gridworld.behaviour_distances(policies_of_the_set)
    apart: list[Any] = []
    for number in range(len(distances)):
        if (distances[number, apart] > gridworld.same_behaviour).all():
            apart.append(number)
    assert 2 <= len(apart) <= len(existing)


def test_the_wider_a_behaviour_the_fewer_there_are(gridworld, landscape, existing):
    counts = [
        len(existing_behaviours(gridworld, landscape, distance=distance))
        for distance in (0.02, 0.2, 1.0)
    ]
    assert counts[0] > len(existing) > counts[1] >= counts[2] == 1
    assert len(existing_behaviours(gridworld, landscape, tolerance=0.001)) < len(existing)


def test_who_evaluates_the_set_itself_finds_every_behaviour(gridworld, landscape, existing):
    members = landscape.within(0.1)
    found = evaluated(gridworld, landscape.thetas[members], landscape.nll[members])
    assert behaviours_found(found, existing) == len(existing)


def test_one_reward_shows_the_behaviours_next_to_its_own(gridworld, landscape, existing):
    best = landscape.nll.argmin()
    found = evaluated(gridworld, landscape.thetas[[best]], landscape.nll[[best]])
    policy = gridworld.policy(landscape.thetas[best])
    alike = gridworld.behaviour_distances([policy, *existing])[0, 1:] <= gridworld.same_behaviour
    assert behaviours_found(found, existing) == alike.sum()
    assert 1 <= alike.sum() < len(existing)
    assert behaviours_found(found, existing, distance=1.0) == len(existing)


def test_a_reward_outside_the_tolerance_shows_nothing(gridworld, landscape, existing):
    members = np.flatnonzero(landscape.within(0.1))
    best = landscape.nll.argmin()
    others = members[members != best]
    alone = evaluated(gridworld, landscape.thetas[[best]], landscape.nll[[best]])
    order = [best, *others]
    poor = np.concatenate([landscape.nll[[best]], np.full(len(others), 100.0)])
    found = evaluated(gridworld, landscape.thetas[order], poor)
    assert behaviours_found(found, existing) == behaviours_found(alone, existing)
    assert behaviours_found(found, existing, tolerance=10.0) == len(existing)
