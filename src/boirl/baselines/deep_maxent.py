"""Deep maximum-entropy IRL (after Wulfmeier and others): a network on the features of states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import torch

from boirl.baselines.base import Baseline
from boirl.baselines.learned_reward import LearnedReward, RewardKind, check_kind, check_stationary
from boirl.baselines.plain import pack_optimiser, unpack_optimiser
from boirl.errors import InvalidInputError, SolverError
from boirl.evaluation import Evaluation
from boirl.policies.tabular import TabularPolicy, expected_visits
from boirl.problem import Problem, TabularProblem
from boirl.problem.explanation import explain
from boirl.types import FloatArray, Report

Objective = Literal["likelihood", "visits"]


@dataclass
class _State:
    reward: LearnedReward
    optimiser: torch.optim.Optimizer
    next_seed: int
    values: FloatArray | None = None


@dataclass(frozen=True)
class DeepMaxEnt(Baseline):
    """One policy and one step of Adam per iteration.

    Args:
        objective: `"likelihood"`: the exact derivative of the NLL. `"visits"`, as it was published:
            the visits of the policy less those of the demonstrations, discounted, over as many
            steps.
        hidden: Widths of the network's layers.
        learning_rate: Of Adam.
        weight_decay: Of Adam; pulls the network to rewards that change little.
        reward: `"network"`, or `"theta"` for the problem's own family.
    """

    objective: Objective = "likelihood"
    hidden: tuple[int, ...] = (32, 32)
    learning_rate: float = 0.03
    weight_decay: float = 1e-4
    reward: RewardKind = "network"

    name: ClassVar[str] = "deep-maxent"
    summary: ClassVar[str] = "a reward network on features of states, by maximum entropy"

    def __post_init__(self) -> None:
        if self.objective not in get_args(Objective):
            raise InvalidInputError(
                f"objective is {self.objective!r}; expected {' or '.join(get_args(Objective))}"
            )
        check_kind(self.reward)
        if not self.learning_rate > 0.0:
            raise InvalidInputError(
                f"learning_rate is {self.learning_rate}; expected a positive number"
            )

    def check(self, problem: Problem[Any]) -> None:
        if not isinstance(problem, TabularProblem):
            raise InvalidInputError(
                f"deep-maxent needs known dynamics on numbered states, which problem "
                f"{problem.name!r} does not have; use gcl or airl"
            )
        check_stationary(problem, self.name)

    def begin(self, problem: Problem[Any], seed: int) -> _State:
        return _State(*self._start(problem, seed), next_seed=seed + 1)

    def _start(
        self, problem: Problem[Any], seed: int
    ) -> tuple[LearnedReward, torch.optim.Optimizer]:
        """A reward to start from, and its optimiser."""
        reward = LearnedReward(problem, self.reward, seed, self.hidden)
        optimiser = torch.optim.Adam(
            reward.parameters, lr=self.learning_rate, weight_decay=self.weight_decay
        )
        return reward, optimiser

    def pack(self, state: _State) -> dict[str, Any]:
        return {
            "learned": pack_optimiser(state.optimiser),
            "next_seed": state.next_seed,
            "values": state.values,
        }

    def unpack(self, problem: Problem[Any], packed: dict[str, Any]) -> _State:
        reward, optimiser = self._start(problem, packed["next_seed"])
        unpack_optimiser(optimiser, packed["learned"])
        return _State(reward, optimiser, packed["next_seed"], packed["values"])

    def _restart(self, problem: Problem[Any], state: _State) -> None:
        """Go on from another reward: there is no gradient to follow."""
        state.reward, state.optimiser = self._start(problem, state.next_seed)
        state.values, state.next_seed = None, state.next_seed + 1

    def advance(self, problem: Problem[Any], state: _State, report: Report) -> Evaluation:
        assert isinstance(problem, TabularProblem)
        mdp, family = problem.mdp, state.reward.family
        found, theta = state.reward.current()
        rewards = mdp.expected_rewards(found or family, np.array([theta]))[0]
        try:
            explanation = explain(
                mdp, problem.solver, rewards, problem.demonstrations, state.values
            )
        except SolverError as error:
            self._restart(problem, state)
            return Evaluation(theta, float("nan"), failure=str(error), reward=found)
        policy, slopes = explanation.policy, explanation.slopes
        state.values = policy.values
        if self.objective == "visits":
            slopes = _surplus_of_visits(problem, policy)
        evaluation = Evaluation(
            theta,
            explanation.nll,
            log_likelihoods=explanation.log_likelihoods,
            policies=(problem.compact_policy(policy),),
            facts=policy.facts,
            reward=found,
        )
        if slopes is None:
            self._restart(problem, state)
            return evaluation
        by_transition = mdp.slopes_by_transition(slopes, family.depends_on)
        paid = state.reward(mdp.paid_transitions(family.depends_on))
        state.optimiser.zero_grad()
        (paid @ torch.as_tensor(by_transition)).backward()
        state.optimiser.step()
        state.reward.after_step()
        return evaluation


def _surplus_of_visits(problem: TabularProblem, policy: TabularPolicy) -> FloatArray:
    """Discounted visits of state-actions, expected less demonstrated, per trajectory, `S x A`."""
    demonstrations, n_actions = problem.demonstrations, problem.mdp.n_actions
    pairs = demonstrations.states * n_actions + demonstrations.actions
    counted = np.bincount(
        pairs, problem.gamma**demonstrations.step_numbers, problem.mdp.n_states * n_actions
    )
    starts = np.bincount(demonstrations.starts, minlength=problem.mdp.n_states)
    steps = int(demonstrations.lengths.max())
    visits = expected_visits(problem.mdp, policy, starts.astype(np.float64), steps, problem.gamma)
    surplus = visits[:, None] * policy.probabilities - counted.reshape(-1, n_actions)
    return surplus / len(demonstrations)
