"""The mixture of policies with the least regret."""

import numpy as np
import pytest

from boirl.decisions.regret import _program, minimise_regret
from boirl.decisions.returns import TabularReturns

BEST = np.array([10.0, 10.0])


def test_the_worst_case_of_two_opposites_is_half_and_half():
    shares, duals = _program(BEST, np.array([[10.0, 0.0], [0.0, 10.0]]), np.ones(2) / 2, 1.0)
    np.testing.assert_allclose(shares, 0.5)
    np.testing.assert_allclose(duals, 0.5)


def test_something_safe_is_preferred_where_it_is_better():
    earned = np.array([[10.0, 0.0], [0.0, 10.0], [6.0, 6.0]])
    shares, _ = _program(BEST, earned, np.ones(2) / 2, 1.0)
    np.testing.assert_allclose(shares, [0.0, 0.0, 1.0], atol=1e-9)


def test_the_level_goes_from_the_mean_to_the_worst():
    earned = np.array([[10.0, 0.0], [4.0, 4.0]])
    weights = np.array([0.9, 0.1])
    regrets = [
        BEST - _program(BEST, earned, weights, level)[0] @ earned for level in (0.0, 0.5, 0.95, 1.0)
    ]
    means = [float(weights @ one) for one in regrets]
    worst = [float(one.max()) for one in regrets]
    assert means == sorted(means)
    assert worst == sorted(worst, reverse=True)
    assert means[0] == pytest.approx(1.0)
    assert worst[-1] == pytest.approx(6.0)


def test_no_policy_does_better_in_the_worst_case(junction, two):
    returns = TabularReturns(two, junction.mdp.start)
    pool, shares = minimise_regret(returns, 1.0)
    worst = (returns.best - shares @ [returns.of(one) for one in pool]).max()
    rng = np.random.default_rng(0)
    for weights in rng.dirichlet(np.ones(2), 20):
        other = returns.best - returns.of(returns.best_response(weights))
        assert worst <= other.max() + 1e-6
