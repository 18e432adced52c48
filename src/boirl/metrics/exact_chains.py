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
from scipy.special import expit, logsumexp
from scipy.stats import multivariate_t, qmc

from boirl.metrics.chains import effective_sample_size, r_hat
from boirl.types import FloatArray

LogDensity = Callable[[FloatArray], FloatArray]
"""Log density of points of the unit cube, `n x d`, up to a constant; `-inf` where it is 0."""

PARTICLES = 512
MOVES_PER_TEMPERATURE = 3
KEPT_BY_TEMPERATURE = 0.5
"""Share of the particles that is left, in effective sample size, when the temperature falls."""

KERNELS = 256
"""Particles that the proposal puts a normal distribution around."""

TAILS, WIDENED = 5.0, 1.1
"""Degrees of freedom and width of the part of the proposal that covers all particles at once."""

LONG_STEPS = 0.1
"""Share of steps by a whole difference, which may lead from one mode to another."""

EDGE = 1e-12
CHAINS = 64
PILOT_STEPS = (60, 120)
"""Steps of all chains after which the proposals are fitted again, to more and better particles."""

ARCHIVE = 2048
STEPS_PER_ROUND = 300


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
    most_rounds: int = 16,
    particles: int = PARTICLES,
) -> ExactChains:
    """Run chains until R-hat and the effective sample size of every coordinate are good enough.

    Args:
        log_density: See `LogDensity`.
        dimension: `d`.
        seed: Of everything random.
        r_hat_below: Of every coordinate.
        least_effective: Effective sample size of every coordinate.
        most_rounds: Rounds of 300 steps after which it ends all the same.
        particles: Of the tempering.
    """
    target = _Target(log_density)
    rng = np.random.default_rng(seed)
    archive = _temper(target, dimension, particles, rng)
    proposal = _Proposal.around(archive, rng)
    places = archive[rng.choice(len(archive), CHAINS)]
    state = _State(places, target(places))
    for steps in PILOT_STEPS:
        state, visited = _move(state, target, proposal, steps, rng)
        late = visited[:, steps // 4 :].reshape(-1, dimension)
        proposal = _Proposal.around(late[rng.permutation(len(late))[:ARCHIVE]], rng)
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


@dataclass(frozen=True, eq=False)
class _Proposal:
    """Half a broad t distribution, half normal ones around some particles; and differences."""

    archive: FloatArray
    kernels: FloatArray
    mean: FloatArray
    covariance: FloatArray
    bandwidth: float

    @classmethod
    def around(cls, archive: FloatArray, rng: np.random.Generator) -> _Proposal:
        n, dimension = archive.shape
        covariance = np.cov(archive.T).reshape(dimension, dimension)
        covariance += 1e-10 * max(float(np.trace(covariance)), 1e-10) * np.eye(dimension)
        chosen = archive[rng.permutation(n)[:KERNELS]]
        bandwidth = (4.0 / ((dimension + 2.0) * len(chosen))) ** (1.0 / (dimension + 4.0))
        return cls(archive, chosen, archive.mean(axis=0), covariance, bandwidth)

    def _broad(self) -> multivariate_t:
        shape = WIDENED**2 * (TAILS - 2.0) / TAILS * self.covariance
        return multivariate_t(self.mean, shape, df=TAILS)

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        dimension = self.archive.shape[1]
        broad = np.asarray(self._broad().rvs(n, random_state=rng)).reshape(n, dimension)
        root = np.linalg.cholesky(self.covariance)
        shifts = self.bandwidth * rng.standard_normal((n, dimension)) @ root.T
        near = self.kernels[rng.integers(len(self.kernels), size=n)] + shifts
        return np.where(rng.random((n, 1)) < 0.5, broad, near)

    def log_density(self, places: FloatArray) -> FloatArray:
        root = np.linalg.cholesky(self.covariance)
        whitened, centres = (
            np.linalg.solve(root, values.T).T / self.bandwidth for values in (places, self.kernels)
        )
        squares = ((whitened[:, None] - centres) ** 2).sum(axis=2)
        dimension = places.shape[1]
        constant = (
            0.5 * dimension * np.log(2.0 * np.pi)
            + np.log(np.diag(root)).sum()
            + dimension * np.log(self.bandwidth)
            + np.log(len(self.kernels))
        )
        near = logsumexp(-0.5 * squares, axis=1) - constant
        broad = np.atleast_1d(self._broad().logpdf(places))
        return np.asarray(np.logaddexp(near, broad) - np.log(2.0))

    def differences(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Steps, drawn from a distribution that is symmetric about 0, `n x d`."""
        size, dimension = self.archive.shape
        one, other = rng.integers(size, size=(2, n))
        scale = np.where(rng.random(n) < LONG_STEPS, 1.0, 2.38 / np.sqrt(2.0 * dimension))
        jitter = 1e-3 * np.sqrt(np.diag(self.covariance)) * rng.standard_normal((n, dimension))
        return scale[:, None] * (self.archive[one] - self.archive[other]) + jitter


def _move(
    state: _State,
    target: _Target,
    proposal: _Proposal,
    steps: int,
    rng: np.random.Generator,
    power: float = 1.0,
) -> tuple[_State, FloatArray]:
    """Metropolis-Hastings steps; the last state and all places, `m x steps x d`."""
    visited = []
    for number in range(steps):
        n = len(state.places)
        if number % 3 == 2:
            places = state.places + proposal.differences(n, rng)
            correction = np.zeros(n)
        else:
            places = proposal.draw(n, rng)
            correction = proposal.log_density(state.places) - proposal.log_density(places)
        tried = _State(places, target(places))
        odds = tried.log_density(power) - state.log_density(power) + correction
        state = state.replaced(np.log(rng.random(n)) < odds, tried)
        visited.append(state.places)
    return state, np.stack(visited, axis=1)


def _temper(
    target: _Target, dimension: int, particles: int, rng: np.random.Generator
) -> FloatArray:
    """Particles of the target, `n x d` in logits, by tempering from the uniform distribution."""
    unit = qmc.Sobol(dimension, rng=rng).random(particles)
    places = np.log(np.clip(unit, EDGE, 1.0)) - np.log(np.clip(1.0 - unit, EDGE, 1.0))
    state = _State(places, target(places))
    power = 0.0
    while power < 1.0:
        rise = _rise(state.known[0], 1.0 - power)
        weights = np.exp(rise * (state.known[0] - state.known[0].max()))
        chosen = rng.choice(particles, particles, p=weights / weights.sum())
        state = _State(state.places[chosen], (state.known[0][chosen], state.known[1][chosen]))
        power = min(1.0, power + rise)
        proposal = _Proposal.around(state.places, rng)
        state, _ = _move(state, target, proposal, MOVES_PER_TEMPERATURE, rng, power)
    # The last temperature again, with proposals from particles that have moved.
    proposal = _Proposal.around(state.places, rng)
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
