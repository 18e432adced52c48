"""Telling stories apart: information is what simulations find, and refitting can only lower it."""

import numpy as np
import pytest

from boirl.domains.bus_engines.problem import MYOPIC, bus_engine_problem
from boirl.domains.bus_engines.stories import (
    EVIDENCE,
    Story,
    divergence,
    largest_difference,
    refit,
    tell_apart,
)


@pytest.fixture(scope="module")
def far(problem):
    return Story(problem, np.array([2.3, 10.0]))


@pytest.fixture(scope="module")
def myopic(records):
    return Story(bus_engine_problem(records, MYOPIC, 200.0), np.array([72.0, 7.7]))


def test_a_story_does_not_differ_from_itself(far):
    apart = tell_apart(far, far)
    np.testing.assert_allclose(apart.by_bin, 0.0, atol=1e-15)
    assert apart.months_needed > 1e10


def test_divergence_is_that_of_two_coins():
    assert divergence(0.5, 0.25) == pytest.approx(0.5 * np.log(2.0) + 0.5 * np.log(2.0 / 3.0))
    np.testing.assert_allclose(divergence([0.0, 1.0], [0.5, 0.5]), np.log(2.0))


def test_the_long_run_stays_as_it_is(far):
    chain = far.problem.mdp.chain(far.policy.probabilities)
    assert far.long_run.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(chain.T @ far.long_run, far.long_run, atol=1e-12)


def test_information_is_the_log_likelihood_ratio_of_simulated_months(far, myopic):
    rng = np.random.default_rng(1000)
    starts = rng.choice(90, size=2000, p=far.long_run)
    shown = far.problem.roll_out(far.policy, starts, 60, rng)
    one, other = (
        np.log(story.policy.probabilities[shown.states, shown.actions]) for story in (far, myopic)
    )
    ratio = one - other
    error = ratio.std() / np.sqrt(len(ratio))
    # Months of a bus go together, which the error does not know of.
    assert abs(ratio.mean() - tell_apart(far, myopic).per_month) < 6.0 * error


def test_refitting_makes_a_rival_harder_to_refute(far, myopic):
    refitted = refit(far, myopic)
    before, after = tell_apart(far, myopic), tell_apart(far, refitted)
    assert 0.0 < after.per_month < before.per_month
    assert after.months_needed == pytest.approx(EVIDENCE / after.per_month)
    assert after.months_needed_in_best_bin <= after.months_needed
    for step in ([0.5, 0.0], [-0.5, 0.0], [0.0, 0.05], [0.0, -0.05]):
        moved = Story(myopic.problem, refitted.theta + step)
        assert tell_apart(far, moved).per_month >= after.per_month


def test_a_story_can_be_refitted_to_itself(far):
    moved = Story(far.problem, far.theta * 1.1)
    np.testing.assert_allclose(refit(far, moved).theta, far.theta, rtol=1e-3)


def test_cheaper_engines_are_replaced_more_often(far, myopic):
    for story in (far, myopic):
        assert story.with_price(0.5).replacements_per_year > story.replacements_per_year
        assert story.with_price(1.0).replacements_per_year == story.replacements_per_year


def test_the_largest_difference_is_in_a_bin(far, myopic):
    gap = np.abs(far.replacement_probabilities - myopic.replacement_probabilities)
    assert gap[largest_difference(far, myopic)] == gap.max()
