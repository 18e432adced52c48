"""Which theta to evaluate next, given that there is another evaluation after it.

`two-step` is expected improvement with a look ahead: a theta is worth what it is expected to
improve, plus the highest expected improvement that is left once its NLL is known. The second part
is averaged over what the NLL may turn out to be,

    E[(best - y)+] + E_y[max over theta' of EI(theta' | y)],

on the same surrogate: mean and covariance of the NLL at some thetas are those of a normal
distribution, so that knowing one changes the others in closed form. Hyperparameters stay as they
are, and a gradient that would come with the evaluation is not counted.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.special import ndtr
from scipy.stats import qmc

from boirl.maximise import maximise
from boirl.search.acquisitions import ACQUISITIONS, MarginalLogEI, Proposal
from boirl.surrogate import FittedSurrogate
from boirl.types import FloatArray

SPREAD, CLOUD = 128, 64
"""Thetas all over the box, and around the best, that a second evaluation may be of."""

CLOUD_RADII = (1e-2, 0.3)
FIRST = 32
"""Thetas of the highest expected improvement that are looked ahead from."""

NODES = 15
"""Of the quadrature over what an NLL may turn out to be."""


def two_step(surrogate: FittedSurrogate, rng: np.random.Generator) -> Proposal:
    """The theta with the highest expected improvement of two evaluations, of some."""
    myopic, _ = maximise(MarginalLogEI(surrogate), surrogate.best_unit, rng)
    units = np.vstack([myopic, candidates(surrogate.best_unit, rng)])
    with torch.no_grad():
        points = torch.tensor(units)
        mean, covariance = (part.numpy() for part in surrogate.joint(points))
        possible = surrogate.feasibility.worth(points, torch.zeros(len(points)).double())
    gains = two_step_gains(mean, covariance, surrogate.best_nll, surrogate.noise_variance)
    # Where evaluations may fail, log improvements are reduced: an improvement is a share of it.
    gains = np.where(np.isfinite(gains), gains * np.exp(possible.numpy()), -np.inf)
    return Proposal(units[int(gains.argmax())], "look ahead")


def candidates(centre: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Points of the unit cube, `n x d`: all over it, and around a centre, `d`."""
    spread = qmc.Sobol(len(centre), rng=rng).random(SPREAD)
    low, high = np.log(CLOUD_RADII)
    radii = np.exp(rng.uniform(float(low), float(high), (CLOUD, 1)))
    cloud = centre + radii * rng.standard_normal((CLOUD, len(centre)))
    return np.vstack([spread, cloud.clip(0.0, 1.0)])


def two_step_gains(
    mean: FloatArray, covariance: FloatArray, best: float, noise: float = 0.0
) -> FloatArray:
    """What two evaluations are expected to improve, if the first is at each of `n` thetas.

    Minus infinity at thetas that are not among the first by expected improvement.

    Args:
        mean: Of the NLL, `n`.
        covariance: Of the NLL, `n x n`.
        best: The lowest NLL so far.
        noise: Variance of an evaluation, beside that of the NLL.
    """
    variance = np.maximum(np.diagonal(covariance), 1e-300)
    at_once = expected_improvement(mean, np.sqrt(variance), best)
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    gains = np.full(len(mean), -np.inf)
    for first in np.argsort(-at_once, kind="stable")[:FIRST]:
        observed = np.sqrt(variance[first] + noise)
        shift = covariance[first] / observed
        left = np.sqrt(np.maximum(variance - np.square(shift), 1e-300))
        then = 0.0
        for node, weight in zip(nodes, weights, strict=True):
            lowest = min(best, mean[first] + node * shift[first])
            then += weight * expected_improvement(mean + node * shift, left, lowest).max()
        gains[first] = at_once[first] + then
    return gains


def expected_improvement(mean: FloatArray, sd: FloatArray, best: float) -> FloatArray:
    """`E[(best - f)+]` for normal `f`, `n`."""
    u = (best - mean) / sd
    density = np.exp(-0.5 * np.square(u)) / np.sqrt(2.0 * np.pi)
    return np.asarray(sd * density + (best - mean) * ndtr(u))


ACQUISITIONS.register("two-step", two_step)
