"""Log rho on rewards in canonical form: potential shaping of any size changes nothing at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import splu
from torch import Tensor

from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.errors import DemonstrationError, InvalidInputError
from boirl.problem import Problem, TabularProblem
from boirl.projections.rho import ENTRIES_AT_ONCE, LogRho, Returns, as_matrix
from boirl.rewards import LinearReward, RewardFamily, Transitions
from boirl.rewards.family import DependsOn
from boirl.types import IntArray


class Canonical(LogRho):
    """`log rho_k(theta)` of the value-canonicalised reward, for known dynamics.

    Every reward is replaced by `R(s, a, s') + gamma V(s') - V(s)`, with `V` its value under the
    uniform policy (as in STARC, without the normalisation). Two rewards that differ by potential
    shaping, a constant included, are then one and the same. A discounted return telescopes to
    `R(tau) + gamma^L V(s_L) - V(s_0)`, `s_L` being the state after the last action. The start is
    common to a demonstration and its roll-outs and cancels in rho: what is new to log rho is
    `gamma^L V(s_L)`, without which shaping of a trajectory of `L` steps does not quite cancel.

    Args:
        problem: A `TabularProblem` with a discount below 1.
        demonstrations: `K` of them, with known ends.
        rollouts: For each demonstration, its roll-outs.
        reward: The reward family to project with, by default the problem's own.
        compares_policies: Whether the roll-outs are of policies that are good for some reward,
            uniformly random ones aside.
    """

    name = "canonical"

    def build_returns(self, problem: Problem[Any], trajectories: Demonstrations) -> Returns:
        if not isinstance(problem, TabularProblem):
            raise InvalidInputError(
                f"problem {problem.name!r} is a {type(problem).__name__}; the projection "
                "canonical needs known dynamics, those of a TabularProblem; use the projection "
                "log-rho"
            )
        if problem.gamma == 1.0 and not problem.mdp.always_ends:
            raise InvalidInputError(
                f"gamma is {problem.gamma:g}; the projection canonical needs a discount below 1, "
                "or terminal states within reach, so that values are finite; give the dynamics "
                "one, such as gamma=0.99, or use the projection log-rho"
            )
        unknown = trajectories.unknown_ends[_last_steps(trajectories)]
        if unknown.any():
            raise DemonstrationError(
                f"{unknown.sum()} of {len(trajectories)} demonstrations and roll-outs do not say "
                f"where their last action led, first trajectory {unknown.argmax()}; the "
                "projection canonical needs to know; give one state more than actions, or use "
                "the projection log-rho"
            )
        return _CanonicalReturns(self.reward, trajectories, problem.mdp)


class _CanonicalReturns(Returns):
    """Returns `R(tau) + gamma^L V_theta(s_L)`, `n x N`.

    `V_theta` is linear in the rewards: `V = (I - gamma P)^-1 C r`, with the chain `P` of the
    uniform policy and the chances `C` of each step in each state. The rows of the inverse that
    belong to ends are computed once, so that nothing is solved for a theta. A linear family needs
    the values of its features alone.
    """

    def __init__(self, reward: RewardFamily, trajectories: Demonstrations, mdp: TabularMDP) -> None:
        super().__init__(reward, trajectories, mdp.gamma)
        last = trajectories.next_states[_last_steps(trajectories)]
        ends, number = np.unique(last, return_inverse=True)
        discounts = mdp.gamma**trajectories.lengths
        self.steps, chances = _uniform_steps(mdp, reward.depends_on)
        factors = splu(_uniform_system(mdp))
        if self.features is not None:
            assert isinstance(reward, LinearReward)
            values = factors.solve(chances @ reward.features(self.steps).numpy())
            self.features += torch.tensor(discounts[:, None] * values[ends[number]])
            return
        starts = np.zeros((mdp.n_states, len(ends)))
        starts[ends, np.arange(len(ends))] = 1.0
        self.occupancy = torch.as_tensor(factors.solve(starts, trans="T").T)
        self.chances = as_matrix(chances)
        self.number = torch.tensor(number)
        self.discounts = torch.tensor(discounts)

    def reorder(self, rows: Tensor) -> None:
        super().reorder(rows)
        if self.features is None:
            self.number, self.discounts = self.number[rows], self.discounts[rows]

    def __call__(self, theta: Tensor) -> Tensor:
        returns = super().__call__(theta)
        if self.features is not None:
            return returns
        at_once = max(1, ENTRIES_AT_ONCE // len(self.steps))
        values = [
            self.occupancy @ (self.chances @ self.reward(rows, self.steps).T)
            for rows in theta.split(at_once)
        ]
        return returns + self.discounts * torch.cat(values, dim=1).T[:, self.number]


def _last_steps(trajectories: Demonstrations) -> IntArray:
    return np.cumsum(trajectories.lengths) - 1


def _state_actions(mdp: TabularMDP) -> IntArray:
    """The state-action, `s * A + a`, of every possible step `s, a, s'`."""
    return np.repeat(np.arange(mdp.transition.shape[0]), np.diff(mdp.transition.indptr))


def _uniform_steps(mdp: TabularMDP, depends_on: DependsOn) -> tuple[Transitions, sp.csr_array]:
    """Every step that a reward distinguishes, and its chance in each state, `S x T`."""
    n_states, n_actions = mdp.n_states, mdp.n_actions
    acts = (~mdp.is_terminal).astype(np.float64)
    if depends_on == "state":
        return Transitions(np.arange(n_states)), sp.csr_array(sp.diags_array(acts))
    pairs, following, chances = np.arange(n_states * n_actions), None, np.ones(1)
    if depends_on == "transition":
        pairs, chances = _state_actions(mdp), mdp.transition.data
        following = mdp.transition.indices.astype(np.int64)
    states, actions = np.divmod(pairs, n_actions)
    weights = acts[states] * chances / n_actions
    shape = (n_states, len(pairs))
    every = sp.csr_array((weights, (states, np.arange(len(pairs)))), shape=shape)
    return Transitions(states, actions, following), every


def _uniform_system(mdp: TabularMDP) -> sp.csc_array:
    """`I - gamma P` for the chain `P` of the uniform policy, `S x S`."""
    matrix = mdp.transition
    entries = (matrix.data / mdp.n_actions, (_state_actions(mdp) // mdp.n_actions, matrix.indices))
    chain = sp.csc_array(entries, shape=(mdp.n_states, mdp.n_states))
    return sp.csc_array(sp.eye_array(mdp.n_states) - mdp.gamma * chain)
