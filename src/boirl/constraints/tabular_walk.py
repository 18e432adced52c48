"""Where a policy goes on a table, exactly, and how that depends on each of its choices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boirl.errors import InvalidInputError
from boirl.problem import TabularProblem
from boirl.types import FloatArray


class TabularWalk:
    """Where a policy is after each step on a table, exactly.

    Args:
        problem: The table.
        policy: On its states, or on a copy of them for each step.
        start: Distribution of the first state, `S`.
        steps: How many.
    """

    def __init__(
        self, problem: TabularProblem, policy: Any, start: ArrayLike | None, steps: int | None
    ) -> None:
        self.mdp, self.policy = problem.dynamics, policy
        self.n = problem.mdp.n_states
        self.steps = problem.steps if steps is None else steps
        first = problem.mdp.start if start is None else np.asarray(start, dtype=np.float64)
        if first.shape != (self.n,):
            raise InvalidInputError(
                f"the start has shape {first.shape}; expected {self.n} probabilities, one per state"
            )
        self.first = np.concatenate([first, np.zeros(self.mdp.n_states - self.n)])
        self._forward = self.mdp.chain(policy.probabilities).T.tocsr()

    def _everywhere(self, by_state: Any) -> Any:
        """What is known of each state, for a copy of it for each step."""
        copies = self.mdp.n_states // self.n
        return np.tile(by_state, (copies, *(1,) * (np.ndim(by_state) - 1)))

    def reach(self, where: Any) -> float:
        """Probability to be in one of some states, a mask `S`, at any time."""
        inside = self._everywhere(where)
        now, reached = self.first, float(self.first[inside].sum())
        for _ in range(self.steps):
            now = self._forward @ np.where(inside, 0.0, now)
            reached += float(now[inside].sum())
        return min(1.0, reached)

    def total(self, per_step: FloatArray, ended: Any) -> float:
        """What adds up on average, given `S x A` and a mask of states without, `S`."""
        gained = (self._everywhere(per_step) * self.policy.probabilities).sum(axis=1)
        done = self._everywhere(ended)
        now, total = np.where(done, 0.0, self.first), 0.0
        for _ in range(self.steps):
            total += float(now @ gained)
            now = np.where(done, 0.0, self._forward @ now)
        return total

    def reach_by_choice(self, where: Any) -> FloatArray:
        """Derivative of `reach` by the probability of each choice, of the shape of the policy."""
        inside = self._everywhere(where)
        return self._by_choice(0.0, inside, inside.astype(np.float64))

    def total_by_choice(self, per_step: FloatArray, ended: Any) -> FloatArray:
        """Derivative of `total` by the probability of each choice, of the shape of the policy."""
        done = self._everywhere(ended)
        return self._by_choice(self._everywhere(per_step), done, np.zeros(len(done)))

    def _by_choice(self, gained: Any, done: Any, when_done: FloatArray) -> FloatArray:
        """How often a state is come to, times what its choices lead to in the steps that are left.

        Args:
            gained: What a choice gains at once, `S x A`.
            done: The states in which all ends, a mask `S`.
            when_done: What they are worth, `S`, 0 elsewhere.
        """
        visits = [np.where(done, 0.0, self.first)]
        for _ in range(self.steps - 1):
            visits.append(np.where(done, 0.0, self._forward @ visits[-1]))
        chances = self.policy.probabilities
        worth, found = when_done, np.zeros(chances.shape)
        for now in reversed(visits):
            by_choice = gained + self.mdp.expect_next(worth[:, None])[..., 0]
            found += now[:, None] * by_choice
            worth = np.where(done, when_done, (chances * by_choice).sum(axis=1))
        return found
