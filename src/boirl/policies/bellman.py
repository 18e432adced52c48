"""Solvers of Bellman equations on finitely many states: from a reward table to its policy.

`method="auto"` begins with sweeps that add up what all values have in common (`sweeps`). Where
these are expected to take longer than Newton steps (`newton`), because the dynamics mix slowly,
Newton steps take over. On many states with deterministic dynamics they come first. What is
expected follows from the dynamics and the sweeps so far, never from a clock, so that the same
problem always has the same solution to the last digit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from boirl.environments import TabularMDP
from boirl.environments.unrolled import unroll
from boirl.errors import InvalidInputError, SolverError
from boirl.policies.finite_horizon import back_up_to_start
from boirl.policies.fixed_points import newton, sweep_and_newton_in_turns, sweep_then_newton
from boirl.policies.linear_systems import Linearisation
from boirl.policies.operators import Bellman, BellmanEquation
from boirl.policies.sweeps import contraction_limit, sweep
from boirl.policies.tabular import TabularPolicy
from boirl.types import FloatArray

UNGUARANTEED_SWEEPS = 20_000
"""Sweeps before giving up where no contraction says how many will do."""

CHAINS_FROM_STATES = 500
"""From so many states on, chains of deterministic dynamics are summed from the start."""


@dataclass(frozen=True)
class ValueSolution:
    """What a solver found for `n` reward tables.

    Attributes:
        values: `n x S`.
        log_policies: `n x S x A`.
        residuals: Largest change of any value in another sweep, `n`.
        converged: Whether that is small enough, `n`.
        sweeps: Sweeps and Newton steps done, where they differ those of the slowest reward.
        linearisation: The system at the values of a single reward table; None where it was not
            needed, or where there are several.
    """

    values: FloatArray
    log_policies: FloatArray
    residuals: FloatArray
    converged: np.ndarray
    sweeps: int
    linearisation: Linearisation | None = None


@dataclass(frozen=True)
class TabularSolver:
    """Values under one of the three operators, and the policy that follows from them.

    Args:
        bellman: The operator.
        inverse_temperature: `beta`; larger is closer to the best action.
        tolerance: Largest change of any value in another sweep. Changes that float64 cannot
            represent (values of 1e6 and more) count as none.
        max_sweeps: Sweeps before giving up, with `method="sweeps"`; by default as many as a
            contraction by gamma needs.
        method: `"auto"`, which is at most a little slower than the faster of the others;
            `"sweeps"`, plain ones; or `"newton"`.
        horizon: Steps after which everything ends, for policies that depend on the steps left;
            None for policies that do not.
    """

    bellman: Bellman = "max"
    inverse_temperature: float = 1.0
    tolerance: float = 1e-12
    max_sweeps: int | None = None
    method: Literal["auto", "sweeps", "newton"] = "auto"
    horizon: int | None = None

    def __post_init__(self) -> None:
        if self.bellman not in get_args(Bellman):
            raise InvalidInputError(
                f"bellman is {self.bellman!r}; expected one of {', '.join(get_args(Bellman))}"
            )
        if self.method not in ("auto", "sweeps", "newton"):
            raise InvalidInputError(
                f"method is {self.method!r}; expected 'auto', 'sweeps' or 'newton'"
            )
        for name in ("max_sweeps", "horizon"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidInputError(f"{name} is {value}; expected at least 1")
        for name in ("inverse_temperature", "tolerance"):
            value = getattr(self, name)
            if not (value > 0 and math.isfinite(value)):
                raise InvalidInputError(f"{name} is {value}; expected a positive number")

    def dynamics(self, mdp: TabularMDP) -> TabularMDP:
        """The states that policies are of: those of the MDP, or a copy of them for each step."""
        return mdp if self.horizon is None else unroll(mdp, self.horizon)

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
        return policy, solution.linearisation

    def policy_of_values(
        self, mdp: TabularMDP, rewards: FloatArray, values: FloatArray
    ) -> TabularPolicy:
        """The policy of one reward table whose values, `S`, are known: nothing is solved."""
        equation = self.equation(mdp, rewards[None])
        log_policy = equation.log_policies(equation.q(values[:, None]))[..., 0]
        return TabularPolicy(np.ascontiguousarray(log_policy), values=values)

    def equation(self, mdp: TabularMDP, rewards: FloatArray) -> BellmanEquation:
        """The equation of reward tables `n x S x A`, or `n x S x 1`, on `dynamics(mdp)`."""
        table = np.moveaxis(rewards, 0, -1)
        if self.horizon is not None:
            table = np.tile(table, (self.horizon + 1, 1, 1))
        table = np.ascontiguousarray(table)
        return BellmanEquation(self.dynamics(mdp), table, self.bellman, self.inverse_temperature)

    def solve_batch(
        self, mdp: TabularMDP, rewards: FloatArray, warm_start: FloatArray | None = None
    ) -> ValueSolution:
        """Solve for all reward tables `n x S x A` (or `n x S x 1`), from values `n x S`, if any."""
        shape = rewards.shape[1:]
        if shape not in ((mdp.n_states, mdp.n_actions), (mdp.n_states, 1)):
            raise InvalidInputError(
                f"a reward table has shape {shape}; expected {mdp.n_states} x {mdp.n_actions}, or "
                f"{mdp.n_states} x 1 for rewards on states"
            )
        if self.horizon is not None:
            return self._solve_backwards(mdp, rewards)
        equation = self.equation(mdp, rewards)
        start = np.zeros((mdp.n_states, len(rewards)))
        if warm_start is not None:
            start = warm_start.T.copy()
        start[mdp.terminal] = 0.0
        linearisation = None
        if self._by_newton(mdp):
            swept, linearisation = newton(equation, start, self.tolerance)
        elif self.method == "sweeps" or self.max_sweeps is not None or _endless(mdp):
            swept = sweep(equation, start, self.tolerance, self._most_sweeps(equation))
        elif self.bellman == "boltzmann":
            swept, linearisation = sweep_and_newton_in_turns(equation, start, self.tolerance)
        else:
            limit = self._most_sweeps(equation)
            swept, linearisation = sweep_then_newton(equation, start, self.tolerance, limit)
        log_policies = equation.log_policies(equation.q(swept.values))
        return ValueSolution(
            np.ascontiguousarray(swept.values.T),
            np.ascontiguousarray(np.moveaxis(log_policies, -1, 0)),
            swept.residuals,
            swept.converged,
            swept.sweeps,
            linearisation,
        )

    def _solve_backwards(self, mdp: TabularMDP, rewards: FloatArray) -> ValueSolution:
        """The exact solution of a finite horizon, `n x ((H + 1) S)`."""
        assert self.horizon is not None
        one_step = replace(self, horizon=None).equation(mdp, rewards)
        values, log_policies = back_up_to_start(one_step, self.horizon)
        finite = np.asarray(np.isfinite(values).all(axis=0))
        return ValueSolution(
            np.ascontiguousarray(values.T),
            np.ascontiguousarray(np.moveaxis(log_policies, -1, 0)),
            np.where(finite, 0.0, np.inf),
            finite,
            self.horizon,
        )

    def _by_newton(self, mdp: TabularMDP) -> bool:
        """Whether Newton steps are taken from the start."""
        if self.method == "newton":
            if _endless(mdp):
                raise InvalidInputError(
                    "method 'newton' needs gamma below 1, or a terminal state that can be reached "
                    "from everywhere; use 'sweeps'"
                )
            return True
        plain = self.method == "auto" and self.max_sweeps is None
        large = mdp.n_states >= CHAINS_FROM_STATES and mdp.next_states is not None
        return plain and large and self.bellman != "boltzmann" and not _endless(mdp)

    def _most_sweeps(self, equation: BellmanEquation) -> int:
        if self.max_sweeps is not None:
            return self.max_sweeps
        gamma = equation.mdp.gamma
        if gamma == 1.0 or self.bellman == "boltzmann":
            return UNGUARANTEED_SWEEPS
        return contraction_limit(gamma, self.tolerance, equation.rewards, self.inverse_temperature)

    def failure(self, solution: ValueSolution, index: int) -> str:
        """One line that says how the reward with this number failed, and what may help."""
        advice = {
            "max": "use gamma below 1, or declare terminal states that every good policy reaches",
            "logsumexp": "use gamma below 1, or declare terminal states and keep rewards so low "
            "that the sum over paths exists",
            "boltzmann": "this operator is not a contraction: lower the inverse temperature, or "
            "use 'logsumexp'",
        }[self.bellman]
        return (
            f"the {self.bellman} values did not converge: after {solution.sweeps} sweeps they "
            f"still change by {solution.residuals[index]:.3g} per sweep, expected at most "
            f"{self.tolerance:g}; {advice}"
        )


def _endless(mdp: TabularMDP) -> bool:
    """Whether values need not be finite: without a discount, and without an end."""
    return mdp.gamma == 1.0 and not mdp.always_ends
