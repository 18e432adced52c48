"""Trajectories of a policy as somebody would show them: long enough, and over when they end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from boirl.demonstrations import Demonstrations

if TYPE_CHECKING:
    from boirl.problem.base import Problem


def horizon_of(problem: Problem[Any]) -> int:
    """Steps of a trajectory: those of the problem (`steps`), or of its longest demonstration."""
    steps = getattr(problem, "steps", None)
    return int(problem.demonstrations.lengths.max()) if steps is None else int(steps)


def walk_from(
    problem: Problem[Any], policy: Any, starts: Any, horizon: int, rng: np.random.Generator
) -> Demonstrations:
    """Trajectories of a policy from some starts, without what follows their end.

    Where a problem names the state in which trips have ended (`end_state`), the steps that only
    stay there are left out.
    """
    drawn = problem.roll_out(policy, starts, horizon, rng)
    end = getattr(problem, "end_state", None)
    return drawn if end is None else without_stay(drawn, end)


def without_stay(trajectories: Demonstrations, end: Any) -> Demonstrations:
    """Trajectories without the steps from an end state on; one step remains of each at least."""
    kept = (trajectories.states != end) | (trajectories.step_numbers == 0)
    lengths = np.bincount(trajectories.trajectory_numbers, kept, len(trajectories))
    return replace(
        trajectories,
        states=trajectories.states[kept],
        actions=trajectories.actions[kept],
        next_states=trajectories.next_states[kept],
        lengths=lengths.astype(np.int64),
    )
