"""How closely evaluations far worse than the best have to be explained."""

import numpy as np
import pytest

from boirl.surrogate.doubt import MATTERING_NATS, Doubt


def test_what_matters_is_so_many_nats_per_parameter():
    doubt = Doubt.of(np.array([7.0, 3.0, 90.0]), n_demonstrations=50, dimension=3)
    assert doubt.best == 3.0
    assert doubt.matters * 50 == pytest.approx(3 * MATTERING_NATS)


def test_nothing_that_matters_is_doubted_and_doubt_grows_without_a_jump():
    doubt = Doubt(3.0, 2.0)
    nll = np.array([3.0, 4.0, 5.0, 5.0 + 1e-9, 7.0, 203.0])
    np.testing.assert_allclose(doubt.beyond(nll), [0.0, 0.0, 0.0, 0.0, 0.5, 0.99], atol=1e-9)
    np.testing.assert_allclose(doubt.nll(nll), [0.0, 0.0, 0.0, 0.0, 2.0, 198.0], atol=1e-8)


def test_predictions_below_the_best_are_not_doubted():
    np.testing.assert_array_equal(Doubt(3.0, 2.0).nll(np.array([-5.0, 2.9])), 0.0)
