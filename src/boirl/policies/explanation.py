"""How well a reward table explains demonstrations, and which change of it would explain more.

The derivative of the NLL by all rewards at once takes one linear system (implicit differentiation),
whatever the number of parameters behind them: with `V = T(Q)`, `Q = r + gamma P V`, slopes
`W = dT/dQ` and `g` the derivative of the NLL by `Q` alone, the derivative by `r` is `g + W u`,
where `u = gamma P' (g + W u)`. For `logsumexp`, `u` counts how often a state is expected to be
visited from the demonstrated steps on, less how often it was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import SolverError
from boirl.likelihood import negative_log_likelihood
from boirl.policies.bellman import TabularSolver
from boirl.policies.newton import solve_adjoint
from boirl.policies.tabular import TabularPolicy
from boirl.types import FloatArray


@dataclass(frozen=True, eq=False)
class Explanation:
    """A policy, its NLL, and the derivative of that by the reward of each state-action."""

    policy: TabularPolicy
    nll: float
    slopes: FloatArray


def explain(
    mdp: TabularMDP,
    solver: TabularSolver,
    rewards: FloatArray,
    demonstrations: Demonstrations,
    warm_start: FloatArray | None = None,
) -> Explanation:
    """Solve for a reward table, `S x A` or `S x 1`, and differentiate the NLL by it.

    Raises:
        SolverError: There is no policy, or its derivative does not exist.
    """
    policy = solver.solve(mdp, rewards, warm_start)
    assert policy.values is not None
    q = rewards + mdp.gamma * mdp.expect_next(policy.values[:, None])[..., 0]
    direct = _slopes_by_q(policy, demonstrations, solver.inverse_temperature)
    weights = solver.slopes(q, policy.values)
    into = mdp.gamma * (mdp.transition.T @ direct.reshape(-1))
    try:
        through_values = solve_adjoint(mdp, weights, into)
    except RuntimeError as error:
        raise SolverError(f"the derivative of the values does not exist ({error})") from error
    nll = negative_log_likelihood(policy, demonstrations)
    return Explanation(policy, nll, direct + weights * through_values[:, None])


def _slopes_by_q(
    policy: TabularPolicy, demonstrations: Demonstrations, inverse_temperature: float
) -> FloatArray:
    """Derivative of the NLL by `Q`, `S x A`: probabilities less choices, in demonstrated states."""
    shape = policy.log_probabilities.shape
    pairs = demonstrations.states * shape[1] + demonstrations.actions
    taken = np.bincount(pairs, minlength=shape[0] * shape[1]).reshape(shape)
    expected = taken.sum(axis=1, keepdims=True) * policy.probabilities
    return inverse_temperature * (expected - taken) / len(demonstrations)
