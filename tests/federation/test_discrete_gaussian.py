"""Whole numbers from a discrete Gaussian."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from boirl.federation.discrete_gaussian import discrete_gaussian


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(9)])
def test_shares_are_those_of_the_distribution(variance):
    random = Random(0)
    drawn = np.array([discrete_gaussian(variance, random) for _ in range(4000)])
    numbers = np.arange(-30, 31)
    expected = np.exp(-(numbers**2) / (2.0 * float(variance)))
    expected /= expected.sum()
    found = np.array([(drawn == number).mean() for number in numbers])
    assert np.abs(found - expected).max() < 4.0 * np.sqrt(0.25 / len(drawn))
    assert drawn.var() == pytest.approx((numbers**2 * expected).sum(), rel=0.1)


def test_one_seed_gives_one_number():
    assert discrete_gaussian(Fraction(100), Random(3)) == discrete_gaussian(
        Fraction(100), Random(3)
    )
