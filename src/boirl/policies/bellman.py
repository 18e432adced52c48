"""Fixed points of three Bellman operators, for a batch of rewards at once.

With `Q = r + gamma E[V(s')]` and inverse temperature `beta`, the operators are

- `max`: `V = max_a Q`, the optimal values; the policy is a softmax on top of them;
- `boltzmann`: `V = sum_a pi(a) Q` with `pi = softmax(beta Q)`. It is not a contraction and may
  have several fixed points, or sweeps that never settle;
- `logsumexp`: `V = log sum_a exp(beta Q) / beta`, the maximum-entropy values.

In all three the policy is `softmax(beta Q)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError, SolverError
from boirl.policies.tabular import TabularPolicy
from boirl.types import FloatArray

Bellman = Literal["max", "boltzmann", "logsumexp"]

UNDISCOUNTED_SWEEPS = 20_000
ROUNDING = 8 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class ValueSolution:
    """Values `n x S`, log policies `n x S x A`, residuals `n`, convergence `n`, sweeps done."""

    values: FloatArray
    log_policies: FloatArray
    residuals: FloatArray
    converged: np.ndarray
    sweeps: int


@dataclass(frozen=True)
class TabularSolver:
    """Value iteration under one of the three operators.

    Args:
        bellman: The operator.
        inverse_temperature: `beta`; larger is closer to the best action.
        tolerance: Largest change of any value in the last sweep. Changes that float64 cannot
            represent (values of 1e6 and more) count as none.
        max_sweeps: Sweeps before giving up; by default as many as a contraction by gamma needs.
    """

    bellman: Bellman = "max"
    inverse_temperature: float = 1.0
    tolerance: float = 1e-12
    max_sweeps: int | None = None

    def __post_init__(self) -> None:
        if self.bellman not in get_args(Bellman):
            raise InvalidInputError(
                f"bellman is {self.bellman!r}; expected one of {', '.join(get_args(Bellman))}"
            )
        for name in ("inverse_temperature", "tolerance"):
            value = getattr(self, name)
            if not (value > 0 and math.isfinite(value)):
                raise InvalidInputError(f"{name} is {value}; expected a positive number")

    def solve(
        self, mdp: TabularMDP, rewards: FloatArray, warm_start: FloatArray | None = None
    ) -> TabularPolicy:
        """The policy of one reward table, `S x A` or `S x 1`.

        Raises:
            SolverError: The values did not converge.
        """
        start = None if warm_start is None else warm_start[None]
        solution = self.solve_batch(mdp, rewards[None], start)
        if not solution.converged[0]:
            raise SolverError(self.failure(solution, 0))
        return TabularPolicy(solution.log_policies[0], values=solution.values[0])

    def solve_batch(
        self, mdp: TabularMDP, rewards: FloatArray, warm_start: FloatArray | None = None
    ) -> ValueSolution:
        """Sweep all reward tables `n x S x A` (or `n x S x 1`) until each has converged."""
        backup = self._backup()
        n = len(rewards)
        values = np.zeros((n, mdp.n_states)) if warm_start is None else warm_start.copy()
        residuals = np.full(n, np.inf)
        converged = np.zeros(n, dtype=bool)
        active = np.arange(n)
        limit = self.max_sweeps or self._default_sweeps(mdp.gamma, rewards)
        sweeps = 0
        while active.size and sweeps < limit:
            old = values[active]
            new = backup(rewards[active] + mdp.gamma * mdp.expect_next(old))
            values[active] = new
            residuals[active] = np.abs(new - old).max(axis=1)
            enough = np.maximum(self.tolerance, ROUNDING * np.abs(new).max(axis=1))
            converged[active] = residuals[active] <= enough
            diverged = ~np.isfinite(residuals[active])
            active = active[~(converged[active] | diverged)]
            sweeps += 1
        q = rewards + mdp.gamma * mdp.expect_next(values)
        return ValueSolution(values, self._log_softmax(q), residuals, converged, sweeps)

    def failure(self, solution: ValueSolution, index: int) -> str:
        """One line that says how the reward with this number failed, and what may help."""
        advice = {
            "max": "use gamma below 1, or make sure that every policy ends in a state that pays 0",
            "logsumexp": "use gamma below 1, or rewards low enough for the sum over paths to exist",
            "boltzmann": "this operator is not a contraction: lower the inverse temperature, or "
            "use 'logsumexp'",
        }[self.bellman]
        return (
            f"the {self.bellman} values did not converge: after {solution.sweeps} sweeps they "
            f"still change by {solution.residuals[index]:.3g} a sweep, expected at most "
            f"{self.tolerance:g}; {advice}"
        )

    def _default_sweeps(self, gamma: float, rewards: FloatArray) -> int:
        if gamma == 1.0:
            return UNDISCOUNTED_SWEEPS
        largest = max(float(np.abs(rewards).max()), 1.0) + 10.0 / self.inverse_temperature
        needed = math.log(self.tolerance * (1.0 - gamma) / largest) / math.log(gamma)
        return 2 * math.ceil(needed) + 100

    def _backup(self) -> Callable[[FloatArray], FloatArray]:
        beta = self.inverse_temperature

        def boltzmann(q: FloatArray) -> FloatArray:
            return np.einsum("nsa,nsa->ns", np.exp(self._log_softmax(q)), q)

        def logsumexp(q: FloatArray) -> FloatArray:
            top = q.max(axis=2)
            return top + np.log(np.exp(beta * (q - top[..., None])).sum(axis=2)) / beta

        return {
            "max": lambda q: q.max(axis=2),
            "boltzmann": boltzmann,
            "logsumexp": logsumexp,
        }[self.bellman]

    def _log_softmax(self, q: FloatArray) -> FloatArray:
        scaled = self.inverse_temperature * (q - q.max(axis=2, keepdims=True))
        return scaled - np.log(np.exp(scaled).sum(axis=2, keepdims=True))
