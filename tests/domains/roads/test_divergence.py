"""Where the sum over routes diverges."""

import numpy as np
import pytest
import scipy.sparse as sp

from boirl.domains.roads.divergence import Growth, growth_to_destinations


@pytest.fixture(scope="module")
def weights():
    rng = np.random.default_rng(0)
    return sp.csr_array(rng.random((12, 12)) * (rng.random((12, 12)) < 0.4))


def test_it_is_the_largest_eigenvalue(weights):
    found = Growth.of(weights)
    assert found.eigenvalue == pytest.approx(np.linalg.eigvals(weights.toarray()).real.max())
    np.testing.assert_allclose(weights @ found.right, found.eigenvalue * found.right)
    np.testing.assert_allclose(weights.T @ found.left, found.eigenvalue * found.left)


def test_without_a_circle_nothing_grows():
    assert Growth.of(sp.csr_array(np.triu(np.ones((6, 6)), 1))) is None


def test_an_end_slows_the_growth_down(weights):
    leads_to = sp.csc_array(np.eye(12)[:, [3, 7]])
    found = growth_to_destinations(weights, leads_to)
    ends = []
    for link in (3, 7):
        without = weights.toarray()
        without[link] = 0.0
        ends.append(np.linalg.eigvals(without).real.max())
    assert min(abs(found.eigenvalue - end) for end in ends) < 1e-10
    assert found.eigenvalue < Growth.of(weights).eigenvalue


def test_its_slope_is_that_of_differences(logit_problem):
    choice = logit_problem.choice
    utilities = logit_problem.utilities(logit_problem.box.from_unit(np.full(4, 0.5)))
    _, slope = choice.log_growth(utilities)
    direction = np.random.default_rng(0).standard_normal(len(utilities))
    above, below = (choice.log_growth(utilities + step * direction)[0] for step in (1e-4, -1e-4))
    assert slope @ direction == pytest.approx((above - below) / 2e-4, rel=1e-4)
