"""The exact posterior over rewards on a table, and how large it is.

Rewards are led from the whole box to where demonstrations leave them: the likelihood is raised to a
power that rises to 1, and each stage draws around the rewards of the last one (population Monte
Carlo). Those of the last stage are drawn again, each counts by its exact likelihood, and their
weights say how large the posterior is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, logsumexp
from scipy.stats import qmc

from boirl.problem import TabularProblem
from boirl.results.importance import effective_size
from boirl.results.proposals import EDGE, MixtureProposal, log_jacobian
from boirl.types import FloatArray

POINTS = 512
"""Rewards that are solved for in each stage."""

KEPT = 0.15
"""Share of the rewards that is left, in effective sample size, when the power rises."""

MOST_STAGES = 12
BELIEF_STREAM = 39


@dataclass(frozen=True, eq=False)
class ExactBelief:
    """Weighted rewards: what demonstrations leave of a box.

    Attributes:
        thetas: `n x d`.
        log_likelihoods: Of all demonstrations under each, `n`; `-inf` beyond the box, or where it
            has no policy.
        log_weights: Of each in the posterior, `n`; their mean is the evidence.
    """

    thetas: FloatArray
    log_likelihoods: FloatArray
    log_weights: FloatArray

    @property
    def weights(self) -> FloatArray:
        """Shares of the posterior, `n`."""
        return _normalised(self.log_weights)

    @property
    def volume(self) -> float:
        """Of the posterior, as a share of the box: the exponential of its entropy."""
        counted = np.isfinite(self.log_weights)
        mean = float(self.weights[counted] @ self.log_likelihoods[counted])
        log_evidence = float(logsumexp(self.log_weights)) - np.log(len(self.log_weights))
        return float(np.exp(log_evidence - mean))

    @property
    def effective(self) -> float:
        """How many equally weighted rewards are worth as much."""
        return effective_size(self.log_weights[np.isfinite(self.log_weights)])


def exact_belief(
    problem: TabularProblem, points: int = POINTS, guess: ExactBelief | None = None, seed: int = 0
) -> ExactBelief:
    """The posterior of a problem on a table, under a uniform prior.

    Args:
        problem: With its demonstrations.
        points: Rewards that are solved for in each stage.
        guess: The posterior given fewer demonstrations, to start from.
        seed: Of everything random.
    """
    box, n = problem.box, len(problem.demonstrations)
    rng = np.random.default_rng([seed, BELIEF_STREAM])

    def weigh(places: FloatArray, ratios: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log-likelihoods, and logarithms of prior over proposal where there is a policy."""
        found = -n * problem.nll_batch(box.from_unit(expit(places)))
        known = np.isfinite(found)
        return np.where(known, found, -np.inf), np.where(known, ratios, -np.inf)

    if guess is None:
        sobol = qmc.Sobol(box.dimension, rng=rng).random(points)
        places = logit(np.clip(sobol, EDGE, 1.0 - EDGE))
        logs, ratios = weigh(places, np.zeros(points))
    else:
        counted = np.isfinite(guess.log_weights)
        unit = box.to_unit(guess.thetas[counted])
        places = logit(np.clip(unit, EDGE, 1.0 - EDGE))
        logs, ratios = weigh(places, guess.log_weights[counted] - guess.log_likelihoods[counted])
    power = 0.0
    for _ in range(MOST_STAGES):
        was_whole, power = power == 1.0, _largest_power(logs, ratios)
        weights = _normalised(_tempered(power, logs, ratios))
        drawn = places[rng.choice(len(places), points, p=weights)]
        proposal = MixtureProposal(drawn + 1e-9 * rng.standard_normal(drawn.shape), rng)
        places, inside = proposal.draw(points, rng)
        prior = np.where(inside, log_jacobian(places) - proposal.log_density(places), -np.inf)
        logs, ratios = weigh(places, prior)
        if was_whole and power == 1.0:
            break
    return ExactBelief(box.from_unit(expit(places)), logs, _tempered(1.0, logs, ratios))


def _tempered(power: float, logs: FloatArray, ratios: FloatArray) -> FloatArray:
    counted = np.isfinite(ratios)
    return np.where(counted, power * np.where(counted, logs, 0.0) + ratios, -np.inf)


def _largest_power(logs: FloatArray, ratios: FloatArray) -> float:
    """The largest power of the likelihood, up to 1, under which enough of the rewards count."""

    def enough(power: float) -> bool:
        weights = _normalised(_tempered(power, logs, ratios))
        return float(1.0 / np.square(weights).sum()) >= KEPT * len(logs)

    if enough(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if enough(middle) else (low, middle)
    return low


def _normalised(logs: FloatArray) -> FloatArray:
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()
