"""How well policies that were kept explain demonstrations: many at once, and nothing is solved.

What a policy does in a state follows from the values of the states that can come next. So it is
enough to look at the states that the demonstrations visit, for all policies together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from boirl.environments import TabularMDP
from boirl.evaluation import Evaluation
from boirl.rewards import RewardFamily, Transitions
from boirl.rewards.family import as_float64
from boirl.types import FloatArray, IntArray

if TYPE_CHECKING:
    from boirl.problem.tabular import TabularProblem

AT_ONCE = 2_000_000
"""State-actions times policies that are looked at together: 16 MB."""


def kept_tabular_log_likelihoods(
    problem: TabularProblem, evaluations: Sequence[Evaluation]
) -> FloatArray:
    """Log-likelihood of each demonstration under each of the values kept, `n x N`.

    For evaluations of the problem's own reward family that kept their policies.
    """
    steps = problem.explained_steps
    states, where = np.unique(steps.states, return_inverse=True)
    look = _LookAhead(problem, states)
    # One row per demonstration, one entry per step, so that steps add up in their order.
    places = steps.actions * len(states) + where
    first_steps = np.append(0, np.cumsum(steps.lengths))
    shape = (len(steps), problem.mdp.n_actions * len(states))
    taken = csr_array((np.ones(len(places)), places, first_steps), shape)
    found = np.empty((len(evaluations), len(steps)))
    size = max(1, AT_ONCE // max(1, shape[1]))
    for first in range(0, len(evaluations), size):
        some = evaluations[first : first + size]
        found[first : first + size] = (taken @ look.log_policies(some).reshape(len(some), -1).T).T
    return found


class _LookAhead:
    """What policies do in some states, given their values.

    Args:
        problem: Dynamics, reward and solver.
        states: Of the dynamics that policies are of, `u`.
    """

    def __init__(self, problem: TabularProblem, states: IntArray) -> None:
        self.problem = problem
        self.states = states
        dynamics = problem.dynamics
        rows = (states * dynamics.n_actions + np.arange(dynamics.n_actions)[:, None]).ravel()
        table = dynamics.next_states
        self._next = None if table is None else table[states].T.ravel()
        self._rows = None if table is not None else dynamics.transition[rows]

    def log_policies(self, evaluations: Sequence[Evaluation]) -> FloatArray:
        """`log softmax(beta Q)` of each evaluation, `n x A x u`."""
        problem, mdp = self.problem, self.problem.mdp
        kept = [problem._kept(one)[0]["values"] for one in evaluations]
        if self._next is not None:
            following = np.stack([values[self._next] for values in kept])
        else:
            assert self._rows is not None
            following = (self._rows @ np.stack(kept, axis=1)).T
        q = mdp.gamma * following.reshape(len(kept), mdp.n_actions, len(self.states))
        if problem.reward.depends_on != "state":
            # What a state pays is the same for all of its actions and cancels.
            thetas = np.array([one.theta for one in evaluations])
            q += rewards_in(mdp, problem.reward, thetas, self.states % mdp.n_states).mT
        q -= q.max(axis=1, keepdims=True)
        q *= problem.solver.inverse_temperature
        q -= np.log(np.exp(q).sum(axis=1, keepdims=True))
        return q


def rewards_in(
    mdp: TabularMDP, reward: RewardFamily, thetas: FloatArray, states: IntArray
) -> FloatArray:
    """Expected reward of every action in some states, `n x u x A`, or `n x u x 1` on states."""
    theta = as_float64(thetas)
    if reward.depends_on == "state":
        return reward(theta, Transitions(states)).numpy()[..., None]
    actions = np.tile(np.arange(mdp.n_actions), len(states))
    repeated = np.repeat(states, mdp.n_actions)
    shape = (len(thetas), len(states), mdp.n_actions)
    if reward.depends_on == "state_action":
        return reward(theta, Transitions(repeated, actions)).numpy().reshape(shape)
    rows = mdp.transition[repeated * mdp.n_actions + actions]
    owner = np.repeat(np.arange(len(repeated)), np.diff(rows.indptr))
    steps = Transitions(repeated[owner], actions[owner], rows.indices.astype(np.int64))
    paid = reward(theta, steps).numpy() * rows.data
    expected = [np.bincount(owner, row, len(repeated)) for row in paid]
    return np.array(expected, dtype=np.float64).reshape(shape)
