"""Whole numbers from a discrete Gaussian, exactly.

Noise for privacy that is computed in floating point gives itself away by its last digits (Mironov,
2012). The sampler of Canonne, Kamath and Steinke (*The Discrete Gaussian for Differential Privacy*,
2020, algorithms 1 to 3) takes random whole numbers and rational arithmetic alone.
"""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random


def discrete_gaussian(variance: Fraction, random: Random) -> int:
    """A whole number `x` with probability proportional to `exp(-x^2 / (2 variance))`.

    Args:
        variance: Above 0.
        random: Where the noise comes from: `random.SystemRandom()` where it is to protect anything.
    """
    scale = math.isqrt(int(variance)) + 1
    while True:
        drawn = _discrete_laplace(scale, random)
        excess = (abs(drawn) - variance / scale) ** 2 / (2 * variance)
        if _bernoulli_exp(excess, random):
            return drawn


def _discrete_laplace(scale: int, random: Random) -> int:
    """A whole number `x` with probability proportional to `exp(-|x| / scale)`."""
    while True:
        rest = random.randrange(scale)
        if not _bernoulli_exp(Fraction(rest, scale), random):
            continue
        whole = 0
        while _bernoulli_exp(Fraction(1), random):
            whole += 1
        size, negative = rest + scale * whole, random.randrange(2) == 1
        if size or not negative:
            return -size if negative else size


def _bernoulli_exp(x: Fraction, random: Random) -> bool:
    """True with probability `exp(-x)`, for `x` of 0 or more."""
    while x > 1:
        if not _bernoulli_exp(Fraction(1), random):
            return False
        x -= 1
    tries = 1
    while _bernoulli(x / tries, random):
        tries += 1
    return tries % 2 == 1


def _bernoulli(share: Fraction, random: Random) -> bool:
    return random.randrange(share.denominator) < share.numerator
