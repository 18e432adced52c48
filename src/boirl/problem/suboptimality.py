"""Reward compatibility: how much less than the optimum a demonstrator earns under a reward.

Lazzati, Mutti and Metelli (2024) call `max_pi J(pi; r) - J(demonstrator; r)` the
(non)compatibility of a reward `r` with a demonstrator: 0 where all it does is optimal. With the
optimal values `V*` and `Q*` under `r`, the performance-difference lemma says that this is

    E[ sum_t gamma^t (V*(s_t) - Q*(s_t, a_t)) ]

over the demonstrator's trajectories. The sum over a demonstrated trajectory is its *shortfall*. It
is `V*(s_0)` less the discounted return of the trajectory, but for the luck of the transitions,
which has mean 0 and is left out, and for what follows a trajectory that was cut off, which is taken
to be optimal. So it is never negative, and trajectories of any lengths can be averaged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boirl.environments import TabularMDP
from boirl.policies import TabularPolicy
from boirl.types import FloatArray, IntArray

if TYPE_CHECKING:
    from boirl.problem.tabular import TabularProblem

NOTHING_AT_STAKE = 1e-9
"""Shortfall of uniform choice, as a share of the largest value, up to which it counts as none."""


@dataclass(frozen=True, eq=False, repr=False)
class Suboptimality:
    """How far a demonstrator is from optimal under a reward.

    Attributes:
        theta: The reward, `d`.
        shortfalls: Of each demonstration, `N`: what it loses to the optimum from its own start on.
        uniform_shortfalls: What uniform choice between all actions loses on average from the same
            starts in as many steps, `N`; the horizon of the problem where a demonstration ended in
            a terminal state.
        scale: Largest absolute optimal value, for rounding.
    """

    theta: FloatArray
    shortfalls: FloatArray
    uniform_shortfalls: FloatArray
    scale: float

    @property
    def shortfall(self) -> float:
        """Mean over the demonstrations, in units of the reward."""
        return float(self.shortfalls.mean())

    @property
    def relative(self) -> float:
        """Mean shortfall as a share of that of uniform choice.

        0 is optimal, 1 as bad as uniform choice. The scale of a reward does not matter, nor does
        potential shaping. NaN where the reward leaves nothing to choose.
        """
        chance = float(self.uniform_shortfalls.mean())
        if chance <= NOTHING_AT_STAKE * max(self.scale, 1e-300):
            return float("nan")
        return self.shortfall / chance

    @property
    def standard_error(self) -> float:
        """Of `relative`, from the spread of the demonstrations; NaN with a single one."""
        n = len(self.shortfalls)
        if n < 2 or np.isnan(self.relative):
            return float("nan")
        spread = float(self.shortfalls.std(ddof=1)) / n**0.5
        return spread / float(self.uniform_shortfalls.mean())

    def __repr__(self) -> str:
        return f"Suboptimality(relative {self.relative:.4f}, {len(self.shortfalls)} demonstrations)"

    def __str__(self) -> str:
        if np.isnan(self.relative):
            return "under this reward all behaviour earns the same, so that nothing is suboptimal"
        error = "" if np.isnan(self.standard_error) else f" ± {self.standard_error:.3f}"
        return (
            f"suboptimality {self.relative:.3f}{error} (0: optimal, 1: uniform choice); the "
            f"demonstrator earns {self.shortfall:.4g} less than the optimum"
        )


def tabular_suboptimality(
    problem: TabularProblem, theta: FloatArray, rewards: FloatArray
) -> Suboptimality:
    """Shortfalls under a reward table, `S x A` or `S x 1`, with exact optimal values.

    Raises:
        SolverError: There are no optimal values.
    """
    solver = replace(problem.solver, bellman="max")
    values = solver.solve(problem.mdp, rewards).values
    assert values is not None
    q = solver.equation(problem.mdp, rewards[None]).q(values[:, None])[..., 0]
    losses = np.maximum(values[:, None] - q, 0.0)
    dynamics = problem.dynamics
    losses[dynamics.terminal] = 0.0
    steps = problem.explained_steps
    discounted = dynamics.gamma**steps.step_numbers * losses[steps.states, steps.actions]
    shortfalls = np.bincount(steps.trajectory_numbers, discounted, len(steps))
    last = steps.next_states[np.cumsum(steps.lengths) - 1]
    ended = (last >= 0) & dynamics.is_terminal[last]
    horizons = np.where(ended, np.maximum(problem.steps, steps.lengths), steps.lengths)
    chance = _uniform_losses(dynamics, losses, steps.starts, horizons)
    return Suboptimality(
        theta, shortfalls.astype(np.float64), chance, float(np.abs(values).max(initial=0.0))
    )


def _uniform_losses(
    dynamics: TabularMDP, losses: FloatArray, starts: IntArray, horizons: IntArray
) -> FloatArray:
    """Expected discounted losses of uniform choice from starts over horizons, `N`."""
    chances = TabularPolicy.uniform(dynamics).probabilities
    expected = np.zeros(len(starts))
    values = np.zeros((dynamics.n_states, 1))
    for horizon in range(1, int(horizons.max()) + 1):
        following = dynamics.gamma * dynamics.expect_next(values)[..., 0]
        values = (chances * (losses + following)).sum(axis=1, keepdims=True)
        now = horizons == horizon
        expected[now] = values[starts[now], 0]
    return expected
