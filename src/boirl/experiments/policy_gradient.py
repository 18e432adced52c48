"""REINFORCE on numbered states: how quickly is a policy learned from a reward?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from boirl.baselines.cloning import BoltzmannClone
from boirl.environments import TabularMDP
from boirl.policies import TabularPolicy, expected_return
from boirl.types import FloatArray

MOMENTS = (0.9, 0.999)


def table_policy(mdp: TabularMDP, policy: BoltzmannClone) -> TabularPolicy:
    """A policy on features of states as one on states."""
    chances = policy.log_probabilities(np.arange(mdp.n_states))
    chances[mdp.terminal] = -np.inf
    return TabularPolicy(chances)


def total_return(mdp: TabularMDP, policy: TabularPolicy, rewards: FloatArray, steps: int) -> float:
    """Expected sum of rewards, `S x A`, without a discount, over so many steps; exact."""
    undiscounted = replace(mdp, gamma=1.0)
    log_policies = policy.log_probabilities[None]
    return float(expected_return(undiscounted, log_policies, rewards, mdp.start, steps)[0])


def learn(
    mdp: TabularMDP,
    features: FloatArray,
    rewards: FloatArray,
    judged_by: FloatArray,
    iterations: int,
    episodes: int,
    steps: int,
    rate: float,
    rng: np.random.Generator,
) -> FloatArray:
    """The return by `judged_by` before each iteration and after the last, `iterations + 1`.

    An iteration rolls out a Boltzmann policy and makes one step of Adam, so that the scale of
    rewards does not matter, along the gradient of REINFORCE with its best constant baselines.

    Args:
        mdp: The dynamics.
        features: Of states, `S x k`, that the policy sees.
        rewards: To learn from, `S x A`.
        judged_by: True rewards, `S x A`.
        iterations: Steps of Adam.
        episodes: Of each iteration.
        steps: Of each episode, at most.
        rate: Of Adam.
        rng: Draws the episodes.
    """
    policy = BoltzmannClone(features, np.zeros((features.shape[1], mdp.n_actions)))
    first, second = np.zeros((2, policy.n_parameters))
    seen = [total_return(mdp, table_policy(mdp, policy), judged_by, steps)]
    for iteration in range(1, iterations + 1):
        slope = _reinforce(mdp, policy, rewards, episodes, steps, rng)
        first = MOMENTS[0] * first + (1.0 - MOMENTS[0]) * slope
        second = MOMENTS[1] * second + (1.0 - MOMENTS[1]) * np.square(slope)
        mean = first / (1.0 - MOMENTS[0] ** iteration)
        size = np.sqrt(second / (1.0 - MOMENTS[1] ** iteration)) + 1e-12
        change = (rate * mean / size).reshape(policy.weights.shape)
        policy = replace(policy, weights=policy.weights + change)
        seen.append(total_return(mdp, table_policy(mdp, policy), judged_by, steps))
    return np.array(seen)


def _reinforce(
    mdp: TabularMDP,
    policy: BoltzmannClone,
    rewards: FloatArray,
    episodes: int,
    steps: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Estimated gradient of the discounted return by the weights, `kA`."""
    starts = rng.choice(mdp.n_states, size=episodes, p=mdp.start)
    rolled = table_policy(mdp, policy).sample(mdp, starts, steps, rng)
    pairs, columns = np.unique(rolled.states * mdp.n_actions + rolled.actions, return_inverse=True)
    shape = (episodes, len(pairs))
    numbers = rolled.trajectory_numbers
    counts = sp.csr_array((np.ones(len(columns)), (numbers, columns)), shape=shape)
    paid = mdp.gamma**rolled.step_numbers * rewards[rolled.states, rolled.actions]
    returns = np.bincount(numbers, paid, episodes)
    scores = counts @ policy.scores(*np.divmod(pairs, mdp.n_actions))
    squares = np.square(scores)
    baseline = (returns @ squares) / np.maximum(squares.sum(axis=0), 1e-300)
    return np.asarray((scores * (returns[:, None] - baseline)).mean(axis=0))
