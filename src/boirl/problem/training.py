"""Training runs for one theta, and what is measured of the policies they end with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from boirl.errors import SolverError
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Run, Solver, Task
from boirl.problem.likelihood import trajectory_log_likelihoods
from boirl.problem.outcomes import Outcome
from boirl.problem.workers import reason_of
from boirl.types import FloatArray, Report

if TYPE_CHECKING:
    from boirl.problem.simulated import GymProblem

WORSE_THAN_CHANCE = 3.0
"""Standard errors by which a policy must be worse than random actions to count as not learned."""

RETURN_STREAM = 5


def train(problem: GymProblem, task: Task, runs: Sequence[Run], report: Report) -> list[Outcome]:
    """Learn, and measure what comes out; in a process of its own.

    Raises:
        SolverError: No run succeeded.
    """
    outcomes: list[Outcome] = []
    failures: list[str] = []
    simulator = problem.simulator
    for run, learned in _policies(problem.solver, task, runs, report, failures):
        policy = learned
        if problem.likelihood is not None:
            policy = learned.with_actions(problem.likelihood)
        log_likelihoods = trajectory_log_likelihoods(policy, problem.demonstrations)
        # The same starts and random numbers for all runs, so that they compare well.
        rng = np.random.default_rng([0, RETURN_STREAM])
        rolled_out = simulator.roll_out(policy, simulator.rollouts_to_compare, problem.steps, rng)
        returns = problem.returns(rolled_out, task.theta)
        warm = run.warm_start is not None
        outcome = Outcome(policy, log_likelihoods, float(returns.mean()), warm)
        chance = problem.returns(problem.uniform_rollouts, task.theta)
        failure = _failure(outcome.nll, returns, chance)
        if failure is None:
            outcomes.append(outcome)
        else:
            failures.append(failure)
    if not outcomes:
        raise SolverError("; ".join(dict.fromkeys(failures)))
    return outcomes


def _policies(
    solver: Solver, task: Task, runs: Sequence[Run], report: Report, failures: list[str]
) -> Iterator[tuple[Run, NetworkPolicy]]:
    """The policies of the runs that succeed; where one fails, the others are run alone."""
    try:
        yield from zip(runs, solver.solve_all(task, runs, report), strict=True)
    except Exception as error:
        failures.append(reason_of(error))
        if len(runs) > 1:
            for run in runs:
                yield from _policies(solver, task, [run], report, failures)


def _failure(nll: float, returns: FloatArray, chance: FloatArray) -> str | None:
    """Why a policy does not count, given its returns and those of random actions."""
    if not math.isfinite(nll):
        return f"the NLL of the learned policy is {nll}; expected a finite number"
    error = math.hypot(*(part.std() / math.sqrt(len(part)) for part in (returns, chance)))
    if returns.mean() < chance.mean() - WORSE_THAN_CHANCE * error - 1e-9:
        return (
            f"nothing was learned: the mean return {returns.mean():.4g} is below that of "
            f"random actions, {chance.mean():.4g}; train for longer or change the settings of "
            "the solver"
        )
    return None
