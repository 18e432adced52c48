"""The rows of the rho-projection that belong to the demonstrations of one site."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import DemonstrationError
from boirl.problem import TabularProblem
from boirl.rewards import RewardFamily
from boirl.rewards.family import DependsOn
from boirl.surrogate.latent import jacobians
from boirl.threads import single_thread
from boirl.types import FloatArray, IntArray

REWARDS_AT_ONCE = 2_000_000
"""Rewards that are held in memory; more thetas go in batches, whatever the demonstrations are."""


class RhoPart:
    """`log rho_k(theta)` of `K` demonstrations, as of `boirl.projections.LogRho`, with derivatives.

    A row is computed from its own demonstration and roll-outs alone, and rewards for all
    transitions of the dynamics: to the last bit it is the same, whichever other demonstrations
    there are. So a search with several sites goes exactly where it goes with one. (`LogRho` leaves
    the order of its sums to matrix products, where it depends on the size of the matrix.)

    Args:
        problem: Gives dynamics and discount.
        reward: The family to project with.
        sets: For each row, the demonstration and its roll-outs.
    """

    def __init__(
        self, problem: TabularProblem, reward: RewardFamily, sets: Sequence[Demonstrations]
    ) -> None:
        together = Demonstrations.concatenate([problem.complete(one) for one in sets])
        self.reward = reward
        self.transitions = problem.mdp.paid_transitions(reward.depends_on)
        self._columns = _columns(problem.mdp, reward.depends_on, together)
        self._weights = problem.gamma**together.step_numbers
        self._trajectories = np.cumsum(together.lengths) - together.lengths
        self._sizes = np.array([len(one) for one in sets])
        self._rows = np.cumsum(self._sizes) - self._sizes

    def __call__(
        self, thetas: FloatArray, slopes: bool = False
    ) -> tuple[FloatArray, FloatArray | None]:
        """Values `n x K` at thetas `n x d` and, if asked for, derivatives by theta, `n x K x d`.

        There are no derivatives where the reward family is not differentiable.
        """
        at_once = max(1, REWARDS_AT_ONCE // len(self.transitions))
        parts = [
            self._project(thetas[first : first + at_once], slopes)
            for first in range(0, len(thetas), at_once)
        ]
        values = np.concatenate([part[0] for part in parts])
        derivatives = [part[1] for part in parts if part[1] is not None]
        return values, np.concatenate(derivatives) if len(derivatives) == len(parts) else None

    def _project(self, thetas: FloatArray, slopes: bool) -> tuple[FloatArray, FloatArray | None]:
        with single_thread():
            returns = self._returns(self._rewards(thetas))
            highest = np.maximum.reduceat(returns, self._rows, axis=-1)
            shares = np.exp(returns - np.repeat(highest, self._sizes, axis=-1))
            totals = np.add.reduceat(shares, self._rows, axis=-1)
            values = returns[:, self._rows] - highest - np.log(totals)
            by_theta = self._reward_slopes(thetas) if slopes else None
            if by_theta is None:
                return values, None
            rises = self._returns(by_theta)
            shares /= np.repeat(totals, self._sizes, axis=-1)
            expected = np.add.reduceat(shares[:, None] * rises, self._rows, axis=-1)
            return values, np.moveaxis(rises[..., self._rows] - expected, 1, 2)

    def _returns(self, rewards: FloatArray) -> FloatArray:
        """From rewards of all transitions, `... x D`, to discounted sums, `... x N`."""
        steps = rewards[..., self._columns] * self._weights
        return np.asarray(np.add.reduceat(steps, self._trajectories, axis=-1))

    def _rewards(self, thetas: FloatArray) -> FloatArray:
        with torch.no_grad():
            rewards: FloatArray = self.reward(torch.tensor(thetas), self.transitions).numpy()
        return rewards

    def _reward_slopes(self, thetas: FloatArray) -> FloatArray | None:
        """Derivatives of the rewards of all transitions, `n x d x D`; None where there are none."""
        with torch.enable_grad():
            probe = torch.tensor(thetas[:1], requires_grad=True)
            if not self.reward(probe, self.transitions).requires_grad:
                return None
        found = jacobians(lambda rows: self.reward(rows, self.transitions), torch.tensor(thetas))
        return np.ascontiguousarray(found.permute(0, 2, 1).numpy())


def _columns(mdp: TabularMDP, depends_on: DependsOn, steps: Demonstrations) -> IntArray:
    """Which of `mdp.paid_transitions` each step is, `T`."""
    if depends_on == "state":
        return steps.states
    pairs = steps.states * mdp.n_actions + steps.actions
    if depends_on == "state_action":
        return pairs
    known = mdp.paid_transitions(depends_on)
    assert known.actions is not None
    assert known.next_states is not None
    keys = (known.states * mdp.n_actions + known.actions) * mdp.n_states + known.next_states
    order = np.argsort(keys, kind="stable")
    wanted = pairs * mdp.n_states + steps.next_states
    places = order[np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)]
    if (keys[places] != wanted).any():
        raise DemonstrationError(
            "a demonstration holds a step that the dynamics say is impossible, and the reward "
            "depends on where steps lead; leave that demonstration out"
        )
    return places
