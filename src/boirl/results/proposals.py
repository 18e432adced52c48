"""What is proposed on the unit cube: draws and steps learned from particles.

Places are logits of points of the cube.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit, logsumexp
from scipy.stats import multivariate_t

from boirl.types import FloatArray

KERNELS = 128
"""Particles that the proposal puts a normal distribution around."""

TAILS, WIDENED = 5.0, 1.1
"""Degrees of freedom and width of the part of the proposal that covers all particles at once."""

LONG_STEPS = 0.1
"""Share of steps by a whole difference, which may lead from one mode to another."""

EDGE = 1e-12


def log_jacobian(logits: FloatArray) -> FloatArray:
    """Logarithm of the determinant of the derivative of the cube by logits, `n`."""
    log_slopes: FloatArray = -np.logaddexp(0.0, logits) - np.logaddexp(0.0, -logits)
    return log_slopes.sum(axis=1)


class _Broad:
    """A t distribution with the mean and (widened) covariance of some points, `n x d`."""

    def __init__(self, points: FloatArray) -> None:
        dimension = points.shape[1]
        covariance = np.cov(points.T).reshape(dimension, dimension)
        covariance += 1e-8 * max(float(np.trace(covariance)), 1e-10) * np.eye(dimension)
        self.dimension, self.covariance = dimension, covariance
        shape = WIDENED**2 * (TAILS - 2.0) / TAILS * covariance
        self._distribution = multivariate_t(points.mean(axis=0), shape, df=TAILS)

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        drawn = self._distribution.rvs(n, random_state=rng)
        return np.asarray(drawn).reshape(n, self.dimension)

    def log_density(self, points: FloatArray) -> FloatArray:
        return np.atleast_1d(self._distribution.logpdf(points))


class MixtureProposal:
    """Draws from a mixture of three parts, and symmetric steps by the difference of particles.

    One part is broad in logits, one broad on the cube, where a straight ridge is straight up to the
    border, and one is a normal distribution around each of some particles.
    """

    def __init__(self, archive: FloatArray, rng: np.random.Generator) -> None:
        self._archive, self._on_cube = archive, expit(archive)
        self._in_logits, self._in_cube = _Broad(archive), _Broad(self._on_cube)
        self._kernels = archive[rng.permutation(len(archive))[:KERNELS]]
        dimension = archive.shape[1]
        size = len(self._kernels)
        bandwidth = (4.0 / ((dimension + 2.0) * size)) ** (1.0 / (dimension + 4.0))
        self._root = bandwidth * np.linalg.cholesky(self._in_logits.covariance)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, np.ndarray]:
        """Logits, `n x d`, and which of the draws are in the cube, `n`."""
        broad = self._in_logits.draw(n, rng)
        shifts = rng.standard_normal(broad.shape) @ self._root.T
        near = self._kernels[rng.integers(len(self._kernels), size=n)] + shifts
        points = self._in_cube.draw(n, rng)
        part = rng.integers(3, size=n)
        inside = (part < 2) | ((points > EDGE) & (points < 1.0 - EDGE)).all(axis=1)
        on_cube = logit(np.where(inside[:, None], np.clip(points, EDGE, 1.0 - EDGE), 0.5))
        return np.choose(part[:, None], [broad, near, on_cube]), inside

    def log_density(self, places: FloatArray) -> FloatArray:
        whitened, centres = (
            np.linalg.solve(self._root, values.T).T for values in (places, self._kernels)
        )
        squares = ((whitened[:, None] - centres) ** 2).sum(axis=2)
        constant = 0.5 * places.shape[1] * np.log(2.0 * np.pi) + np.log(len(centres))
        constant += np.log(np.diag(self._root)).sum()
        near = logsumexp(-0.5 * squares, axis=1) - constant
        broad = self._in_logits.log_density(places)
        on_cube = self._in_cube.log_density(expit(places)) + log_jacobian(places)
        mixed: FloatArray = logsumexp([near, broad, on_cube], axis=0) - np.log(3.0)
        return mixed

    def step(self, places: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Places after a symmetric step in logits, `n x d`."""
        return places + self._difference(self._archive, len(places), rng)

    def step_on_cube(self, places: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Places after a step that is symmetric on the cube, reflected at its border, `n x d`."""
        moved = expit(places) + self._difference(self._on_cube, len(places), rng)
        folded = np.abs((moved + 1.0) % 2.0 - 1.0)
        return logit(np.clip(folded, EDGE, 1.0 - EDGE))

    @staticmethod
    def _difference(archive: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        size, dimension = archive.shape
        one, other = rng.integers(size, size=(2, n))
        scale = np.where(rng.random(n) < LONG_STEPS, 1.0, 2.38 / np.sqrt(2.0 * dimension))
        jitter = 1e-3 * archive.std(axis=0) * rng.standard_normal((n, dimension))
        return scale[:, None] * (archive[one] - archive[other]) + jitter
