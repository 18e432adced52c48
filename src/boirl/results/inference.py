"""What the demonstrations say of the parameters: a posterior over rewards.

The probability of theta given `N` demonstrations goes with `exp(-N * NLL(theta))` times the prior,
by default uniform over the box. The NLL is known at the evaluations alone. Elsewhere each walker of
an ensemble has a landscape of its own, see `_OwnLandscapes`. Where evaluations fail there is no
reward to sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from scipy.stats import qmc
from torch import Tensor

from boirl.priors import UNIFORM, Prior
from boirl.surrogate.feasibility import LIKELY
from boirl.surrogate.fitted import FittedSurrogate
from boirl.surrogate.process import Landscapes
from boirl.threads import single_thread
from boirl.tolerance import likelihood_ratio_tolerance
from boirl.types import Box, FloatArray, IntArray

WALKERS = 200
"""Walkers of the ensemble, each on a landscape of its own."""

NODES = 200
"""Thetas at which landscapes are drawn; between them they are interpolated."""

SWEEPS = 80
"""Moves of every walker on the mean landscape, and as many on its own before the samples."""

SWEEPS_BETWEEN = 15
"""Moves of every walker between samples that are kept of it."""

JUMP_EVERY = 8
"""One move in so many is by the whole difference of two walkers, from one mode to another."""

CANDIDATES = 2048
"""Thetas that the ensemble starts from, half of them all over the box."""

PINNED, FREE = 0.2, 0.8
"""Shares of its range up to which a parameter is pinned down, and from which on it is free."""


@dataclass(frozen=True)
class ParameterSummary:
    """What is known of a parameter: the middle and the ends of its 95 % interval.

    Attributes:
        share: Width of the interval as a share of what it would be without demonstrations.
        searched: Whether the width is due to the demonstrations. Else the search does not know the
            landscape well enough to tell.
    """

    name: str
    low: float
    median: float
    high: float
    share: float
    searched: bool = field(default=True, kw_only=True)

    @property
    def verdict(self) -> str:
        """`"pinned down"`, `"narrowed"`, `"free"` or `"not searched enough"`."""
        if not self.searched:
            return "not searched enough"
        if self.share <= PINNED:
            return "pinned down"
        return "free" if self.share >= FREE else "narrowed"


LogDensity = Callable[[FloatArray, IntArray], FloatArray]
"""Log density of points `n x d` of the unit cube, each for the walker of a number, `n`."""


def sample_rewards(
    fitted: FittedSurrogate,
    n_demonstrations: int,
    n: int,
    rng: np.random.Generator,
    prior: Prior = UNIFORM,
    possible: bool = False,
) -> FloatArray:
    """Draw thetas, `n x d`, from the posterior over rewards.

    An ensemble on the mean landscape finds the thetas that matter. Every walker then goes on upon a
    landscape of its own: what a component expects or, under noise or for what is `possible`, one
    that is drawn.
    """
    with torch.no_grad(), single_thread():
        fitted = replace(fitted, n_demonstrations=n_demonstrations)
        mean = _under(prior, fitted.box, _MeanLandscape(fitted))
        start = _start(fitted, mean, rng)
        walkers = _walk(mean, start, SWEEPS, rng)
        drawn = possible or not fitted.has_gradients
        own = _under(prior, fitted.box, _OwnLandscapes(fitted, walkers, rng, drawn))
        walkers = _walk(own, walkers, SWEEPS, rng)
        kept = [walkers]
        for _ in range((n - 1) // WALKERS):
            walkers = _walk(own, walkers, SWEEPS_BETWEEN, rng)
            kept.append(walkers)
    found = np.concatenate(kept)
    return fitted.box.from_unit(found[rng.permutation(len(found))[:n]])


def _under(prior: Prior, box: Box, likelihood: LogDensity) -> LogDensity:
    """Likelihood times prior."""
    if prior.is_uniform:
        return likelihood
    return lambda unit, walkers: likelihood(unit, walkers) + prior.log_prior(box.from_unit(unit))


def _start(fitted: FittedSurrogate, mean: LogDensity, rng: np.random.Generator) -> FloatArray:
    """Walkers `w x d`, drawn from candidates all over the box and around the best at all scales."""
    dimension = fitted.box.dimension
    spread = qmc.Sobol(dimension, rng=rng).random(CANDIDATES // 2)
    radii = 10.0 ** rng.uniform(-4.0, -0.5, (CANDIDATES // 2, 1))
    cloud = fitted.best_unit + radii * rng.standard_normal((CANDIDATES // 2, dimension))
    candidates = np.concatenate([spread, np.clip(cloud, 0.0, 1.0)])
    density = mean(candidates, np.zeros(len(candidates), dtype=np.int64))
    # The highest sum of a log-weight and Gumbel noise is a draw by the weights.
    noise = rng.gumbel(size=(WALKERS, len(candidates)))
    chosen = candidates[(noise + density).argmax(axis=1)]
    # Walkers on one and the same candidate could not move apart.
    return np.clip(chosen + 1e-4 * rng.standard_normal(chosen.shape), 0.0, 1.0)


def _walk(
    density: LogDensity, walkers: FloatArray, sweeps: int, rng: np.random.Generator
) -> FloatArray:
    """Move every walker so many times by differences of others (differential evolution).

    Half of the walkers move at once, by differences of the other half, which keeps the density of
    all of them together whatever landscape each is on.
    """
    walkers, dimension = walkers.copy(), walkers.shape[1]
    numbers = np.arange(len(walkers))
    current = density(walkers, numbers)
    usual = 2.38 / np.sqrt(2.0 * dimension)
    for sweep in range(sweeps):
        share = 1.0 if sweep % JUMP_EVERY == JUMP_EVERY - 1 else usual * rng.uniform(0.5, 1.2)
        shuffled = rng.permutation(numbers)
        middle = len(numbers) // 2
        for moving, still in (
            (shuffled[:middle], shuffled[middle:]),
            (shuffled[middle:], shuffled[:middle]),
        ):
            one, other = rng.choice(still, (2, len(moving)))
            jitter = 1e-6 * rng.standard_normal((len(moving), dimension))
            proposed = walkers[moving] + share * (walkers[one] - walkers[other]) + jitter
            inside = ((proposed >= 0.0) & (proposed <= 1.0)).all(axis=1)
            there = np.full(len(moving), -np.inf)
            if inside.any():
                there[inside] = density(proposed[inside], moving[inside])
            # Walkers that are where nothing is allowed move anywhere; nobody moves there.
            known = np.where(np.isfinite(current[moving]), current[moving], -1e300)
            accepted = np.log(rng.random(len(moving))) < there - known
            walkers[moving[accepted]] = proposed[accepted]
            current[moving[accepted]] = there[accepted]
    return walkers


class _MeanLandscape:
    """`-N NLL` as the surrogate expects it, the same for all walkers.

    That of one set of hyperparameters, which is enough to find the thetas that matter.
    """

    def __init__(self, fitted: FittedSurrogate) -> None:
        self.fitted = fitted

    def __call__(self, unit: FloatArray, walkers: IntArray) -> FloatArray:
        fitted, at = self.fitted, torch.tensor(unit)
        expected = fitted.components[0].expected_nll(
            at, _project(fitted, at), fitted.calibration, _least_nll(fitted)
        )
        return _log_density(fitted, at, expected)


class _OwnLandscapes:
    """`-N NLL` by a landscape for each walker. Components share the walkers evenly.

    The landscape is the expected NLL of the component, so that what the hyperparameters leave open
    widens the posterior; or it is drawn from the process, at nodes, thetas that matter, so that
    everything that the evaluations leave open does. Drawn landscapes have dips where nobody
    looked, the more the more parameters there are: they show what is possible, which under exact
    evaluations with gradients is far more than what is probable.
    """

    def __init__(
        self,
        fitted: FittedSurrogate,
        walkers: FloatArray,
        rng: np.random.Generator,
        drawn: bool,
    ) -> None:
        self.fitted = fitted
        counts = fitted.shares(len(walkers))
        self.owner = np.repeat(np.arange(len(counts)), counts)
        self.number = np.concatenate([np.arange(count) for count in counts])
        self.landscapes: list[Landscapes] = []
        if not drawn:
            return
        nodes = torch.tensor(walkers[rng.permutation(len(walkers))[:NODES]])
        projected = _project(fitted, nodes)
        self.landscapes = [
            one.process.landscapes(
                one.space.inputs(nodes, projected=projected),
                fitted.calibration * torch.tensor(rng.standard_normal((count, len(nodes)))),
            )
            for one, count in zip(fitted.components, counts, strict=True)
        ]

    def __call__(self, unit: FloatArray, walkers: IntArray) -> FloatArray:
        fitted, at = self.fitted, torch.tensor(unit)
        projected = _project(fitted, at)
        nll = torch.zeros(len(unit), dtype=torch.float64)
        for owner, one in enumerate(fitted.components):
            rows = np.flatnonzero(self.owner[walkers] == owner)
            if not len(rows):
                continue
            here, there = at[rows], projected[rows]
            if self.landscapes:
                numbers = torch.tensor(self.number[walkers[rows]])
                inputs = one.space.inputs(here, projected=there)
                nll[rows] = one.nll(self.landscapes[owner](inputs, numbers))
            else:
                least = _least_nll(fitted)
                nll[rows] = one.expected_nll(here, there, fitted.calibration, least)
        return _log_density(fitted, at, nll)


def _least_nll(fitted: FittedSurrogate) -> float:
    """The lowest NLL that is plausible: below the best by the tolerance of a likelihood-ratio test.

    A surrogate that promises more than that speaks of where nobody looked.
    """
    tolerance = likelihood_ratio_tolerance(fitted.n_demonstrations, fitted.box.dimension)
    return fitted.best_nll - tolerance


def _log_density(fitted: FittedSurrogate, unit: Tensor, nll: Tensor) -> FloatArray:
    """Log density of the posterior, up to a constant.

    What is more likely to fail than not has none: beyond the border of what can be evaluated, the
    landscape is made up, and no probability of success outweighs its nats.
    """
    above = fitted.n_demonstrations * (nll - fitted.best_nll)
    chance = fitted.feasibility.log_probability(unit)
    found: FloatArray = torch.where(chance > LIKELY, chance - above, -torch.inf).numpy()
    return found


def _project(fitted: FittedSurrogate, unit: Tensor) -> Tensor:
    low, high = torch.as_tensor(fitted.box.low), torch.as_tensor(fitted.box.high)
    return fitted.projection.project(low + (high - low) * unit)


def summarise_parameters(samples: FloatArray, box: Box) -> list[ParameterSummary]:
    """What samples of the posterior, `n x d`, say of each parameter."""
    low, median, high = np.quantile(samples, [0.025, 0.5, 0.975], axis=0)
    # Samples of a uniform posterior may happen to spread a little wider.
    shares = np.minimum(1.0, (high - low) / (0.95 * (box.high - box.low)))
    rows = zip(box.names, low, median, high, shares, strict=True)
    return [ParameterSummary(name, *map(float, numbers)) for name, *numbers in rows]
