"""Demonstrators who want the same and differ in how carefully they choose.

All share one reward; each has an inverse temperature of its own, one of a few. Under every reward
that was solved for and every inverse temperature, each trajectory has a likelihood. Which pair
explains a demonstrator best is looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from boirl.decisions.table_mixtures import log_likelihood_table
from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.problem import TabularProblem
from boirl.results import RewardSet
from boirl.tolerance import likelihood_ratio_tolerance
from boirl.types import FloatArray, IntArray

INVERSE_TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0)
STARTS, STEPS = 20, 50
TEMPERATURE_STREAM = 38


@dataclass(frozen=True, eq=False)
class Temperatures:
    """One reward and an inverse temperature for each demonstrator.

    Attributes:
        theta: The reward that all share, `d`.
        inverse_temperatures: Of each demonstrator, `k`.
        shares: Of the trajectories, `k`.
        responsibilities: Probability that a trajectory is of each, `N x k`.
        log_likelihood: Of all demonstrations.
        names: Of the parameters.
        plausible: Rewards that a likelihood-ratio test at 95 % does not reject, each with its own
            best inverse temperatures, the best first, `n x d`.
    """

    theta: FloatArray
    inverse_temperatures: FloatArray
    shares: FloatArray
    responsibilities: FloatArray
    log_likelihood: float
    names: tuple[str, ...]
    plausible: FloatArray

    @property
    def labels(self) -> IntArray:
        """The likeliest demonstrator of each trajectory, `N`."""
        return np.asarray(self.responsibilities.argmax(axis=1))

    def __str__(self) -> str:
        theta = ", ".join(
            f"{name} {value:.4g}" for name, value in zip(self.names, self.theta, strict=True)
        )
        lines = [f"all want: {theta} (log-likelihood {self.log_likelihood:.2f})"]
        for number, beta in enumerate(self.inverse_temperatures):
            lines.append(
                f"  demonstrator {number + 1}: {self.shares[number]:.0%} of the trajectories, "
                f"inverse temperature {beta:g}"
            )
        lines.append(f"  rewards that explain it as well: {len(self.plausible)}")
        return "\n".join(lines)


def fit_temperatures(
    found: RewardSet,
    demonstrators: int = 2,
    labels: ArrayLike | None = None,
    inverse_temperatures: Sequence[float] = INVERSE_TEMPERATURES,
    seed: int = 0,
) -> Temperatures:
    """One reward for all, and how carefully each demonstrator chooses.

    Where the operator is `max`, values do not depend on the temperature, so that nothing is solved;
    else each evaluated reward is solved for at each inverse temperature.

    Args:
        found: A search on a table; its evaluations are the rewards to choose from.
        demonstrators: How many there are, where nobody knows who showed what.
        labels: Who showed what, `N`, where it is known.
        inverse_temperatures: To choose from.
        seed: Of the starts of the fit.
    """
    problem = found.problem
    if not isinstance(problem, TabularProblem):
        raise InvalidInputError(
            f"problem {problem.name!r} is a {type(problem).__name__}; expected a "
            "boirl.TabularProblem, whose solver has an inverse temperature"
        )
    betas = np.asarray(inverse_temperatures, dtype=np.float64)
    if betas.ndim != 1 or not betas.size or not (np.isfinite(betas) & (betas > 0.0)).all():
        raise InvalidInputError(
            f"the inverse temperatures are {betas.tolist()}; expected positive numbers, one at "
            "least"
        )
    count = len(problem.demonstrations)
    if not 1 <= demonstrators <= count:
        raise InvalidInputError(
            f"demonstrators is {demonstrators}; expected a number from 1 to {count}, the number of "
            "trajectories"
        )
    pool = [one for one in found.evaluations if one.ok]
    table = np.stack([_table(problem, pool, beta) for beta in betas])
    if labels is not None:
        _, which = np.unique(np.asarray(labels), return_inverse=True)
        if which.shape != table.shape[2:]:
            raise InvalidInputError(
                f"there are {len(which)} labels; expected {table.shape[2]}, one per trajectory"
            )
        given = np.eye(int(which.max()) + 1)[which]
        row, chosen, total = _maximise(table, given)
        theta = np.array(pool[row].theta)
        shares = given.mean(axis=0)
        plausible = _plausible(table, given, pool)
        names = problem.box.names
        return Temperatures(theta, betas[chosen], shares, given, total, names, plausible)
    rng = np.random.default_rng([seed, TEMPERATURE_STREAM])
    fits = [_climb(table, demonstrators, rng) for _ in range(STARTS)]
    row, chosen, shares, responsibilities, total = max(fits, key=lambda one: one[-1])
    theta = np.array(pool[row].theta)
    plausible = _plausible(table, responsibilities, pool)
    names = problem.box.names
    return Temperatures(theta, betas[chosen], shares, responsibilities, total, names, plausible)


def _plausible(table: FloatArray, weights: FloatArray, pool: list[Evaluation]) -> FloatArray:
    """Rewards that explain weighted trajectories nearly as well as the best, the best first."""
    scores = np.where(np.isfinite(table), table, -1e12) @ weights
    best = scores.max(axis=0).sum(axis=1)
    thetas = np.array([one.theta for one in pool])
    order = np.argsort(-best, kind="stable")
    nats = likelihood_ratio_tolerance(1, thetas.shape[1])
    return thetas[order[best[order] >= best.max() - nats]]


def _table(problem: TabularProblem, pool: list[Evaluation], beta: float) -> FloatArray:
    """Log-likelihood of each trajectory under each reward at an inverse temperature, `n x N`."""
    other = replace(problem, solver=replace(problem.solver, inverse_temperature=float(beta)))
    if problem.solver.bellman == "max":
        return log_likelihood_table(other, pool)
    return log_likelihood_table(other, [other.evaluate(one.theta) for one in pool])


def _maximise(table: FloatArray, weights: FloatArray) -> tuple[int, IntArray, float]:
    """The reward and the inverse temperatures that explain weighted trajectories best.

    Args:
        table: Log-likelihoods, inverse temperatures x rewards x trajectories.
        weights: Of the trajectories for each demonstrator, `N x k`.
    """
    scores = np.where(np.isfinite(table), table, -1e12) @ weights
    best = scores.max(axis=0).sum(axis=1)
    row = int(best.argmax())
    return row, np.asarray(scores[:, row].argmax(axis=0)), float(best[row])


def _climb(table: FloatArray, k: int, rng: np.random.Generator) -> tuple[Any, ...]:
    weights = rng.dirichlet(np.ones(k), size=table.shape[2])
    shares, reached = np.full(k, 1.0 / k), -np.inf
    for _ in range(STEPS):
        row, chosen, _ = _maximise(table, weights)
        logs = table[chosen, row].T + np.log(np.maximum(shares, 1e-300))
        totals = logsumexp(logs, axis=1)
        weights = np.exp(logs - totals[:, None])
        shares = weights.mean(axis=0)
        if totals.sum() <= reached + 1e-9:
            break
        reached = float(totals.sum())
    return row, chosen, shares, weights, reached
