"""Where a question may start, and what states are called."""

from __future__ import annotations

from typing import Any

import numpy as np

from boirl.problem import Problem, TabularProblem
from boirl.problem.simulated import GymProblem

DRAWN_STARTS = 24
"""Starts to choose from where environments draw them, beside those of demonstrations."""


def possible_starts(problem: Problem[Any], rng: np.random.Generator) -> Any:
    """Where trajectories of a problem may start, a row each.

    All states that are not terminal, of a table; what the environment draws, of a simulator; what
    the problem itself says (`possible_starts`), or where its demonstrations start.
    """
    if isinstance(problem, TabularProblem):
        return np.flatnonzero(~problem.mdp.is_terminal)
    if isinstance(problem, GymProblem):
        return problem.simulator.roll_out(None, DRAWN_STARTS, 1, rng).starts
    own = getattr(problem, "possible_starts", None)
    if own is not None:
        return own(DRAWN_STARTS, rng)
    return np.unique(problem.demonstrations.starts, axis=0)


def state_name(problem: Problem[Any], state: Any) -> str:
    """What a state is called in words: by the problem (`state_name`), its table, or a number."""
    own = getattr(problem, "state_name", None)
    if own is not None:
        return str(own(state))
    if isinstance(problem, TabularProblem) and np.ndim(state) == 0:
        return problem.mdp.state_label(int(state))
    if np.ndim(state) == 0:
        return f"state {int(state)}"
    return "(" + ", ".join(f"{value:.3g}" for value in np.asarray(state)[:4]) + ")"
