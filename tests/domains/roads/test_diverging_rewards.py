"""Rewards for which the sum over routes diverges."""

import numpy as np
import pytest

from boirl.domains.roads.recursive_logit import recursive_logit_problem
from boirl.search import explore


@pytest.mark.parametrize("at_destination", ["pass", "absorb"])
def test_what_is_ruled_out_diverges(roads, at_destination):
    problem = recursive_logit_problem(*roads, at_destination=at_destination)
    rng = np.random.default_rng(0)
    thetas = problem.box.from_unit(rng.random((60, 4)))
    ruled_out = np.zeros(60, dtype=bool)
    for theta in problem.box.from_unit(rng.random((10, 4))):
        half = problem.ruled_out_by(theta)
        ruled_out |= thetas @ half.normal >= half.offset
    fails = np.isnan(problem.nll_batch(thetas))
    assert not (ruled_out & ~fails).any()
    assert ruled_out.sum() > 0.7 * fails.sum(), "ten tangents are most of the border"


def test_a_search_proposes_nothing_that_is_ruled_out(logit_problem):
    found = explore(logit_problem, evaluations=8, seed=1)
    for number in range(2, 8):
        for earlier in found.thetas[:number]:
            half = logit_problem.ruled_out_by(earlier)
            assert found.thetas[number] @ half.normal < half.offset
