"""Taxi: its own reward, features for policies, and drivers."""

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="Taxi needs the extra boirl[rl]")

from boirl.experiments.taxi import (
    STEPS,
    TRUTH,
    TaxiCRIRL,
    driver,
    taxi_dynamics,
    taxi_features,
    taxi_problem,
)


def test_every_step_is_paid_by_one_amount():
    mdp, paid = taxi_dynamics()
    assert paid.shape == (mdp.n_states, 6, len(TRUTH))
    going = ~mdp.is_terminal[:500]
    np.testing.assert_array_equal(paid[:500][going].sum(axis=2), 1.0)


def test_features_say_where_to_go():
    features = taxi_features(500)
    assert features.shape == (500, 40)
    # In the upper left corner, with the passenger waiting in the lower right one: down and right.
    state = (0 * 5 + 0) * 20 + 3 * 4 + 1
    down, up, right, left, waiting, aboard = features[state, 33:39]
    assert (down, up, right, left, waiting, aboard) == (1.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    here = (4 * 5 + 3) * 20 + 3 * 4 + 1
    assert features[here, 33:39].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]


def test_the_careful_driver_delivers_and_the_noisy_one_errs():
    problem = taxi_problem(0.0, 30, np.random.default_rng(0))
    assert (problem.demonstrations.lengths < 25).all()
    careful, noisy = (problem.true_return(driver(noise)) for noise in (0.0, 0.1))
    assert careful > noisy
    chances = driver(0.1).probabilities[~problem.mdp.is_terminal]
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert chances.min() == pytest.approx(0.1 / 6.0)


def test_trips_end_within_an_episode():
    problem = taxi_problem(0.1, 20, np.random.default_rng(1))
    assert problem.demonstrations.lengths.max() <= STEPS
    assert TaxiCRIRL().policy_features(problem).shape == (problem.mdp.n_states, 40)
