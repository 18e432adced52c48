"""How much an answer is expected to say about the reward.

The answer to "what would you do from here?" is a trajectory `Y`. With rewards `theta_i` of weights
`w_i`, each with a policy, the information that it is expected to give is

    I = sum_i w_i E[ log p(Y | theta_i) - log sum_j w_j p(Y | theta_j) ],    Y from theta_i.

Dynamics cancel. Step by step it is the sum of how far the policy of `theta_i` is from what is
expected after the steps so far (relative entropy), which is averaged over all actions exactly; only
the way on is drawn. After further questions the same holds, given the answers to those: all are
drawn from one `theta_i` together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.special import logsumexp

from boirl.decisions.ensemble import Ensemble
from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.problem import TabularProblem
from boirl.problem.walks import walk_from
from boirl.types import FloatArray

DRAWS = 128
"""Answers that are drawn for each start, at least one from each reward."""

LEAST = -1e9
"""Log probability that stands for 0 in sums."""


class Answers(ABC):
    """Draws answers from an ensemble.

    Attributes:
        ensemble: Rewards and policies.
        owners: The reward that each answer is drawn from, `n`; every reward has as many.
    """

    def __init__(self, ensemble: Ensemble, horizon: int) -> None:
        self.ensemble = ensemble
        self.horizon = horizon
        self.repeats = max(1, DRAWS // len(ensemble))
        self.owners = np.repeat(np.arange(len(ensemble)), self.repeats)
        with np.errstate(divide="ignore"):
            self.log_weights = np.maximum(np.log(ensemble.weights), LEAST)

    def nothing(self) -> FloatArray:
        """Log-likelihoods of no answer, `n x m`."""
        return np.zeros((len(self.owners), len(self.ensemble)))

    @abstractmethod
    def draw(
        self, start: Any, before: FloatArray, rng: np.random.Generator
    ) -> tuple[float, FloatArray]:
        """The expected information of an answer from a start, in nats, beyond earlier answers.

        Args:
            start: Where to start.
            before: Log-likelihoods of the earlier answers, `n x m`.
            rng: All randomness comes from here.

        Returns:
            The information, and the log-likelihoods of all answers, `n x m`.
        """

    def mean(self, by_answer: FloatArray) -> float:
        """The mean of something of each answer, `n`, by the weights of the rewards."""
        return float(self.ensemble.weights[self.owners] @ by_answer) / self.repeats

    def surprise(self, logs: FloatArray) -> FloatArray:
        """`log p(Y | theta) - log p(Y)` of each answer, `n`, given log-likelihoods `n x m`."""
        own = logs[np.arange(len(logs)), self.owners]
        return own - logsumexp(logs + self.log_weights, axis=1)


class SampledAnswers(Answers):
    """Answers as roll-outs, in any environment."""

    def draw(
        self, start: Any, before: FloatArray, rng: np.random.Generator
    ) -> tuple[float, FloatArray]:
        problem, policies = self.ensemble.problem, self.ensemble.policies
        starts = np.repeat(np.asarray(start)[None], self.repeats, axis=0)
        parts = [walk_from(problem, policy, starts, self.horizon, rng) for policy in policies]
        # All answers are scored at once: scoring is paid for per policy, not per pair of them.
        drawn = problem.with_demonstrations(Demonstrations.concatenate(parts))
        scores = [np.maximum(drawn.log_likelihoods(scorer), LEAST) for scorer in policies]
        logs = before + np.stack(scores, axis=1)
        return max(0.0, self.mean(self.surprise(logs) - self.surprise(before))), logs


class TabularAnswers(Answers):
    """Answers on finitely many states: averaged over actions exactly."""

    def __init__(self, ensemble: Ensemble, horizon: int) -> None:
        super().__init__(ensemble, horizon)
        problem = ensemble.problem
        assert isinstance(problem, TabularProblem)
        self.mdp: TabularMDP = problem.dynamics
        # States first, so that looking up where an answer is copies whole rows: S x A x m.
        self.logs = np.ascontiguousarray(
            np.maximum(np.moveaxis(ensemble.log_policies, 0, -1), LEAST)
        )
        self.chances = np.exp(self.logs)

    def draw(
        self, start: Any, before: FloatArray, rng: np.random.Generator
    ) -> tuple[float, FloatArray]:
        logs = before.copy()
        states = np.full(len(self.owners), int(start))
        going_on = np.flatnonzero(~self.mdp.is_terminal[states])
        gained = np.zeros(len(self.owners))
        for _ in range(self.horizon):
            if not going_on.size:
                break
            now, owners = states[going_on], self.owners[going_on]
            own = self.logs[now, :, owners]
            weights = _normalised(logs[going_on] + self.log_weights)
            expected = np.log((self.chances[now] @ weights[..., None])[..., 0] + 1e-300)
            chances = np.exp(own)
            gained[going_on] += (chances * np.maximum(own - expected, LEAST)).sum(axis=1)
            cumulative = np.cumsum(chances, axis=1)
            cumulative[:, -1] = np.inf
            actions = (rng.random(len(now))[:, None] >= cumulative).sum(axis=1)
            logs[going_on] += self.logs[now, actions]
            states[going_on] = self.mdp.sample_next(now, actions, rng)
            going_on = going_on[~self.mdp.is_terminal[states[going_on]]]
        # No answer says more than there is to know; chance may.
        return min(max(0.0, self.mean(gained)), entropy(self.ensemble.weights)), logs

    def bounds(self) -> FloatArray:
        """What the information of one answer from each state is at most, `S`.

        As if every step was compared with what is expected before anything is known: nothing is
        drawn, all states are done together.
        """
        weights = self.ensemble.weights
        chances = self.chances
        expected = np.log(chances @ weights + 1e-300)
        local = (chances * np.maximum(self.logs - expected[..., None], LEAST)).sum(axis=1)
        local[self.mdp.terminal] = 0.0
        values = np.zeros_like(local)
        for _ in range(self.horizon):
            values = local + (chances * self.mdp.expect_next(values)).sum(axis=1)
        return values @ weights


def _normalised(logs: FloatArray) -> FloatArray:
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def entropy(weights: FloatArray) -> float:
    """Of a distribution, in nats."""
    positive = weights[weights > 0.0]
    return float(-(positive * np.log(positive)).sum())


def answers_of(ensemble: Ensemble, horizon: int) -> Answers:
    """Answers in the environment of an ensemble."""
    tabular = isinstance(ensemble.problem, TabularProblem)
    return (TabularAnswers if tabular else SampledAnswers)(ensemble, horizon)
