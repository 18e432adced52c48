"""One set of Fetch-Reach transitions that serves every reward, since the dynamics know no goal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boirl.cache import cached_arrays
from boirl.domains.fetch.environment import (
    ACHIEVED,
    ACTION_SIZE,
    DESIRED,
    OBSERVATION_SIZE,
    START,
    draw_goals,
    flatten,
    make_fetch_reach,
)
from boirl.errors import InvalidInputError, StorageError
from boirl.types import FloatArray, IntArray, Report, silent

CACHE = "fetch-reach"

BEHAVIOUR = 1
"""Raised whenever what the gripper does here changes, so that older files are left alone."""

EPISODE = 20
"""Steps of an episode: short ones visit the start, from where demonstrations set out, often."""

AIM_RANGE = 0.2
"""The gripper wanders in a cube a little larger than that of the goals."""

NEARNESS = 0.01
"""Standard deviation, in each direction, of a goal in hindsight from what was achieved."""


@dataclass(frozen=True, eq=False)
class GoalTransitions:
    """`T` transitions whose goals are free to change.

    Args:
        states: Observations, `T x 16`.
        actions: `T x 4`.
        next_states: Observations that followed, `T x 16`.
        ends: Index of the last transition of the same episode, `T`.
    """

    states: FloatArray
    actions: FloatArray
    next_states: FloatArray
    ends: IntArray

    def __len__(self) -> int:
        return len(self.states)

    def draw(
        self, n: int, hindsight: float, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Random states, actions and next states, `n` each, with goals drawn again.

        A share `hindsight` of the goals is close to what the same episode achieved then or later,
        as in hindsight experience replay; the others come from the environment's distribution.
        Close, and not exactly: no policy ever meets a goal to the last digit, so that a threshold
        of 0 must never be rewarded here either.
        """
        rows = rng.integers(len(self), size=n)
        later = rng.integers(rows, self.ends[rows], endpoint=True)
        near = self.next_states[later, ACHIEVED] + rng.normal(0.0, NEARNESS, (n, 3))
        goals = np.where(rng.random((n, 1)) < hindsight, near, draw_goals(n, rng))
        states, next_states = self.states[rows], self.next_states[rows]
        states[:, DESIRED] = next_states[:, DESIRED] = goals
        return states, self.actions[rows], next_states


@dataclass(frozen=True)
class FetchTransitions:
    """Names a set of transitions by its size and seed; they are collected when first asked for."""

    count: int = 25_000
    seed: int = 0

    def load(self, report: Report = silent) -> GoalTransitions:
        """The transitions, from the cache or, with a report, from the environment."""
        return collect_transitions(self.count, self.seed, report)


def collect_transitions(n: int = 25_000, seed: int = 0, report: Report = silent) -> GoalTransitions:
    """Transitions of random behaviour; they are kept in the cache, in `fetch-reach`.

    25,000 take about 25 seconds. Two processes that collect the same ones do no harm.

    Args:
        n: Number of transitions.
        seed: The same transitions follow from the same seed.
        report: Called with the share that is done.
    """
    if n < 1:
        raise InvalidInputError(f"there are {n} transitions; expected one or more")
    key = ("transitions", BEHAVIOUR, n, seed)
    arrays = cached_arrays(CACHE, key, lambda: _wander(n, seed, report))
    shapes = {name: array.shape for name, array in arrays.items()}
    expected = {
        "states": (n, OBSERVATION_SIZE),
        "actions": (n, ACTION_SIZE),
        "next_states": (n, OBSERVATION_SIZE),
        "ends": (n,),
    }
    if shapes != expected or not all(np.isfinite(array).all() for array in arrays.values()):
        raise StorageError(
            f"the cached transitions have the shapes {shapes}, expected finite ones of {expected}; "
            f"remove the folder {CACHE!r} of boirl's cache, and they are collected again"
        )
    return GoalTransitions(**arrays)


def _wander(n: int, seed: int, report: Report) -> dict[str, NDArray[Any]]:
    """Let the gripper head for random places, with random haste and noise.

    Uniformly random actions would cancel out and hover around the start.
    """
    rng = np.random.default_rng(seed)
    states, next_states = (np.empty((n, OBSERVATION_SIZE)) for _ in range(2))
    actions = np.zeros((n, ACTION_SIZE))
    env = make_fetch_reach()
    state = aim = START
    haste = 1.0
    try:
        for step in range(n):
            if step % EPISODE == 0:
                state = flatten(env.reset(seed=None if step else seed)[0])
            if step % EPISODE == 0 or rng.random() < 0.15:
                aim = START + rng.uniform(-AIM_RANGE, AIM_RANGE, 3)
                haste = rng.uniform(0.0, 30.0)
            noise = rng.normal(0.0, rng.uniform(0.1, 1.0), 3)
            actions[step, :3] = np.clip(haste * (aim - state[ACHIEVED]) + noise, -1.0, 1.0)
            states[step] = state
            state = flatten(env.step(actions[step].astype(np.float32))[0])
            next_states[step] = state
            if step % 500 == 0:
                report(step / n, f"{step} of {n} transitions collected")
    finally:
        env.close()
    steps = np.arange(n)
    ends = np.minimum(steps - steps % EPISODE + EPISODE, n) - 1
    return {"states": states, "actions": actions, "next_states": next_states, "ends": ends}
