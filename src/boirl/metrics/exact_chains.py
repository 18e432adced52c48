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
from scipy.special import expit, logit
from scipy.stats import qmc

from boirl.metrics.chains import effective_sample_size, r_hat
from boirl.results.proposals import EDGE, MixtureProposal, log_jacobian
from boirl.types import FloatArray

LogDensity = Callable[[FloatArray], FloatArray]
"""Log density of points of the unit cube, `n x d`, up to a constant; `-inf` where it is 0."""

PARTICLES = 256
MOVES_PER_TEMPERATURE = 3
KEPT_BY_TEMPERATURE = 0.5
"""Share of the particles that is left, in effective sample size, when the temperature falls."""

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
    proposal = MixtureProposal(archive, rng)
    places = archive[rng.choice(len(archive), CHAINS)]
    state = _State(places, target(places))
    for steps in PILOT_STEPS:
        state, visited = _move(state, target, proposal, steps, rng)
        late = visited[:, steps // 4 :].reshape(-1, dimension)
        proposal = MixtureProposal(late[rng.permutation(len(late))[:ARCHIVE]], rng)
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
        return np.nan_to_num(values, nan=-np.inf), log_jacobian(logits)


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


def _move(
    state: _State,
    target: _Target,
    proposal: MixtureProposal,
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
            correction = log_jacobian(state.places) - log_jacobian(places)
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
        proposal = MixtureProposal(state.places, rng)
        state, _ = _move(state, target, proposal, MOVES_PER_TEMPERATURE, rng, power)
    # The last temperature again, with proposals from particles that have moved.
    proposal = MixtureProposal(state.places, rng)
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
