"""How much worse an NLL may be and still not be rejected."""

import numpy as np
import pytest

from boirl.tolerance import likelihood_ratio_tolerance


def test_it_is_rejected_as_often_as_it_says():
    """The NLL of the true mean of normal numbers above that of their own mean."""
    drawn = np.random.default_rng(0).standard_normal((2000, 30, 2))
    above = 0.5 * np.square(drawn.mean(axis=1)).sum(axis=1)
    for confidence in (0.5, 0.95):
        tolerance = likelihood_ratio_tolerance(30, 2, confidence)
        assert (above <= tolerance).mean() == pytest.approx(confidence, abs=0.03)
