"""The rho-projection of the paper: rewards with the same behaviour fall on one point."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.maximise import maximise
from boirl.problem import Problem
from boirl.projections.base import Projection
from boirl.rewards import LinearReward, RewardFamily, Transitions
from boirl.rewards.family import DependsOn
from boirl.types import Box, FloatArray, IntArray

DENSE_ENTRIES = 200_000
ENTRIES_AT_ONCE = 5_000_000
"""Rewards of so many transitions are held in memory; more thetas go in batches."""

COMPARED_AT_ONCE = 500_000
"""Returns that are compared at once: what fits the cache of a core."""

NATS = 10.0
"""Log-probabilities that are closer to 0 than this are hardly compressed."""


class ReturnShares(Projection):
    """What all projections on log-probabilities of demonstrations have in common.

    Args:
        compares_policies: Whether the roll-outs are of policies that are good for some reward,
            uniformly random ones aside.
    """

    def __init__(self, compares_policies: bool = False) -> None:
        super().__init__()
        self.compares_policies = compares_policies
        self._likeliest: FloatArray | None = None

    def likeliest(self, box: Box) -> FloatArray | None:
        """Where the mean of the projection is highest, if it compares policies.

        Uniformly random behaviour alone is beaten under many a reward.
        """
        if self._likeliest is None and self.compares_policies:
            low, width = torch.tensor(box.low), torch.tensor(box.high - box.low)
            self._likeliest, _ = maximise(
                lambda unit: self.project(low + width * unit.squeeze(-2)).mean(dim=-1),
                centre=np.full(box.dimension, 0.5),
                rng=np.random.default_rng(0),
            )
        return self._likeliest

    def compress(self, latent: Tensor) -> Tensor:
        """`-log(c - log rho)`: a thousand nats are not worth a hundred times as much as ten."""
        return -torch.log(NATS - latent)


class LogRho(ReturnShares):
    """`log rho_k(theta)` for `K` demonstrations.

    `rho_k = exp R(tau_k) / (exp R(tau_k) + sum_m exp R(tau'_km))`, with the discounted return
    `R(tau) = sum_t gamma^t R_theta(s_t, a_t, s_{t+1})` and the roll-outs `tau'_km` of the same
    start and length as demonstration `k`. The log is what the surrogate needs: `rho` itself
    squeezes all poor rewards into a corner of the cube. Nothing is exponentiated before it is
    normalised, so returns of any size are safe.

    Args:
        problem: Gives the reward family and the discount.
        demonstrations: `K` of them.
        rollouts: For each demonstration, its roll-outs.
        reward: The reward family to project with, by default the problem's own. The authors' code
            takes one that leaves out a fixed weight.
        compares_policies: Whether the roll-outs are of policies that are good for some reward,
            uniformly random ones aside.
    """

    name: ClassVar[str] = "log-rho"
    _absent: Tensor

    def __init__(
        self,
        problem: Problem[Any],
        demonstrations: Demonstrations,
        rollouts: Sequence[Demonstrations],
        reward: RewardFamily | None = None,
        compares_policies: bool = False,
    ) -> None:
        super().__init__(compares_policies)
        if len(rollouts) != len(demonstrations):
            raise InvalidInputError(
                f"there are roll-outs for {len(rollouts)} demonstrations and "
                f"{len(demonstrations)} demonstrations; expected one set for each"
            )
        self.demonstrations = problem.complete(demonstrations)
        self.rollouts = [problem.complete(one) for one in rollouts]
        self.dimension = len(demonstrations)
        together = Demonstrations.concatenate([self.demonstrations, *self.rollouts])
        self.reward = problem.reward if reward is None else reward
        self._returns = self.build_returns(problem, together)
        # Row k: the number of demonstration k, then of its roll-outs; short rows are masked.
        members = np.split(
            len(demonstrations) + np.arange(sum(map(len, rollouts))),
            np.cumsum([len(one) for one in rollouts])[:-1],
        )
        width = 1 + max(map(len, members))
        index = np.repeat(np.arange(len(demonstrations))[:, None], width, axis=1)
        absent = np.arange(width) > np.array([[len(rows)] for rows in members])
        for k, rows in enumerate(members):
            index[k, 1 : 1 + len(rows)] = rows
        self._returns.reorder(torch.tensor(index.ravel()))
        self.register_buffer("_absent", torch.tensor(absent))
        self._some_absent = bool(absent.any())

    def build_returns(self, problem: Problem[Any], trajectories: Demonstrations) -> Returns:
        """What gives the returns of the demonstrations, followed by those of all roll-outs."""
        return Returns(self.reward, trajectories, problem.gamma)

    def fingerprint(self) -> str:
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        digest = hashlib.sha256()
        for one in (self.demonstrations, *self.rollouts):
            for array in one.to_dict().values():
                digest.update(array.tobytes())
        return digest.hexdigest()[:16]

    def project(self, theta: Tensor) -> Tensor:
        returns = self._returns(theta.reshape(-1, theta.shape[-1]))
        parts = returns.split(max(1, COMPARED_AT_ONCE // self._absent.numel()))
        compared = [self._compare(part) for part in parts]
        log_rho = torch.cat(compared) if len(compared) > 1 else compared[0]
        return log_rho.reshape(*theta.shape[:-1], self.dimension)

    def _compare(self, returns: Tensor) -> Tensor:
        """From the returns of all sets, end to end, to log rho, `n x K`."""
        sets = returns.view(len(returns), *self._absent.shape)
        if self._some_absent:
            sets = sets.masked_fill(self._absent, -torch.inf)
        return sets[..., 0] - torch.logsumexp(sets, dim=-1)


class Rho(LogRho):
    """`rho_k(theta)` itself, as in the text of the paper."""

    name = "rho"

    def project(self, theta: Tensor) -> Tensor:
        return super().project(theta).exp()

    def compress(self, latent: Tensor) -> Tensor:
        return latent


class Returns:
    """Discounted returns `n x N` of `N` fixed trajectories under thetas `n x d`.

    Trajectories are summed up once into discounted counts of their distinct transitions. A theta
    then costs one reward evaluation on these and one product; a linear family not even that.
    """

    def __init__(self, reward: RewardFamily, trajectories: Demonstrations, gamma: float) -> None:
        self.reward = reward
        self.transitions, column = _distinct_transitions(trajectories, reward.depends_on)
        weights = gamma**trajectories.step_numbers
        rows = trajectories.trajectory_numbers
        counts = sp.csr_array(
            (weights, (rows, column)), shape=(len(trajectories), len(self.transitions))
        )
        counts.sum_duplicates()
        self.features: Tensor | None = None
        if isinstance(reward, LinearReward) and type(reward).evaluate is LinearReward.evaluate:
            self.features = torch.tensor(counts @ reward.features(self.transitions).numpy())
        else:
            self.counts = as_matrix(counts)

    def reorder(self, rows: Tensor) -> None:
        """Give the returns of the trajectories with these numbers from now on, in this order."""
        if self.features is not None:
            self.features = self.features[rows]
        else:
            self.counts = self.counts.index_select(0, rows)

    def __call__(self, theta: Tensor) -> Tensor:
        if self.features is not None:
            return self.reward.with_fixed(theta) @ self.features.T
        at_once = max(1, ENTRIES_AT_ONCE // len(self.transitions))
        returns = [
            (self.counts @ self.reward(rows, self.transitions).T).T for rows in theta.split(at_once)
        ]
        return torch.cat(returns) if len(returns) > 1 else returns[0]


def as_matrix(matrix: sp.csr_array) -> Tensor:
    """A tensor to multiply with: dense where that is small, else sparse; no entry twice."""
    if matrix.shape[0] * matrix.shape[1] <= DENSE_ENTRIES:
        return torch.tensor(matrix.toarray())
    entries = matrix.tocoo()
    return torch.sparse_coo_tensor(
        torch.tensor(np.stack(entries.coords)),
        torch.tensor(entries.data),
        size=matrix.shape,
        check_invariants=True,
        is_coalesced=True,
    )


def _distinct_transitions(
    trajectories: Demonstrations, depends_on: DependsOn
) -> tuple[Transitions, IntArray]:
    """The distinct transitions, as far as a reward looks at them, and which one each step is.

    Vectors are hardly ever the same twice, so that they are all taken for distinct.
    """
    columns = [trajectories.states, trajectories.actions, trajectories.next_states]
    relevant = columns[: {"state": 1, "state_action": 2, "transition": 3}[depends_on]]
    if any(column.ndim > 1 for column in relevant):
        return Transitions(*relevant), np.arange(len(trajectories.states))
    distinct, numbers = np.unique(np.stack(relevant, axis=1), axis=0, return_inverse=True)
    return Transitions(*distinct.T), numbers.reshape(-1)
