"""A site in this process."""

import numpy as np
import pytest

from boirl.federation import LocalSite


def test_its_sums_are_those_of_its_demonstrations(parts):
    theta = (0.4, -0.3)
    sums = LocalSite(parts[0], "near").sums(theta)
    nll, gradient = parts[0].nll_and_gradient(theta)
    count = len(parts[0].demonstrations)
    assert sums.nll == pytest.approx(count * nll)
    np.testing.assert_allclose(sums.gradient, count * gradient)


def test_sites_add_up(whole, parts):
    theta = (1.0, 0.5)
    total = sum(LocalSite(one, "any").sums(theta).nll for one in parts)
    assert total == pytest.approx(len(whole.demonstrations) * whole.nll(theta))


def test_others_may_know_how_many_demonstrations_it_has(parts):
    facts = LocalSite(parts[1], "far").facts()
    assert (facts.name, facts.n_demonstrations) == ("far", len(parts[1].demonstrations))
    assert facts.identity != LocalSite(parts[0], "far").facts().identity
