"""Roll-outs to compare demonstrations with: from the uniform policy, or from any others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.problem import Problem


def sample_rollouts(
    problem: Problem[Any],
    demonstrations: Demonstrations,
    n: int,
    rng: np.random.Generator,
    policies: Sequence[Any] = (),
) -> list[Demonstrations]:
    """For each demonstration, trajectories of the same start and length.

    Args:
        problem: Where to roll out.
        demonstrations: `K` of them.
        n: Roll-outs per demonstration and policy.
        rng: All randomness comes from here.
        policies: Whose actions to take, for instance `problem.policy(theta)` of rewards already
            solved; none for the uniform policy.

    Returns:
        `K` sets of `count * max(1, len(policies))` trajectories.
    """
    if n < 1:
        raise InvalidInputError(f"n is {n}; expected at least one roll-out")
    sets = []
    for start, length in zip(demonstrations.starts, demonstrations.lengths, strict=True):
        starts = np.repeat(start[None], n, axis=0)
        runs = [
            problem.roll_out(policy, starts, int(length), rng) for policy in policies or (None,)
        ]
        sets.append(Demonstrations.concatenate(runs))
    return sets


def choose_demonstrations(
    demonstrations: Demonstrations, n: int, rng: np.random.Generator
) -> Demonstrations:
    """`n` demonstrations drawn without replacement; all of them where there are fewer."""
    if n < 1:
        raise InvalidInputError(f"n is {n}; expected at least one demonstration")
    chosen = rng.permutation(len(demonstrations))[:n]
    return demonstrations.subset(chosen)
