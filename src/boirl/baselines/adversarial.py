"""What guided cost learning and adversarial IRL share: a reward against roll-outs of its policy.

An iteration solves for the policy of the current reward, reports its NLL, rolls that policy out
from where the demonstrations start, and changes the reward by some gradient steps that separate
demonstrations from roll-outs. The methods differ in the loss of these steps.

Policies that are learned start from scratch in every iteration: one that goes on learning through
all of them becomes ever more decided, and its NLL drifts whatever the reward.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from boirl.baselines.base import Baseline
from boirl.baselines.learned_reward import (
    LearnedReward,
    RewardKind,
    check_environment,
    check_kind,
)
from boirl.baselines.plain import pack_optimiser, unpack_optimiser
from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError, SolverError
from boirl.evaluation import Evaluation
from boirl.policies.network import NetworkPolicy
from boirl.policies.tabular import TabularPolicy
from boirl.problem import Problem
from boirl.problem.likelihood import trajectory_log_likelihoods
from boirl.threads import single_thread
from boirl.types import IntArray, Report

ADAM_MEMORY = (0.9, 0.9)
"""Decay of both averages of Adam. On the way from a poor reward to a good one, gradients shrink
by orders of magnitude; with the usual 0.999, steps stay tiny for a thousand more."""

NETWORK_DECAY = 1e-4
"""Weight decay of reward networks."""

IMPROVEMENT = 1e-4
"""Share by which an NLL must fall below the best to count as progress."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Roll-outs of a policy, from the demonstrations' starts and no longer than they are."""

    policy: Any
    trajectories: Demonstrations


@dataclass
class Learner:
    """What gradient steps change."""

    reward: LearnedReward
    optimiser: torch.optim.Optimizer


@dataclass
class AdversarialState:
    """Everything that changes in a run.

    Attributes:
        rng: Source of all randomness.
        learner: The reward.
        samples: Of the last policies, the newest last.
        starts: Rewards that the run has started from.
        best: Lowest NLL since the last start.
        waiting: Iterations since then without progress.
    """

    rng: np.random.Generator
    learner: Learner
    samples: deque[Sample]
    starts: int = 1
    best: float = float("inf")
    waiting: int = 0


@dataclass(frozen=True)
class AdversarialBaseline(Baseline):
    """A method that learns to separate demonstrations from roll-outs.

    Args:
        reward: `"theta"`: of the problem's own family; `"network"`: a network on states.
        relative: Learn what to change about the current reward, given that its policy is the one
            that was just solved. False: as published, which takes a policy to be the
            maximum-entropy policy of its reward, and does not fit the problem otherwise.
        learning_rate: Of Adam; for thetas, in units of the range of a parameter.
        steps: Of Adam in an iteration.
        kept: Policies whose last roll-outs are kept.
        patience: Iterations without a lower NLL after which the reward restarts from a random
            one: gradients lead no further.
        hidden: Widths of the layers of networks.
    """

    reward: RewardKind = "theta"
    relative: bool = True
    learning_rate: float = 0.005
    steps: int = 5
    kept: int = 1
    patience: int = 30
    hidden: tuple[int, ...] = (32, 32)

    def __post_init__(self) -> None:
        check_kind(self.reward)
        for name in ("steps", "kept", "patience"):
            if getattr(self, name) < 1:
                raise InvalidInputError(f"{name} is {getattr(self, name)}; expected at least 1")
        if not self.learning_rate > 0.0:
            raise InvalidInputError(
                f"learning_rate is {self.learning_rate}; expected a positive number"
            )
        if not self.hidden or min(self.hidden) < 1:
            raise InvalidInputError(f"hidden is {self.hidden}; expected widths of layers")

    @abstractmethod
    def learner(self, problem: Problem[Any], seed: int) -> Learner:
        """A reward to start from."""

    @abstractmethod
    def improve(
        self, problem: Problem[Any], learner: Learner, samples: list[Sample]
    ) -> dict[str, float]:
        """Change the reward, given at least one sample, and return facts about the change."""

    def check(self, problem: Problem[Any]) -> None:
        check_environment(problem, self.name)

    def begin(self, problem: Problem[Any], seed: int) -> AdversarialState:
        rng = np.random.default_rng(seed)
        return AdversarialState(rng, self.learner(problem, seed), deque(maxlen=self.kept))

    def pack(self, state: AdversarialState) -> dict[str, Any]:
        samples = [
            (_policy_arrays(one.policy), one.trajectories.to_dict()) for one in state.samples
        ]
        return {
            "rng": state.rng,
            "learner": pack_optimiser(state.learner.optimiser),
            "samples": samples,
            "starts": state.starts,
            "best": state.best,
            "waiting": state.waiting,
        }

    def unpack(self, problem: Problem[Any], packed: dict[str, Any]) -> AdversarialState:
        learner = self.learner(problem, 0)
        unpack_optimiser(learner.optimiser, packed["learner"])
        samples = (
            Sample(_policy(policy), Demonstrations.from_dict(trajectories))
            for policy, trajectories in packed["samples"]
        )
        return AdversarialState(
            packed["rng"],
            learner,
            deque(samples, maxlen=self.kept),
            packed["starts"],
            packed["best"],
            packed["waiting"],
        )

    def advance(self, problem: Problem[Any], state: AdversarialState, report: Report) -> Evaluation:
        family, theta = state.learner.reward.current()
        steps = problem.env_steps_per_policy
        evaluation = Evaluation(theta, float("nan"), reward=family)
        former = state.samples[-1].policy if state.samples and not problem.is_model_free else None
        seed = int(state.rng.integers(2**31))
        try:
            policy = problem.solve(family or problem.reward, theta, seed, former, report)
        except SolverError as error:
            evaluation = replace(evaluation, failure=str(error))
        else:
            log_likelihoods = trajectory_log_likelihoods(policy, problem.demonstrations)
            rolled_out = _roll_out(problem, policy, state.rng)
            steps += len(rolled_out.states)
            state.samples.append(Sample(policy, _cut(rolled_out, problem.demonstrations.lengths)))
            evaluation = Evaluation(
                theta,
                -float(log_likelihoods.mean()),
                log_likelihoods=log_likelihoods,
                policies=(problem.compact_policy(policy),),
                seed=seed,
                reward=family,
            )
        facts = {"starts": float(state.starts)}
        if state.samples:
            with single_thread():
                facts |= self.improve(problem, state.learner, list(state.samples))
        self._note_progress(problem, state, evaluation.nll)
        return replace(evaluation, environment_steps=steps, facts=facts)

    def optimiser(self, learned: LearnedReward) -> torch.optim.Adam:
        """Of the reward alone."""
        return torch.optim.Adam(
            learned.parameters,
            lr=self.learning_rate,
            betas=ADAM_MEMORY,
            weight_decay=NETWORK_DECAY if self.reward == "network" else 0.0,
        )

    def _note_progress(self, problem: Problem[Any], state: AdversarialState, nll: float) -> None:
        progress = IMPROVEMENT * abs(state.best) if np.isfinite(state.best) else 0.0
        if nll < state.best - progress:
            state.best, state.waiting = nll, 0
        else:
            state.waiting += 1
        if state.waiting >= self.patience or not state.samples:
            state.learner = self.learner(problem, int(state.rng.integers(2**31)))
            state.samples.clear()
            state.starts += 1
            state.best, state.waiting = float("inf"), 0


def roll_out_like_demonstrations(
    problem: Problem[Any], policy: Any, rng: np.random.Generator
) -> Demonstrations:
    """Roll-outs from the demonstrations' starts, no longer than they are."""
    return _cut(_roll_out(problem, policy, rng), problem.demonstrations.lengths)


def _roll_out(problem: Problem[Any], policy: Any, rng: np.random.Generator) -> Demonstrations:
    demonstrations = problem.demonstrations
    return problem.roll_out(policy, demonstrations.starts, int(demonstrations.lengths.max()), rng)


def _policy_arrays(policy: TabularPolicy | NetworkPolicy) -> dict[str, Any]:
    """A policy in full, not only the values that it follows from with its reward."""
    if isinstance(policy, TabularPolicy):
        return {"log_probabilities": policy.log_probabilities, "values": policy.values}
    return policy.to_dict()


def _policy(arrays: dict[str, Any]) -> TabularPolicy | NetworkPolicy:
    """The inverse of `_policy_arrays`."""
    if "log_probabilities" in arrays:
        return TabularPolicy(arrays["log_probabilities"], arrays["values"])
    return NetworkPolicy.from_dict(arrays)


def _cut(trajectories: Demonstrations, lengths: IntArray) -> Demonstrations:
    """The first steps of each trajectory, so that it is no longer than the demonstration."""
    kept = trajectories.step_numbers < lengths[trajectories.trajectory_numbers]
    return Demonstrations(
        trajectories.states[kept],
        trajectories.actions[kept],
        trajectories.next_states[kept],
        np.minimum(trajectories.lengths, lengths),
        trajectories.start_states,
    )
