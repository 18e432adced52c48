"""How differently policies act: exactly with finitely many actions, by sampling with vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from boirl.environments import TabularMDP
from boirl.policies.network import NetworkPolicy
from boirl.types import Difference, FloatArray, IntArray

COMPARED_ACTIONS = 16
"""Actions that are drawn from each policy in each state to compare two of them."""


def mean_total_variation(probabilities: FloatArray, visits: IntArray | FloatArray) -> FloatArray:
    """Total variation between policies, averaged over states by their visits.

    Args:
        probabilities: Of each action in each of `S` states under each policy, `n x S x A`.
        visits: `S`.

    Returns:
        `n x n`.
    """
    weights = 0.5 * visits / visits.sum()
    return np.stack([np.abs(probabilities - one).sum(axis=2) @ weights for one in probabilities])


def largest_differences(
    states: IntArray, one: FloatArray, other: FloatArray, n: int
) -> list[Difference]:
    """Where two policies differ most, given their probabilities in `S` states, `S x A` each."""
    distances = 0.5 * np.abs(one - other).sum(axis=1)
    farthest = np.argsort(-distances, kind="stable")[:n]
    columns = states, one.argmax(axis=1), other.argmax(axis=1), distances
    rows = zip(*(column[farthest].tolist() for column in columns), strict=True)
    return [Difference(*row) for row in rows]


def sampled_total_variation(
    policies: Sequence[NetworkPolicy], states: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Total variation between policies, averaged over states `S x k`: `n x n`.

    `|p - q| / (p + q)` is averaged over one action of each policy in each state.
    """
    actions = [policy.sample(states, rng) for policy in policies]
    # logs[i, j]: log probability under policy i of the actions of policy j.
    logs = np.array([[one.log_prob(states, drawn) for drawn in actions] for one in policies])
    own = np.diagonal(logs).T
    one_sided = np.abs(np.tanh(0.5 * (logs - own))).mean(axis=2)
    return 0.5 * (one_sided + one_sided.T)


def sampled_differences(
    one: NetworkPolicy,
    other: NetworkPolicy,
    states: FloatArray,
    n: int,
    rng: np.random.Generator,
) -> list[Difference]:
    """The states, of `S x k`, in which two policies differ most."""
    sampled = np.repeat(states, COMPARED_ACTIONS, axis=0)
    apart = []
    for actor in (one, other):
        actions = actor.sample(sampled, rng)
        ratio = one.log_prob(sampled, actions) - other.log_prob(sampled, actions)
        apart.append(np.abs(np.tanh(0.5 * ratio)).reshape(len(states), -1).mean(axis=1))
    distances = np.mean(apart, axis=0)
    farthest = np.argsort(-distances, kind="stable")[:n]
    acts = one.mode(states[farthest]), other.mode(states[farthest])
    rows = zip(states[farthest], *acts, distances[farthest].tolist(), strict=True)
    return [Difference(*row) for row in rows]


def named(apart: Difference, mdp: TabularMDP) -> Difference:
    """A difference with the names of its state and actions, where the dynamics have some."""
    if not mdp.state_names and not mdp.action_names:
        return apart
    acts = (mdp.action_label(apart.action), mdp.action_label(apart.other_action))
    return replace(apart, names=(mdp.state_label(apart.state), *acts))
