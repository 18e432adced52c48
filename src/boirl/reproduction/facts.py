"""What is exactly true of each problem, whoever searches: thresholds, optima, blind projections."""

from __future__ import annotations

from functools import partial

import numpy as np

from boirl.experiments.trials import Row, expert_esor
from boirl.problem import TabularProblem
from boirl.projections import LogRho, choose_demonstrations, sample_rollouts
from boirl.reproduction.environments import ENVIRONMENTS, build_problem
from boirl.reproduction.judging import (
    best_explanation,
    demonstrated_return,
    highest_esor,
    is_attainable,
)
from boirl.reproduction.plan import Plan
from boirl.reproduction.store import Cell, Store, Tables
from boirl.tolerance import likelihood_ratio_tolerance

DEMONSTRATION_SEEDS = 10
"""Sets of demonstrations of the exact protocol: trial `s` has those of seed `s` modulo this."""

TABLE = "problems"
SATURATION_ROLLOUTS = 50
"""Roll-outs per demonstration by which the projection is judged."""


def problem_cell(plan: Plan, environment: str, demonstrations: int | None) -> Cell:
    """Facts of one problem, with demonstrations of one seed."""
    return Cell(
        "problem",
        {"environment": environment, "demonstrations": demonstrations},
        {"quick": plan.quick},
        partial(_facts, environment, demonstrations, plan.quick, plan.data),
    )


def _facts(environment: str, demonstrations: int | None, quick: bool, data: str | None) -> Tables:
    problem = build_problem(environment, demonstrations, quick, data)
    count, dimension = len(problem.demonstrations), problem.box.dimension
    row: Row = {
        "count": count,
        "tolerance": likelihood_ratio_tolerance(count, dimension),
        "truth_nll": None,
        "expert_esor": None,
        "demonstrated_return": None,
        "lowest_nll": None,
        "lowest_nll_esor": None,
        "attainable": None,
        "highest_esor": None,
        "share_reaching": None,
        "drawn": None,
        "blind_share": None,
        "blind_share_dropped": None,
    }
    if problem.truth is not None:
        row["expert_esor"] = expert_esor(problem)
        row["demonstrated_return"] = demonstrated_return(problem)
    if isinstance(problem, TabularProblem) and problem.truth is not None:
        best = best_explanation(problem)
        highest, share, drawn = highest_esor(problem)
        row |= {
            "truth_nll": problem.nll(np.array(problem.truth)),
            "lowest_nll": best.nll,
            "lowest_nll_esor": best.esor,
            "attainable": is_attainable(problem),
            "highest_esor": max(highest, best.esor),
            "share_reaching": share,
            "drawn": drawn,
        }
    if isinstance(problem, TabularProblem):
        dropped = ENVIRONMENTS[environment].dropped
        row["blind_share"] = _blind_share(problem, environment, ())
        row["blind_share_dropped"] = _blind_share(problem, environment, dropped)
    return {TABLE: [row]}


def _blind_share(problem: TabularProblem, environment: str, drop: tuple[str, ...]) -> float:
    """The share of the box over which the projection with uniform roll-outs sees no difference."""
    rng = np.random.default_rng(0)
    own = ENVIRONMENTS[environment]
    chosen = choose_demonstrations(problem.demonstrations, own.projected, rng)
    rollouts = sample_rollouts(problem, chosen, min(own.rollouts, SATURATION_ROLLOUTS), rng)
    reward = problem.reward.fix(**dict.fromkeys(drop, 0.0))
    return LogRho(problem, chosen, rollouts, reward).blind_share(problem.box)


def fact_of(store: Store, environment: str, demonstrations: int | None) -> Row | None:
    """The facts of a problem that a store holds."""
    found = store.select(TABLE, environment=environment, demonstrations=demonstrations)
    return found[0] if found else None
