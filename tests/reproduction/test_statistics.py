"""Intervals and paired tests."""

import numpy as np
import pytest

from boirl.reproduction.statistics import bootstrap_mean, paired, share_interval


def test_the_bootstrap_interval_holds_the_mean_and_shrinks_with_trials():
    values = np.random.default_rng(5).exponential(size=200)
    few, many = bootstrap_mean(values[:20]), bootstrap_mean(values)
    assert few.low < values[:20].mean() < few.high
    assert many.high - many.low < few.high - few.low
    assert bootstrap_mean([2.0, 2.0]) == (2.0, 2.0)


def test_shares_of_few_trials_are_uncertain():
    low, high = share_interval(10, 10)
    assert 0.6 < low < 0.8
    assert high == pytest.approx(1.0)


def test_never_is_later_than_any_number_and_ties_say_nothing():
    one = {0: 1, 1: 2, 2: None, 3: 5, 4: None}
    other = {0: 3, 1: None, 2: 7, 3: 5, 4: None, 9: 1}
    found = paired(one, other)
    assert (found.first, found.second) == (2, 1)
    assert found.p == 1.0


def test_a_clear_difference_is_significant():
    trials = range(12)
    found = paired(dict.fromkeys(trials, 1), dict.fromkeys(trials, 9))
    assert found.p == pytest.approx(2 * 0.5**12)
    assert paired({}, {}).p == 1.0
