"""Made-up buses are those of their manager."""

import numpy as np

import boirl
from boirl.domains.bus_engines.made_up import INCREMENTS, TRUTH, make_up_buses
from boirl.domains.bus_engines.problem import bus_engine_problem


def test_the_manager_is_found_again():
    records = make_up_buses(n_buses=200, n_months=100, seed=1000)
    np.testing.assert_allclose(records.increments, INCREMENTS, atol=0.02)
    estimate = boirl.maximum_likelihood(bus_engine_problem(records))
    z = (estimate.theta - TRUTH) / estimate.standard_errors
    assert (np.abs(z) < 3.0).all()


def test_the_same_seed_gives_the_same_buses():
    one, same, other = (make_up_buses(5, 30, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.bins, same.bins)
    assert (one.bins != other.bins).any()
    assert len(one.demonstrations()) == 5
