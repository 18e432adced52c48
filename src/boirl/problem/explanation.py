"""How well a reward table explains demonstrations, and which change of it would explain more.

The derivative of the NLL by all rewards at once takes one linear system (implicit differentiation),
whatever the number of parameters behind them: with `V = T(Q)`, `Q = r + gamma P V`, slopes
`W = dT/dQ` and `g` the derivative of the NLL by `Q` alone, the derivative by `r` is `g + W u`,
where `u = gamma P' (g + W u)`. For `logsumexp`, `u` counts how often a state is expected to be
visited from the demonstrated steps on, less how often it was. The derivative of any other number
that follows from the policy is found in the same way (`slopes_by_rewards`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.environments.unrolled import UnrolledMDP
from boirl.policies.bellman import TabularSolver
from boirl.policies.finite_horizon import HorizonSystem
from boirl.policies.linear_systems import Linearisation, linearise
from boirl.policies.tabular import TabularPolicy
from boirl.problem.likelihood import trajectory_log_likelihoods
from boirl.rewards import RewardFamily
from boirl.types import FloatArray


@dataclass(frozen=True, eq=False)
class Explanation:
    """A policy and how well it explains demonstrations.

    Attributes:
        policy: Of the reward table.
        log_likelihoods: Of each trajectory, `N`.
        slopes: Derivative of the NLL by the reward of each state-action, `S x A`, summed over steps
            where policies depend on the steps left; None where it does not exist.
    """

    policy: TabularPolicy
    log_likelihoods: FloatArray
    slopes: FloatArray | None

    @property
    def nll(self) -> float:
        return -float(self.log_likelihoods.mean())


def explain(
    mdp: TabularMDP,
    solver: TabularSolver,
    rewards: FloatArray,
    demonstrations: Demonstrations,
    warm_start: FloatArray | None = None,
) -> Explanation:
    """Solve for a reward table, `S x A` or `S x 1`, and differentiate the NLL by it.

    The states of the demonstrations are those of `solver.dynamics(mdp)`.

    Raises:
        SolverError: There is no policy.
    """
    policy, linearisation = solver.solve_and_linearise(mdp, rewards, warm_start)
    direct = _slopes_by_q(policy, demonstrations, solver.inverse_temperature)
    slopes = _slopes_through_values(mdp, solver, rewards, policy, direct, linearisation)
    return Explanation(policy, trajectory_log_likelihoods(policy, demonstrations), slopes)


def slopes_by_rewards(
    mdp: TabularMDP,
    solver: TabularSolver,
    rewards: FloatArray,
    policy: TabularPolicy,
    by_choice: FloatArray,
) -> FloatArray | None:
    """Derivative of a number that follows from a policy by the rewards that it is solved for.

    Nothing is solved but one linear system.

    Args:
        mdp: Where the policy acts.
        solver: That it was found with.
        rewards: Its reward table, `S x A` or `S x 1`.
        policy: On the states of `solver.dynamics(mdp)`; it knows its values.
        by_choice: Derivative of the number by the probability of each choice, as if they did not
            have to sum to 1; of the shape of the policy.

    Returns:
        `S x A`, summed over steps where policies depend on the steps left; None where there is no
        derivative.
    """
    mean = (policy.probabilities * by_choice).sum(axis=1, keepdims=True)
    direct = solver.inverse_temperature * policy.probabilities * (by_choice - mean)
    return _slopes_through_values(mdp, solver, rewards, policy, direct)


def gradient_by_theta(
    mdp: TabularMDP, reward: RewardFamily, theta: FloatArray, slopes: FloatArray | None
) -> FloatArray | None:
    """Derivative by theta, `d`, from that by rewards, `S x A`; None where there is none."""
    if slopes is None:
        return None
    chosen = torch.tensor(theta, requires_grad=True)
    paid = reward(chosen[None], mdp.paid_transitions(reward.depends_on))[0]
    if not paid.requires_grad:
        return None
    by_transition = mdp.slopes_by_transition(slopes, reward.depends_on)
    (gradient,) = torch.autograd.grad(paid @ torch.as_tensor(by_transition), chosen)
    return np.asarray(gradient.numpy())


def _slopes_through_values(
    mdp: TabularMDP,
    solver: TabularSolver,
    rewards: FloatArray,
    policy: TabularPolicy,
    direct: FloatArray,
    linearisation: Linearisation | None = None,
) -> FloatArray | None:
    """The derivative by rewards, `S x A`, from that by `Q` alone; None where there is none."""
    assert policy.values is not None
    equation = solver.equation(mdp, rewards[None])
    dynamics, values = equation.mdp, policy.values[:, None]
    weights = equation.back_up_with_slopes(equation.q(values))[1][..., 0]
    into = dynamics.gamma * (dynamics.transition.T @ direct.reshape(-1))
    try:
        system = linearisation or _system(dynamics, weights)
        through_values = system.solve_transposed(into)
    except RuntimeError:
        # The matrix is singular: the values have no derivative here.
        return None
    slopes = direct + weights * through_values[:, None]
    by_step: FloatArray = slopes.reshape(-1, mdp.n_states, mdp.n_actions).sum(axis=0)
    return by_step


def _system(dynamics: TabularMDP, weights: FloatArray) -> Linearisation:
    if isinstance(dynamics, UnrolledMDP):
        return HorizonSystem(dynamics, weights)
    return linearise(dynamics, weights)


def _slopes_by_q(
    policy: TabularPolicy, demonstrations: Demonstrations, inverse_temperature: float
) -> FloatArray:
    """Derivative of the NLL by `Q`, `S x A`: probabilities less choices, in demonstrated states."""
    shape = policy.log_probabilities.shape
    pairs = demonstrations.states * shape[1] + demonstrations.actions
    taken = np.bincount(pairs, minlength=shape[0] * shape[1]).reshape(shape)
    expected = taken.sum(axis=1, keepdims=True) * policy.probabilities
    return inverse_temperature * (expected - taken) / len(demonstrations)
