"""Sweeps and Newton steps together: from a start to the fixed points of many Bellman equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from boirl.policies.linear_systems import Linearisation, linearise, structure_of
from boirl.policies.newton import (
    MAX_STEPS,
    NewtonResult,
    Step,
    chain_step,
    iterate,
    iterate_dense,
    newton_step,
    shared_soft_step,
)
from boirl.policies.operators import BellmanEquation
from boirl.policies.sweeps import Swept, enough, sweep, sweep_coarsely, worth_sweeping
from boirl.types import FloatArray, IntArray

SWEEPS_PER_ROUND = 500
ROUNDS = 10
POLISHING_STEPS = 12
"""Of `boltzmann`: sweeps between two tries of so many Newton steps at most, and tries in all."""

DENSE_ENTRIES = 250_000
"""Entries of the matrices that are solved at once: what fits the cache of a core."""

Found = tuple[Swept, Linearisation | None]
"""What was found, and the system at the values where there is a single equation."""


def sweep_then_newton(
    equation: BellmanEquation, start: FloatArray, tolerance: float, limit: int
) -> Found:
    """Sweeps as long as they pay, then Newton steps for what is left; from values `S x n`."""
    # Without a discount sweeps may creep. A few of them do spare `max` some Newton steps, always.
    if equation.mdp.gamma == 1.0 or (
        equation.bellman == "logsumexp" and not worth_sweeping(equation)
    ):
        return newton(equation, start, tolerance)
    equation = equation.for_sweeps_from(start)
    near = sweep_coarsely(equation, start)
    swept = sweep(equation, near, tolerance, limit, shift=True, patience=True)
    left = np.flatnonzero(~swept.converged & np.isfinite(swept.residuals))
    if not left.size:
        return swept, None
    solved, linearisation = newton(equation.of(left), swept.values[:, left], tolerance)
    return _merge(swept, left, solved), linearisation if equation.size == 1 else None


def sweep_and_newton_in_turns(
    equation: BellmanEquation, start: FloatArray, tolerance: float
) -> Found:
    """Sweeps that lead near a fixed point of `boltzmann`, then Newton steps onto it.

    From afar its Newton steps lead anywhere. So a few are tried after every round of sweeps, and
    where they do not arrive the sweeps go on from where they were.

    There may be several fixed points, and the one that sweeps find follows from the start. The
    first sweeps, in single precision, are the same sweeps up to rounding, and are made use of only
    where they have settled after a few (`sweep_coarsely`): where they contract so fast, rounding
    fades away as well, and does not lead to another fixed point. All others start again in double.
    """
    equation = equation.for_sweeps_from(start)
    reached, linearisation = _nothing_yet(sweep_coarsely(equation, start)), None
    for number in range(ROUNDS):
        left = np.flatnonzero(~reached.converged)
        swept = sweep(
            equation.of(left),
            reached.values[:, left],
            tolerance,
            SWEEPS_PER_ROUND,
            shift=True,
            patience=number == 0,
        )
        reached = _merge(reached, left, swept)
        left = np.flatnonzero(~reached.converged & np.isfinite(reached.residuals))
        if not left.size:
            break
        start_here = reached.values[:, left]
        polished, linearisation = newton(equation.of(left), start_here, tolerance, POLISHING_STEPS)
        arrived = np.flatnonzero(polished.converged)
        reached = _merge(reached, left[arrived], polished.of(arrived))
        if reached.converged.all():
            break
    single = equation.size == 1 and bool(reached.converged.all())
    return reached, linearisation if single else None


def newton(
    equation: BellmanEquation, values: FloatArray, tolerance: float, max_steps: int = MAX_STEPS
) -> Found:
    """Newton steps for all equations, from values `S x n`."""
    if equation.size == 1 or structure_of(equation.mdp).kind != "dense":
        results = _one_by_one(equation, values, tolerance, max_steps)
        linearisation = results[0].linearisation if len(results) == 1 else None
        return _collect(results, tolerance), linearisation
    at_once = max(1, DENSE_ENTRIES // equation.mdp.n_states**2)
    reached, steps = _nothing_yet(values), 0
    for first in range(0, equation.size, at_once):
        some = np.arange(first, min(first + at_once, equation.size))
        own, start = equation.of(some), values[:, some]
        try:
            solved = iterate_dense(own, start, tolerance, max_steps)
        except np.linalg.LinAlgError:
            # A singular matrix ends one of them, not the others.
            solved = _collect(_one_by_one(own, start, tolerance, max_steps), tolerance)
        reached = _merge(reached, some, solved)
        steps = max(steps, solved.sweeps)
    return replace(reached, sweeps=steps), None


def _one_by_one(
    equation: BellmanEquation, values: FloatArray, tolerance: float, max_steps: int
) -> list[NewtonResult]:
    return [
        _newton_of_one(equation.of(np.array([number])), values[:, number], tolerance, max_steps)
        for number in range(equation.size)
    ]


def _newton_of_one(
    equation: BellmanEquation, values: FloatArray, tolerance: float, max_steps: int
) -> NewtonResult:
    mdp, rewards = equation.mdp, equation.rewards[..., 0]
    step: Step = newton_step(equation)
    if mdp.next_states is not None and mdp.gamma < 1.0 and equation.bellman != "boltzmann":
        hard = chain_step(mdp, rewards)
        if equation.bellman == "max":
            return iterate(hard, values, tolerance, max_steps)
        # Chains are so quick that it pays to begin with the values of the best actions.
        values = iterate(hard, values, tolerance, max_steps).values
        if rewards.shape[1] == 1:
            step = shared_soft_step(mdp, rewards[:, 0], equation.beta)
    elif mdp.gamma == 1.0 and equation.bellman == "max":
        # Only values of a policy that ends are sure to lead to others that end.
        values = _uniform_values(equation)
    return iterate(step, values, tolerance, max_steps)


def _uniform_values(equation: BellmanEquation) -> FloatArray:
    """Values of uniformly random actions, `S`."""
    mdp, rewards = equation.mdp, equation.rewards[..., 0]
    weights = np.full((mdp.n_states, mdp.n_actions), 1.0 / mdp.n_actions)
    paid = rewards.mean(axis=1)
    weights[mdp.terminal], paid[mdp.terminal] = 0.0, 0.0
    return linearise(mdp, weights).solve(paid)


def _collect(results: Sequence[NewtonResult], tolerance: float) -> Swept:
    values = np.stack([result.values for result in results], axis=1)
    residuals = np.array([result.residual for result in results])
    steps = max(result.steps for result in results)
    return Swept(values, residuals, residuals <= enough(values, tolerance), steps)


def _nothing_yet(values: FloatArray) -> Swept:
    n = values.shape[1]
    return Swept(values, np.full(n, np.inf), np.zeros(n, dtype=bool), 0)


def _merge(found: Swept, some: IntArray, part: Swept) -> Swept:
    """What was found for all equations, with what was found since for some of them."""
    values, residuals = found.values.copy(), found.residuals.copy()
    converged = found.converged.copy()
    values[:, some], residuals[some], converged[some] = part.values, part.residuals, part.converged
    return Swept(values, residuals, converged, found.sweeps + part.sweeps)
