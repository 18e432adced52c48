"""Rewards under which a cloned policy has no reason to change (Metelli, Pirotta, Restelli 2017).

A policy with scores `G` (one row per demonstrated state-action) and discounted visits `d` has the
gradient `G' diag(d) Q` of its return: `Q` functions for which it vanishes are a null space. Each
gives a reward: `Q` less its mean over actions, the advantages, which differ from a reward by
shaping alone and need no dynamics; or `Q(s, a) - gamma E[Q(s', a')]`, with dynamics.

Among these rewards a demonstrator's makes the return curve downwards as the policy changes. The
Hessian of the return is linear in the reward,

    H = mean over trajectories of (R - b) (g g' + K),

with `g` and `K` the sums of scores and curvatures over a trajectory, `R` its return, and `b` the
baseline that makes the estimate of its trace most precise. Basis functions whose Hessian is close
to negative semi-definite span a cone: all their sums with positive weights are compatible rewards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from boirl.baselines.cloning import BoltzmannClone
from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class CompatibleRewards:
    """A cone of rewards on demonstrated state-actions.

    Attributes:
        pairs: Demonstrated state-actions, `s * A + a`, `n`.
        basis: Rewards on them, orthonormal, `n x m`.
        traces: Of the Hessians, at most 0, `m`.
        n_found: Basis functions before those with Hessians of both signs were left out.
        n_negative: Those with a nearly negative Hessian; where there is none, all are kept.
    """

    pairs: IntArray
    basis: FloatArray
    traces: FloatArray
    n_found: int
    n_negative: int

    @property
    def sharpest(self) -> FloatArray:
        """Weights of norm 1 that minimise the trace of the Hessian, `m`, none negative."""
        return -self.traces / np.linalg.norm(self.traces)

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Weights of another reward in the cone, `m`: those of the sharpest, each scaled."""
        weights = self.sharpest * rng.exponential(size=len(self.traces))
        return np.asarray(weights / np.linalg.norm(weights))

    def table(self, weights: FloatArray, shape: tuple[int, int]) -> FloatArray:
        """Rewards of all state-actions, `S x A`, of range 1; what nobody did pays least.

        They are not shifted: where trajectories end, it matters which rewards are negative.
        """
        paid = self.basis @ weights
        spread = np.ptp(paid)
        paid = paid / (spread if spread > 0.0 else 1.0)
        rewards = np.full(shape, paid.min())
        rewards.reshape(-1)[self.pairs] = paid
        return rewards


def compatible_rewards(
    mdp: TabularMDP,
    demonstrations: Demonstrations,
    clone: BoltzmannClone,
    known_dynamics: bool,
    tolerance: float,
    sharpness: float,
) -> CompatibleRewards | None:
    """The cone of compatible rewards; None where only functions of states are compatible.

    Args:
        mdp: Its discount and, where they are known, its dynamics.
        demonstrations: Of the policy that was cloned.
        clone: The policy.
        known_dynamics: Whether rewards follow from `Q` by the dynamics.
        tolerance: Share of the largest singular value below which one is taken for 0.
        sharpness: A Hessian may have positive eigenvalues up to this share of the largest negative
            one. Where none is like that, all basis functions are kept.
    """
    shown, n_actions = demonstrations, mdp.n_actions
    pairs, columns = np.unique(shown.states * n_actions + shown.actions, return_inverse=True)
    states, actions = np.divmod(pairs, n_actions)
    rows, shape = shown.trajectory_numbers, (len(shown), len(pairs))
    counts = sp.csr_array((np.ones(len(columns)), (rows, columns)), shape=shape)
    discounted = sp.csr_array((mdp.gamma**shown.step_numbers, (rows, columns)), shape=shape)
    visits = np.asarray(discounted.sum(axis=0)) / len(shown)
    scores = clone.scores(states, actions)
    values = null_space(scores.T * visits, tolerance)
    follows = _following(mdp, clone, pairs, known_dynamics)
    basis = orthonormal(values - follows @ values, tolerance)
    if not basis.shape[1]:
        return None
    sums = counts @ scores
    sharp = np.square(sums).sum(axis=1) + counts @ clone.curvature_traces(states)
    returns = discounted @ basis
    centred = returns - (np.square(sharp) @ returns) / np.square(sharp).sum()
    traces = sharp @ centred / len(shown)
    signs = np.where(traces > 0.0, -1.0, 1.0)
    basis, centred, traces = basis * signs, centred * signs, traces * signs
    kept = []
    for number in range(len(traces)):
        weights = centred[:, number] / len(shown)
        hessian = (sums.T * weights) @ sums + clone.curvature(states, counts.T @ weights)
        eigenvalues = np.linalg.eigvalsh(hessian)
        if eigenvalues[-1] <= -sharpness * eigenvalues[0]:
            kept.append(number)
    chosen = np.array(kept if kept else range(len(traces)))
    return CompatibleRewards(pairs, basis[:, chosen], traces[chosen], len(traces), len(kept))


def null_space(matrix: FloatArray, tolerance: float) -> FloatArray:
    """Orthonormal columns, `n x m`, that a matrix `p x n` takes to 0."""
    _, singular, right = np.linalg.svd(matrix, full_matrices=True)
    rank = int((singular > tolerance * max(singular.max(), 1e-300)).sum())
    return right[rank:].T


def orthonormal(columns: FloatArray, tolerance: float) -> FloatArray:
    """Orthonormal columns that span the same space, `n x m`.

    The columns given are of length one at most, which is what the tolerance refers to.
    """
    if not columns.size:
        return columns[:, :0]
    left, singular, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, singular > tolerance]


def _following(
    mdp: TabularMDP, clone: BoltzmannClone, pairs: IntArray, known_dynamics: bool
) -> sp.csr_array:
    """What is subtracted from a `Q` function on demonstrated state-actions: `n x n`.

    With dynamics the discounted `Q` of the next step, else the mean over actions here.
    """
    states, actions = np.divmod(pairs, mdp.n_actions)
    visited, rows = np.unique(states, return_inverse=True)
    chances = np.exp(clone.log_probabilities(visited))[rows, actions]
    members = (rows, np.arange(len(pairs)))
    mean = sp.csr_array((chances, members), shape=(len(visited), len(pairs)))
    if known_dynamics:
        return sp.csr_array(mdp.gamma * mdp.transition[pairs][:, visited] @ mean)
    return sp.csr_array(mean[rows])
