"""The mixture of policies with the least regret under many rewards, at a level of risk.

A policy's returns are linear in how often it is where, so that the mean regret, the largest one and
the conditional value at risk between them are one linear program over mixtures of policies. It is
solved over a few policies at a time; its dual weighs the rewards, and the best policy for the
rewards summed by these weights joins, until none helps (column generation).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog

from boirl.decisions.returns import Returns
from boirl.errors import SolverError
from boirl.types import FloatArray

ROUNDS = 500
"""Policies that may join; a few dozen do."""

ENOUGH = 1e-7
"""Improvement, as a share of the largest return, below which no policy joins any more."""

LEAST_SHARE = 1e-9


def minimise_regret(returns: Returns, level: float) -> tuple[list[Any], FloatArray]:
    """Policies and the share of each that minimise the regret at a level."""
    weights = returns.ensemble.weights
    pool = returns.first
    earned = [returns.of(policy) for policy in pool]
    scale = max(1e-300, float(np.abs(returns.best).max()))
    for _ in range(ROUNDS):
        shares, duals = _program(returns.best, np.stack(earned), weights, level)
        response = returns.best_response(duals)
        if response is None:
            break
        gained = returns.of(response)
        if float(duals @ (gained - shares @ np.stack(earned))) <= ENOUGH * scale:
            break
        pool.append(response)
        earned.append(gained)
    kept = np.flatnonzero(shares > LEAST_SHARE)
    return [pool[number] for number in kept], shares[kept] / shares[kept].sum()


def _program(
    best: FloatArray, earned: FloatArray, weights: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """The best shares of `k` policies, and the weights of `m` rewards that they are best for.

    Minimises `t + sum_i w_i u_i / (1 - level)` over shares, with `u_i >= regret_i - t` and
    `u >= 0`; at level 1, `t` with `t >= regret_i`.

    Args:
        best: Highest return under each reward, `m`.
        earned: Returns of each policy, `k x m`.
        weights: Of the rewards, `m`.
        level: In [0, 1].
    """
    k, m = earned.shape
    if level == 0.0:
        shares = np.zeros(k)
        shares[int((earned @ weights).argmax())] = 1.0
        return shares, weights
    worst = level == 1.0
    extra = 0 if worst else m
    costs = np.concatenate([np.zeros(k), [1.0], np.full(extra, 1.0)])
    if not worst:
        costs[k + 1 :] = weights / (1.0 - level)
    # regret_i - t - u_i <= 0 with regret_i = best_i - shares . earned_i
    rows = np.concatenate([-earned.T, -np.ones((m, 1)), -np.eye(m)[:, :extra]], axis=1)
    bounds = [(0.0, None)] * k + [(None, None)] + [(0.0, None)] * extra
    total = np.concatenate([np.ones(k), np.zeros(1 + extra)])[None]
    solved = linprog(costs, A_ub=rows, b_ub=-best, A_eq=total, b_eq=[1.0], bounds=bounds)
    if solved.x is None:
        raise SolverError(f"the linear program over policies was not solved ({solved.message})")
    duals = np.maximum(-solved.ineqlin.marginals, 0.0)
    total_dual = duals.sum()
    found = weights if total_dual <= 0.0 else duals / total_dual
    return np.maximum(solved.x[:k], 0.0), found
