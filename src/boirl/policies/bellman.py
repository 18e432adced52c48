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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError, SolverError
from boirl.policies.linear_systems import Linearisation
from boirl.policies.newton import (
    NewtonResult,
    Step,
    hard_step,
    iterate,
    shared_soft_step,
    soft_step,
)
from boirl.policies.tabular import TabularPolicy
from boirl.types import FloatArray

Bellman = Literal["max", "boltzmann", "logsumexp"]

UNGUARANTEED_SWEEPS = 20_000
"""Sweeps before giving up where no contraction says how many will do."""

NEWTON_FROM_STATES = 500
SWEEPS_PER_ROUND = 500
ROUNDS = 10
POLISHING_STEPS = 12
ROUNDING = 8 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class ValueSolution:
    """What a solver found for `n` reward tables.

    Attributes:
        values: `n x S`.
        log_policies: `n x S x A`.
        residuals: Largest change of any value in another sweep, `n`.
        converged: Whether that is small enough, `n`.
        sweeps: Sweeps or Newton steps done.
        linearisations: The Newton system at the values, `n`; None where there were only sweeps.
    """

    values: FloatArray
    log_policies: FloatArray
    residuals: FloatArray
    converged: np.ndarray
    sweeps: int
    linearisations: tuple[Linearisation | None, ...]


@dataclass(frozen=True)
class TabularSolver:
    """Value iteration under one of the three operators.

    Args:
        bellman: The operator.
        inverse_temperature: `beta`; larger is closer to the best action.
        tolerance: Largest change of any value in the last sweep. Changes that float64 cannot
            represent (values of 1e6 and more) count as none.
        max_sweeps: Sweeps before giving up; by default as many as a contraction by gamma needs.
        method: `"sweeps"`, `"newton"` (gamma below 1), or `"auto"`: on many states, Newton for the
            two operators that are contractions (where dynamics are deterministic), and rounds of
            sweeps and Newton steps for `boltzmann`.
    """

    bellman: Bellman = "max"
    inverse_temperature: float = 1.0
    tolerance: float = 1e-12
    max_sweeps: int | None = None
    method: Literal["auto", "sweeps", "newton"] = "auto"

    def __post_init__(self) -> None:
        if self.bellman not in get_args(Bellman):
            raise InvalidInputError(
                f"bellman is {self.bellman!r}; expected one of {', '.join(get_args(Bellman))}"
            )
        if self.method not in ("auto", "sweeps", "newton"):
            raise InvalidInputError(
                f"method is {self.method!r}; expected 'auto', 'sweeps' or 'newton'"
            )
        if self.max_sweeps is not None and self.max_sweeps < 1:
            raise InvalidInputError(f"max_sweeps is {self.max_sweeps}; expected at least 1")
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
        return self.solve_and_linearise(mdp, rewards, warm_start)[0]

    def solve_and_linearise(
        self, mdp: TabularMDP, rewards: FloatArray, warm_start: FloatArray | None = None
    ) -> tuple[TabularPolicy, Linearisation | None]:
        """The policy of one reward table, and the system of the last Newton step, if any."""
        start = None if warm_start is None else warm_start[None]
        solution = self.solve_batch(mdp, rewards[None], start)
        if not solution.converged[0]:
            raise SolverError(self.failure(solution, 0))
        policy = TabularPolicy(
            solution.log_policies[0],
            values=solution.values[0],
            facts={"sweeps": solution.sweeps, "residual": float(solution.residuals[0])},
        )
        return policy, solution.linearisations[0]

    def policy_of_values(
        self, mdp: TabularMDP, rewards: FloatArray, values: FloatArray
    ) -> TabularPolicy:
        """The policy of one reward table whose values, `S`, are known: nothing is solved."""
        log_policy = self._log_softmax(self._q(mdp, rewards[..., None], values[:, None]))
        return TabularPolicy(np.ascontiguousarray(log_policy[..., 0]), values=values)

    def solve_batch(
        self, mdp: TabularMDP, rewards: FloatArray, warm_start: FloatArray | None = None
    ) -> ValueSolution:
        """Sweep all reward tables `n x S x A` (or `n x S x 1`) until each has converged.

        Inside, the batch is the last axis: looking up next states then copies whole rows, ten
        times faster than with the batch first.
        """
        n, shape = len(rewards), rewards.shape[1:]
        if shape not in ((mdp.n_states, mdp.n_actions), (mdp.n_states, 1)):
            raise InvalidInputError(
                f"a reward table has shape {shape}; expected {mdp.n_states} x {mdp.n_actions}, or "
                f"{mdp.n_states} x 1 for rewards on states"
            )
        if self._by_newton(mdp):
            return self._newton_batch(mdp, rewards, warm_start)
        if self._in_rounds(mdp):
            return self._rounds_batch(mdp, rewards, warm_start)
        backup = self._backup()
        table = np.ascontiguousarray(np.moveaxis(rewards, 0, -1))
        values = np.zeros((mdp.n_states, n)) if warm_start is None else warm_start.T.copy()
        residuals = np.full(n, np.inf)
        converged = np.zeros(n, dtype=bool)
        active = np.arange(n)
        limit = self.max_sweeps or self._default_sweeps(mdp.gamma, rewards)
        sweeps = 0
        old, paid = values, table
        while active.size and sweeps < limit:
            new = backup(self._q(mdp, paid, old))
            sweeps += 1
            change = np.abs(new - old).max(axis=0)
            enough = np.maximum(self.tolerance, ROUNDING * np.abs(new).max(axis=0))
            old = new
            done = (change <= enough) | ~np.isfinite(change)
            if done.any() or sweeps == limit:
                values[:, active], residuals[active] = new, change
                converged[active] = change <= enough
                active, old, paid = active[~done], new[:, ~done], paid[..., ~done]
        log_policies = self._log_softmax(self._q(mdp, table, values))
        return ValueSolution(
            values.T,
            np.ascontiguousarray(np.moveaxis(log_policies, -1, 0)),
            residuals,
            converged,
            sweeps,
            (None,) * n,
        )

    def _by_newton(self, mdp: TabularMDP) -> bool:
        if self.method != "auto" or self.max_sweeps is not None:
            return self.method == "newton"
        guaranteed = mdp.gamma < 1.0 and self.bellman != "boltzmann"
        large = mdp.n_states >= NEWTON_FROM_STATES
        return guaranteed and large and mdp.next_states is not None

    def _in_rounds(self, mdp: TabularMDP) -> bool:
        large = mdp.n_states >= NEWTON_FROM_STATES and mdp.gamma < 1.0
        plain = self.method == "auto" and self.max_sweeps is None
        return self.bellman == "boltzmann" and large and plain

    def _rounds_batch(
        self, mdp: TabularMDP, rewards: FloatArray, warm_start: FloatArray | None
    ) -> ValueSolution:
        """Sweeps that lead near a fixed point of `boltzmann`, then Newton steps onto it.

        From afar its Newton steps lead anywhere. So a few are tried after every round of sweeps,
        and where they do not arrive the sweeps go on from where they were.
        """
        starts = np.zeros((len(rewards), mdp.n_states)) if warm_start is None else warm_start
        sweeping = replace(self, method="sweeps", max_sweeps=SWEEPS_PER_ROUND)
        results = []
        for paid, start in zip(rewards, starts, strict=True):
            values = start
            for number in range(1, ROUNDS + 1):
                swept = sweeping.solve_batch(mdp, paid[None], values[None])
                values = swept.values[0]
                done = (number - 1) * SWEEPS_PER_ROUND + swept.sweeps
                result = NewtonResult(values, float(swept.residuals[0]), done)
                if swept.converged[0] or not np.isfinite(result.residual):
                    break
                step = self._smooth_step(mdp, paid)
                polished = iterate(step, values, self._enough, POLISHING_STEPS)
                if polished.residual <= self._enough(polished.values):
                    result = replace(polished, steps=result.steps)
                    break
            results.append(result)
        return self._collect(mdp, rewards, results)

    def _newton_batch(
        self, mdp: TabularMDP, rewards: FloatArray, warm_start: FloatArray | None
    ) -> ValueSolution:
        if mdp.gamma == 1.0:
            raise InvalidInputError("method 'newton' needs gamma below 1; use 'sweeps'")
        starts = np.zeros((len(rewards), mdp.n_states)) if warm_start is None else warm_start
        results = [self._newton(mdp, *pair) for pair in zip(rewards, starts, strict=True)]
        return self._collect(mdp, rewards, results)

    def _collect(
        self, mdp: TabularMDP, rewards: FloatArray, results: Sequence[NewtonResult]
    ) -> ValueSolution:
        values = np.stack([result.values for result in results])
        residuals = np.array([result.residual for result in results])
        log_policies = np.stack(
            [
                self.policy_of_values(mdp, paid, one).log_probabilities
                for paid, one in zip(rewards, values, strict=True)
            ]
        )
        enough = np.array([self._enough(one) for one in values])
        steps = max(result.steps for result in results)
        linearisations = tuple(result.linearisation for result in results)
        return ValueSolution(
            values, log_policies, residuals, residuals <= enough, steps, linearisations
        )

    def _enough(self, values: FloatArray) -> float:
        """The residual at which values `S` count as converged."""
        return max(self.tolerance, ROUNDING * float(np.abs(values).max()))

    def _newton(self, mdp: TabularMDP, rewards: FloatArray, start: FloatArray) -> NewtonResult:
        hard = iterate(hard_step(mdp, rewards), start, self._enough)
        if self.bellman == "max":
            return hard
        beta = self.inverse_temperature
        if self.bellman == "logsumexp" and mdp.next_states is not None and rewards.shape[1] == 1:
            return iterate(shared_soft_step(mdp, rewards[:, 0], beta), hard.values, self._enough)
        return iterate(self._smooth_step(mdp, rewards), hard.values, self._enough)

    def _smooth_step(self, mdp: TabularMDP, rewards: FloatArray) -> Step:
        """Newton's step for `logsumexp` or `boltzmann`."""

        return soft_step(mdp, rewards, self._backup(), self.slopes)

    def slopes(self, q: FloatArray, values: FloatArray) -> FloatArray:
        """Derivative of the values `S` by the `S x A` numbers that they are computed from."""
        if self.bellman == "max":
            return (np.arange(q.shape[1]) == q.argmax(axis=1)[:, None]).astype(np.float64)
        probabilities = np.exp(self._log_softmax(q))
        if self.bellman == "logsumexp":
            return probabilities
        return probabilities * (1.0 + self.inverse_temperature * (q - values[:, None]))

    def failure(self, solution: ValueSolution, index: int) -> str:
        """One line that says how the reward with this number failed, and what may help."""
        advice = {
            "max": "use gamma below 1, or make sure that every policy ends in a state that pays 0",
            "logsumexp": "use gamma below 1, or rewards low enough for the sum over paths to exist "
            "(a sink with A actions must pay -log A per step)",
            "boltzmann": "this operator is not a contraction: lower the inverse temperature, or "
            "use 'logsumexp'",
        }[self.bellman]
        return (
            f"the {self.bellman} values did not converge: after {solution.sweeps} sweeps they "
            f"still change by {solution.residuals[index]:.3g} per sweep, expected at most "
            f"{self.tolerance:g}; {advice}"
        )

    def _default_sweeps(self, gamma: float, rewards: FloatArray) -> int:
        if gamma == 1.0 or self.bellman == "boltzmann":
            return UNGUARANTEED_SWEEPS
        largest = max(float(np.abs(rewards).max()), 1.0) + 10.0 / self.inverse_temperature
        needed = math.log(self.tolerance * (1.0 - gamma) / largest) / math.log(gamma)
        return 2 * max(0, math.ceil(needed)) + 100

    @staticmethod
    def _q(mdp: TabularMDP, rewards: FloatArray, values: FloatArray) -> FloatArray:
        q = mdp.expect_next(values)
        q *= mdp.gamma
        q += rewards
        return q

    def _backup(self) -> Callable[[FloatArray], FloatArray]:
        beta = self.inverse_temperature

        def boltzmann(q: FloatArray) -> FloatArray:
            return (np.exp(self._log_softmax(q)) * q).sum(axis=1)

        def logsumexp(q: FloatArray) -> FloatArray:
            top = q.max(axis=1)
            return top + np.log(np.exp(beta * (q - top[:, None])).sum(axis=1)) / beta

        return {
            "max": lambda q: q.max(axis=1),
            "boltzmann": boltzmann,
            "logsumexp": logsumexp,
        }[self.bellman]

    def _log_softmax(self, q: FloatArray) -> FloatArray:
        scaled = self.inverse_temperature * (q - q.max(axis=1, keepdims=True))
        return scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
