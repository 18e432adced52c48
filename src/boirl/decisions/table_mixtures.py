"""A mixture of rows of a table of log-likelihoods, rewards by trajectories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from boirl.errors import SolverError
from boirl.evaluation import Evaluation
from boirl.problem import Problem
from boirl.types import FloatArray, IntArray

STARTS = 50
"""Draws of rewards that the fit of a mixture starts from."""

STEPS = 100
"""Of expectation and maximisation, at most."""


def log_likelihood_table(problem: Problem[Any], evaluations: list[Evaluation]) -> FloatArray:
    """Log-likelihood of every trajectory under every evaluation, `n x N`; nothing is solved.

    Evaluations that failed have none.
    """
    table = np.full((len(evaluations), len(problem.demonstrations)), -np.inf)
    fine = [number for number, one in enumerate(evaluations) if one.ok]
    table[fine] = problem.kept_log_likelihoods([evaluations[number] for number in fine])
    return table


@dataclass(frozen=True, eq=False)
class TableFit:
    """A mixture of rows of a table of log-likelihoods.

    Attributes:
        rows: The row of each component, `k`.
        shares: Of the components, `k`.
        responsibilities: `N x k`.
        log_likelihood: Of all trajectories.
    """

    rows: IntArray
    shares: FloatArray
    responsibilities: FloatArray
    log_likelihood: float

    @property
    def labels(self) -> IntArray:
        return np.asarray(self.responsibilities.argmax(axis=1))


def fit_table(
    table: FloatArray, k: int, rng: np.random.Generator, warm_start: TableFit | None = None
) -> TableFit:
    """The likeliest mixture of `k` rows of a table, `n x N`, by expectation and maximisation.

    Starts are rows that are drawn one after the other, each where the others explain least.
    """
    finite = np.flatnonzero(np.isfinite(table).all(axis=1))
    if len(finite) < k:
        raise SolverError(
            f"{len(finite)} evaluations succeeded; expected at least {k}, one per demonstrator"
        )
    known = table[finite]
    starts = [_spread_rows(known, k, rng) for _ in range(STARTS if k > 1 else 1)]
    if warm_start is not None:
        places = {int(row): place for place, row in enumerate(finite)}
        starts.append(np.array([places[int(row)] for row in warm_start.rows]))
    best = max((_climb(known, rows) for rows in starts), key=lambda one: one.log_likelihood)
    return TableFit(finite[best.rows], best.shares, best.responsibilities, best.log_likelihood)


def _spread_rows(table: FloatArray, k: int, rng: np.random.Generator) -> IntArray:
    """Rows, each the best for a trajectory that those before it explain poorly."""
    best = table.max(axis=0)
    rows = [int(table[:, rng.integers(table.shape[1])].argmax())]
    while len(rows) < k:
        missing = best - table[rows].max(axis=0) + 1e-9
        chosen = rng.choice(table.shape[1], p=missing / missing.sum())
        rows.append(int(table[:, chosen].argmax()))
    return np.array(rows)


def _climb(table: FloatArray, rows: IntArray) -> TableFit:
    k = len(rows)
    shares = np.full(k, 1.0 / k)
    reached = -np.inf
    for _ in range(STEPS):
        logs = table[rows].T + np.log(np.maximum(shares, 1e-300))
        totals = logsumexp(logs, axis=1)
        responsibilities = np.exp(logs - totals[:, None])
        if totals.sum() <= reached + 1e-9:
            break
        reached = float(totals.sum())
        shares = responsibilities.mean(axis=0)
        rows = (table @ responsibilities).argmax(axis=0)
    return TableFit(rows, shares, responsibilities, reached)
