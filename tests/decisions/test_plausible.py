"""Rewards that count in the worst case."""

import numpy as np
import pytest

from boirl.decisions.ensemble import ensemble_of
from boirl.decisions.plausible import with_plausible
from boirl.tolerance import likelihood_ratio_tolerance


@pytest.fixture(scope="module")
def limit(junction):
    middles = (np.arange(30) + 0.5) / 3.0
    grid = np.stack(np.meshgrid(middles, middles), axis=-1).reshape(-1, 2)
    n = len(junction.demonstrations)
    return float(junction.nll_batch(grid).min()) + likelihood_ratio_tolerance(n, 2)


def test_those_that_join_have_no_weight(found):
    ensemble = ensemble_of(found, 8)
    more = with_plausible(found, ensemble, False, 8)
    assert len(more) > len(ensemble)
    np.testing.assert_allclose(more.weights[len(ensemble) :], 0.0)
    assert more.weights.sum() == pytest.approx(1.0)


def test_alone_none_is_rejected_by_its_exact_likelihood(found, limit):
    """The samples themselves are from all over the box, and some of them are rejected."""
    ensemble = ensemble_of(found, 8)
    alone = with_plausible(found, ensemble, True, 8)
    assert found.problem.nll_batch(alone.thetas).max() <= limit + 0.05
    assert alone.weights.sum() == pytest.approx(1.0)


def test_kept_policies_are_chosen_from_without_solving(found, monkeypatch):
    ensemble = ensemble_of(found, 0)
    monkeypatch.setattr("boirl.TabularSolver.solve_batch", None)
    alone = with_plausible(found, ensemble, True, 0)
    tolerance = found.likelihood_ratio_tolerance()
    expected = found.within(tolerance, absolute=True)
    assert {tuple(x) for x in alone.thetas.tolist()} == {tuple(x) for x in expected.tolist()}
