"""Guided cost learning (Finn and others 2016): importance-weighted roll-outs of the current policy.

Trajectories from a start have the density

    p(tau) = p_k(tau) exp(R(tau) - R_k(tau)) / Z

under a reward `R`, where `R_k` is the reward at the beginning of an iteration, returns are
discounted, and `p_k` is the density of the policy that was solved for `R_k`. (As published, `p_k`
is `exp(R_k)` over its sum, so that `p` is `exp(R)` over its own; this is the same where policies
are of maximum entropy and nothing is discounted.) The loss is the NLL of the demonstrations,

    -mean (R - R_k)(demonstrations) + log Z,

with `Z` estimated for every start from the demonstrations and from roll-outs of the last few
policies, weighted by `p_k exp(R - R_k)` over the density of the mixture that they come from. The
demonstrations' own part of the mixture has the density `p_k`. They bound `Z` from below: a reward
gains nothing from paying what no roll-out does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from boirl.baselines.adversarial import AdversarialBaseline, Learner, Sample
from boirl.baselines.learned_reward import LearnedReward, as_transitions
from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.problem import Problem, check_ends
from boirl.types import IntArray

BISECTIONS = 20


class Groups:
    """Trajectories that start alike, and means over them.

    Args:
        numbers: The group of each of `N` trajectories, from 0 on.
    """

    def __init__(self, numbers: IntArray) -> None:
        self.numbers = torch.as_tensor(numbers)
        self.sizes = torch.bincount(self.numbers)

    def log_mean_exp(self, values: Tensor) -> Tensor:
        """`log mean exp` of `N` values in each group."""
        lowest = values.new_full((len(self.sizes),), -math.inf)
        highest = lowest.scatter_reduce(0, self.numbers, values.detach(), "amax")
        shifted = torch.exp(values - highest[self.numbers])
        return highest + torch.log(self._sums(shifted) / self.sizes)

    def effective_share(self, log_weights: Tensor) -> Tensor:
        """Effective sample size over the size of each group."""
        weights = torch.exp(log_weights - self.log_mean_exp(log_weights)[self.numbers])
        return self.sizes / self._sums(weights.square())

    def _sums(self, values: Tensor) -> Tensor:
        return values.new_zeros(len(self.sizes)).index_add(0, self.numbers, values)


class Background:
    """Demonstrations and roll-outs, with the densities that their weights are made of.

    Args:
        demonstrations: What is to be explained.
        samples: Roll-outs from the same starts, the newest last.
        gamma: Discount of returns.
    """

    def __init__(
        self, demonstrations: Demonstrations, samples: Sequence[Sample], gamma: float
    ) -> None:
        rolled_out = [sample.trajectories for sample in samples]
        self.demonstrated = len(demonstrations)
        self.trajectories = Demonstrations.concatenate([demonstrations, *rolled_out])
        self.transitions = as_transitions(self.trajectories)
        self.discounts = torch.as_tensor(gamma**self.trajectories.step_numbers)
        self.owners = torch.as_tensor(self.trajectories.trajectory_numbers.copy())
        starts = demonstrations.starts.reshape(len(demonstrations), -1)
        kinds = np.column_stack([starts, demonstrations.lengths])
        numbers = np.unique(kinds, axis=0, return_inverse=True)[1].reshape(-1)
        self.groups = Groups(np.tile(numbers, 1 + len(samples)))
        self.shares = torch.bincount(torch.as_tensor(numbers)).double() / len(demonstrations)
        self.log_policy = self._log_density(samples[-1].policy)
        densities = [self._log_density(sample.policy) for sample in samples[:-1]]
        sampled = torch.logsumexp(torch.stack([*densities, self.log_policy]), 0)
        self.log_sampled = sampled - math.log(len(samples))

    def returns(self, reward: LearnedReward) -> Tensor:
        """Discounted return of every trajectory, `N`, demonstrations first."""
        discounted = self.discounts * reward(self.transitions)
        return discounted.new_zeros(len(self.trajectories)).index_add(0, self.owners, discounted)

    def log_of_returns(self, returns: Tensor) -> Tensor:
        """`exp(return)` over its sum, estimated from the roll-outs: the published density."""
        rolled_out = slice(self.demonstrated, None)
        alone = Groups(self.groups.numbers[rolled_out].numpy())
        log_z = alone.log_mean_exp((returns - self.log_sampled)[rolled_out])
        return returns - log_z[self.groups.numbers]

    def log_weights(self, log_model: Tensor) -> Tensor:
        """Of every trajectory, given the model's log density: what `Z` is the mean of."""
        share = self.demonstrated / len(self.trajectories)
        mixture = torch.logaddexp(
            math.log(share) + log_model, math.log1p(-share) + self.log_sampled
        )
        return log_model - mixture

    def _log_density(self, policy: Any) -> Tensor:
        """Of every trajectory under a policy; what the dynamics add cancels out of weights."""
        steps = policy.log_prob(self.trajectories.states, self.trajectories.actions)
        numbers = self.trajectories.trajectory_numbers
        return torch.as_tensor(np.bincount(numbers, steps, len(self.trajectories)))


@dataclass(frozen=True)
class GCL(AdversarialBaseline):
    """Guided cost learning; see `AdversarialBaseline` for further settings.

    Args:
        effective_share: With `relative=False`, log weights are scaled down until the effective
            number of trajectories is this share of all: the published weights collapse.
    """

    kept: int = 3
    effective_share: float = 0.95

    name: ClassVar[str] = "gcl"
    summary: ClassVar[str] = "guided cost learning: importance-weighted roll-outs"
    default_evaluations: ClassVar[int] = 200

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.effective_share < 1.0:
            raise InvalidInputError(
                f"effective_share is {self.effective_share}; expected a number between 0 and 1"
            )

    def learner(self, problem: Problem[Any], seed: int) -> Learner:
        reward = LearnedReward(problem, self.reward, seed, self.hidden)
        check_ends(problem.demonstrations, reward.family)
        return Learner(reward, self.optimiser(reward))

    def improve(
        self, problem: Problem[Any], learner: Learner, samples: list[Sample]
    ) -> dict[str, float]:
        background = Background(problem.demonstrations, samples, problem.gamma)
        loss_of, facts = self.loss(background, learner.reward)
        for _ in range(self.steps):
            loss = loss_of(learner.reward)
            learner.optimiser.zero_grad()
            loss.backward()
            learner.optimiser.step()
            learner.reward.after_step()
        return {"loss": float(loss.detach()), **facts}

    def loss(
        self, background: Background, current: LearnedReward
    ) -> tuple[Callable[[LearnedReward], Tensor], dict[str, float]]:
        """The loss of rewards, given the current one, and facts about the weights."""
        groups = background.groups
        with torch.no_grad():
            before = background.returns(current)
            model = background.log_policy if self.relative else background.log_of_returns(before)
            log_weights = background.log_weights(model)

        def share(scale: float) -> float:
            return float(background.shares @ groups.effective_share(scale * log_weights))

        scale = 1.0 if self.relative else _largest(share, self.effective_share)

        def loss(reward: LearnedReward) -> Tensor:
            change = background.returns(reward) - before
            log_z = groups.log_mean_exp(scale * (change + log_weights)) / scale
            return background.shares @ log_z - change[: background.demonstrated].mean()

        return loss, {"effective_share": share(1.0), "scale": scale}


def _largest(share: Callable[[float], float], least: float) -> float:
    """The largest scale up to 1 that leaves an effective share of at least this."""
    if share(1.0) >= least:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if share(middle) >= least else (low, middle)
    return high
