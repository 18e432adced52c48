"""Likelihood-ratio tests: the formula, the distribution under the smaller family, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2, kstest

import boirl
from boirl.errors import InvalidInputError
from boirl.estimation import LikelihoodRatioTest
from boirl.rewards import LinearReward


@pytest.fixture(scope="module")
def problem(request):
    return request.getfixturevalue("random_problem")(5, "logsumexp", count=60)


@pytest.fixture(scope="module")
def larger(problem):
    return boirl.maximum_likelihood(problem)


def smaller_than(problem, **held):
    return boirl.maximum_likelihood(replace(problem, reward=problem.reward.fix(**held)))


def test_it_is_twice_the_difference_of_log_likelihoods(problem, larger):
    smaller = smaller_than(problem, second=0.0)
    test = larger.likelihood_ratio_test(smaller)
    statistic, freedom, p_value = test
    assert statistic == pytest.approx(2.0 * (larger.log_likelihood - smaller.log_likelihood))
    assert freedom == 1
    assert p_value == pytest.approx(chi2.sf(statistic, 1))
    assert str(test) == f"chi-squared(1) = {statistic:.4f}, p = {p_value:.4g}"


def test_the_profile_interval_ends_where_the_test_rejects(random_problem):
    problem = random_problem(21, "logsumexp", count=600)
    larger = boirl.maximum_likelihood(problem)
    interval = larger.profile_interval("first")
    assert not interval.open_low
    assert not interval.open_high
    for end in (interval.low, interval.high):
        test = larger.likelihood_ratio_test(smaller_than(problem, first=end))
        assert test.p_value == pytest.approx(0.05, abs=2e-4)


@pytest.mark.parametrize(
    ("n_sets", "n_shown"), [(60, 60), pytest.param(300, 200, marks=pytest.mark.long)]
)
def test_p_values_are_uniform_where_the_smaller_family_is_right(random_problem, n_sets, n_shown):
    base = random_problem(21, "logsumexp")
    truth = np.array([0.8, 0.0])
    p_values, covered = [], []
    for seed in range(n_sets):
        shown = base.with_demonstrations(base.demonstrate(truth, n_shown, seed, horizon=10))
        larger = boirl.maximum_likelihood(shown, starts=1)
        held = replace(shown, reward=shown.reward.fix(second=0.0))
        smaller = boirl.maximum_likelihood(held, starts=1)
        p_values.append(larger.likelihood_ratio_test(smaller).p_value)
        covered.append(np.abs(larger.theta - truth) < 1.96 * larger.standard_errors)
    assert kstest(p_values, "uniform").pvalue > 0.01
    # Four standard deviations of a share of 95 %.
    assert (np.abs(np.mean(covered, axis=0) - 0.95) < 4.0 * (0.95 * 0.05 / n_sets) ** 0.5).all()


def test_a_family_that_does_not_suffice_is_rejected(random_problem):
    base = random_problem(21, "logsumexp")
    shown = base.with_demonstrations(base.demonstrate([0.8, 1.5], 200, 0, horizon=10))
    larger = boirl.maximum_likelihood(shown)
    assert larger.likelihood_ratio_test(smaller_than(shown, second=0.0)).p_value < 1e-4


def test_parameters_that_change_nothing_do_not_count(random_problem):
    features = np.random.default_rng(0).uniform(-1.0, 1.0, (4, 3))
    features[:, 1] = 1.0
    names = dict.fromkeys(("slope", "constant", "further"), (-2.0, 2.0))
    problem = random_problem(5, "logsumexp", reward=LinearReward(features, names), count=60)
    larger = boirl.maximum_likelihood(problem)
    assert larger.n_determined == 2
    slope_alone = smaller_than(problem, constant=0.0, further=0.0)
    assert larger.likelihood_ratio_test(slope_alone).degrees_of_freedom == 1
    with pytest.raises(InvalidInputError, match=r"determine 2 directions .* nothing to test"):
        larger.likelihood_ratio_test(smaller_than(problem, constant=0.0))


def test_nothing_gained_is_a_p_value_of_one(larger, problem):
    best = larger.theta[1]
    test = larger.likelihood_ratio_test(smaller_than(problem, second=float(best)))
    assert test.statistic == pytest.approx(0.0, abs=1e-6)
    assert test.p_value == pytest.approx(1.0, abs=1e-3)
    assert isinstance(test, LikelihoodRatioTest)


def test_what_is_not_nested_is_refused(problem, larger, random_problem):
    smaller = smaller_than(problem, second=0.0)
    fewer = problem.with_demonstrations(problem.demonstrations.subset(range(50)))
    others = LinearReward(np.eye(4)[:, :1], {"other": (-2.0, 2.0)})
    refused = {
        "from different demonstrations .*60 traj.*50 traj": smaller_than(fewer, second=0.0),
        "discounts are 0.9 and 0.5": smaller_than(problem.with_gamma(0.5), second=0.0),
        "does not contain the one with other": boirl.maximum_likelihood(
            replace(problem, reward=others)
        ),
    }
    for message, estimate in refused.items():
        with pytest.raises(InvalidInputError, match=message):
            larger.likelihood_ratio_test(estimate)
    with pytest.raises(InvalidInputError, match="larger family has 1 parameters and the smaller"):
        smaller.likelihood_ratio_test(larger)
    with pytest.raises(InvalidInputError, match="larger family has 2 parameters and the smaller"):
        larger.likelihood_ratio_test(larger)
    with pytest.raises(InvalidInputError, match="the smaller fit is a float; expected what"):
        larger.likelihood_ratio_test(3.0)


def test_a_larger_family_that_explains_less_is_refused(problem, larger):
    smaller = smaller_than(problem, second=0.0)
    missed = replace(larger, nll=smaller.nll + 0.1)
    with pytest.raises(InvalidInputError, match=r"expected no less: .* more starts"):
        missed.likelihood_ratio_test(smaller)
