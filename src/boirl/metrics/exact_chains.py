"""Samples of a density on the unit cube that is cheap to evaluate in batches.

Particles are led from the uniform distribution to the density by tempering. Where they end says
what to propose: independent draws from a mixture around them, and steps by the difference of two of
them. Many independent chains then take such steps with the proposals frozen, until the halves of
all chains agree. Coordinates are logits, so that a density that is cut off by the cube has tails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, logsumexp
from scipy.stats import multivariate_t, qmc

from boirl.metrics.chains import effective_sample_size, r_hat
from boirl.types import FloatArray

LogDensity = Callable[[FloatArray], FloatArray]
"""Log density of points of the unit cube, `n x d`, up to a constant; `-inf` where it is 0."""

PARTICLES = 256
MOVES_PER_TEMPERATURE = 3
KEPT_BY_TEMPERATURE = 0.5
"""Share of the particles that is left, in effective sample size, when the temperature falls."""

KERNELS = 128
"""Particles that the proposal puts a normal distribution around."""

TAILS, WIDENED = 5.0, 1.1
"""Degrees of freedom and width of the part of the proposal that covers all particles at once."""

LONG_STEPS = 0.1
"""Share of steps by a whole difference, which may lead from one mode to another."""

EDGE = 1e-12
CHAINS = 64
PILOT_STEPS = (48, 96)
"""Steps of all chains after which the proposals are fitted again, to more and better particles."""

ARCHIVE = 2048
STEPS_PER_ROUND = 240


@dataclass(frozen=True, eq=False)
class ExactChains:
    """Chains `m x n x d` in the unit cube, what says how well they mixed, and evaluations."""

    points: FloatArray
    r_hat: float
    effective_sample_size: float
    evaluations: int


def sample_exactly(
    log_density: LogDensity,
    dimension: int,
    seed: int,
    r_hat_below: float = 1.01,
    least_effective: float = 5000.0,
    most_rounds: int = 24,
    particles: int = PARTICLES,
) -> ExactChains:
    """Run chains until R-hat and the effective sample size of every coordinate are good enough.

    Args:
        log_density: See `LogDensity`.
        dimension: `d`.
        seed: Of everything random.
        r_hat_below: Of every coordinate.
        least_effective: Effective sample size of every coordinate.
        most_rounds: Rounds of 240 steps after which it ends all the same.
        particles: Of the tempering.
    """
    target = _Target(log_density)
    rng = np.random.default_rng(seed)
    archive = _temper(target, dimension, particles, rng)
    proposal = _Proposal(archive, rng)
    places = archive[rng.choice(len(archive), CHAINS)]
    state = _State(places, target(places))
    for steps in PILOT_STEPS:
        state, visited = _move(state, target, proposal, steps, rng)
        late = visited[:, steps // 4 :].reshape(-1, dimension)
        proposal = _Proposal(late[rng.permutation(len(late))[:ARCHIVE]], rng)
    rounds: list[FloatArray] = []
    while True:
        state, visited = _move(state, target, proposal, STEPS_PER_ROUND, rng)
        rounds.append(visited)
        points = expit(np.concatenate(rounds, axis=1))
        ratio = max(r_hat(numbers) for numbers in np.moveaxis(points, 2, 0))
        size = min(effective_sample_size(numbers) for numbers in np.moveaxis(points, 2, 0))
        good = ratio < r_hat_below and size >= least_effective
        if good or len(rounds) == most_rounds:
            return ExactChains(points, ratio, size, target.evaluations)


class _Target:
    """The log density in logits, which counts evaluations."""

    def __init__(self, log_density: LogDensity) -> None:
        self._log_density = log_density
        self.evaluations = 0

    def __call__(self, logits: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log density on the cube and log of the Jacobian, `n` each."""
        self.evaluations += len(logits)
        values = self._log_density(expit(logits))
        return np.nan_to_num(values, nan=-np.inf), _log_jacobian(logits)


def _log_jacobian(logits: FloatArray) -> FloatArray:
    log_slopes: FloatArray = -np.logaddexp(0.0, logits) - np.logaddexp(0.0, -logits)
    return log_slopes.sum(axis=1)


@dataclass(frozen=True, eq=False)
class _State:
    """Places of walkers in logits, `m x d`, and what the target says of them."""

    places: FloatArray
    known: tuple[FloatArray, FloatArray]

    def log_density(self, power: float) -> FloatArray:
        return power * self.known[0] + self.known[1]

    def replaced(self, accepted: np.ndarray, other: _State) -> _State:
        known = tuple(
            np.where(accepted, new, old) for new, old in zip(other.known, self.known, strict=True)
        )
        places = np.where(accepted[:, None], other.places, self.places)
        return _State(places, (known[0], known[1]))


class _Broad:
    """A t distribution with the mean and (widened) covariance of some points, `n x d`."""

    def __init__(self, points: FloatArray) -> None:
        dimension = points.shape[1]
        covariance = np.cov(points.T).reshape(dimension, dimension)
        covariance += 1e-10 * max(float(np.trace(covariance)), 1e-10) * np.eye(dimension)
        self.dimension, self.covariance = dimension, covariance
        shape = WIDENED**2 * (TAILS - 2.0) / TAILS * covariance
        self._distribution = multivariate_t(points.mean(axis=0), shape, df=TAILS)

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        drawn = self._distribution.rvs(n, random_state=rng)
        return np.asarray(drawn).reshape(n, self.dimension)

    def log_density(self, points: FloatArray) -> FloatArray:
        return np.atleast_1d(self._distribution.logpdf(points))


class _Proposal:
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
        on_cube = self._in_cube.log_density(expit(places)) + _log_jacobian(places)
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


def _move(
    state: _State,
    target: _Target,
    proposal: _Proposal,
    steps: int,
    rng: np.random.Generator,
    power: float = 1.0,
) -> tuple[_State, FloatArray]:
    """Metropolis-Hastings steps; the last state and all places, `m x steps x d`.

    Two draws from the proposal, a step in logits, two more draws, a step on the cube, and so on.
    """
    visited = []
    for number in range(steps):
        n = len(state.places)
        inside, correction = np.ones(n, dtype=bool), np.zeros(n)
        if number % 6 == 2:
            places = proposal.step(state.places, rng)
        elif number % 6 == 5:
            places = proposal.step_on_cube(state.places, rng)
            # Symmetric on the cube: the Jacobians cancel.
            correction = _log_jacobian(state.places) - _log_jacobian(places)
        else:
            places, inside = proposal.draw(n, rng)
            correction = proposal.log_density(state.places) - proposal.log_density(places)
        tried = _State(places, target(places))
        odds = tried.log_density(power) - state.log_density(power) + correction
        state = state.replaced(inside & (np.log(rng.random(n)) < odds), tried)
        visited.append(state.places)
    return state, np.stack(visited, axis=1)


def _temper(
    target: _Target, dimension: int, particles: int, rng: np.random.Generator
) -> FloatArray:
    """Particles of the target, `n x d` in logits, by tempering from the uniform distribution."""
    unit = qmc.Sobol(dimension, rng=rng).random(particles)
    places = logit(np.clip(unit, EDGE, 1.0 - EDGE))
    state = _State(places, target(places))
    power = 0.0
    while power < 1.0:
        rise = _rise(state.known[0], 1.0 - power)
        weights = np.exp(rise * (state.known[0] - state.known[0].max()))
        chosen = rng.choice(particles, particles, p=weights / weights.sum())
        state = _State(state.places[chosen], (state.known[0][chosen], state.known[1][chosen]))
        power = min(1.0, power + rise)
        proposal = _Proposal(state.places, rng)
        state, _ = _move(state, target, proposal, MOVES_PER_TEMPERATURE, rng, power)
    # The last temperature again, with proposals from particles that have moved.
    proposal = _Proposal(state.places, rng)
    state, _ = _move(state, target, proposal, 3 * MOVES_PER_TEMPERATURE, rng)
    return state.places


def _rise(log_density: FloatArray, most: float) -> float:
    """How far the power may rise for enough particles to be left."""

    def left(rise: float) -> float:
        weights = np.exp(rise * (log_density - log_density.max()))
        return float(weights.sum() ** 2 / (weights**2).sum()) / len(weights)

    if left(most) >= KEPT_BY_TEMPERATURE:
        return most
    low, high = 0.0, most
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if left(middle) >= KEPT_BY_TEMPERATURE else (low, middle)
    return max(low, 1e-9)
