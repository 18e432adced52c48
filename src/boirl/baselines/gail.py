"""GAIL (Ho and Ermon 2016): a policy that a discriminator cannot tell from the demonstrations.

A discriminator learns the log odds that a step, a state and its action, was demonstrated rather
than made by the policy; the policy makes one step of policy optimisation with these odds as its
reward; and so on. Odds have both signs, so that trajectories which end early gain nothing by it.

There is no reward in the end: where the policy acts as the demonstrator does, the odds are the same
everywhere. Evaluations therefore carry a policy and no reward (`NoReward`). They are judged by the
NLL of the demonstrations under the policy and, where the truth is known, by its return.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from boirl.baselines.base import Baseline
from boirl.baselines.imitation import Imitator
from boirl.baselines.imitation_networks import NetworkImitator
from boirl.baselines.imitation_tables import TableImitator
from boirl.baselines.learned_reward import check_environment
from boirl.environments.simulator import VectorSimulator
from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.problem import Problem, TabularProblem
from boirl.problem.likelihood import trajectory_log_likelihoods
from boirl.problem.simulated import GymProblem
from boirl.rewards.absent import NoReward
from boirl.rewards.table import ONE
from boirl.threads import single_thread
from boirl.types import Report


@dataclass
class GAILState:
    """Policy and discriminator, and the source of all randomness."""

    rng: np.random.Generator
    imitator: Imitator


@dataclass(frozen=True)
class GAIL(Baseline):
    """One batch of roll-outs, one step of the policy and some of the discriminator per iteration.

    Args:
        policy_rate: Learning rate of a policy that is a network (PPO); on tables, what advantages
            are multiplied with before they are added to the logits (natural policy gradient).
        odds_rate: Learning rate of the discriminator, Adam.
        steps: Of Adam in an iteration.
        penalty: Weight of the squared slope of the odds, or of squared odds on tables: a
            discriminator that is too sure teaches nothing.
        hidden: Widths of the discriminator's layers, where states are not numbered.
    """

    policy_rate: float | None = None
    odds_rate: float | None = None
    steps: int = 5
    penalty: float | None = None
    hidden: tuple[int, ...] = (32, 32)

    name: ClassVar[str] = "gail"
    summary: ClassVar[str] = "a policy that a discriminator cannot tell from the demonstrations"
    default_evaluations: ClassVar[int] = 300

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise InvalidInputError(f"steps is {self.steps}; expected at least 1")
        for name in ("policy_rate", "odds_rate"):
            rate = getattr(self, name)
            if rate is not None and not rate > 0.0:
                raise InvalidInputError(f"{name} is {rate}; expected a positive number")
        if self.penalty is not None and not self.penalty >= 0.0:
            raise InvalidInputError(f"penalty is {self.penalty}; expected 0 or a positive number")
        if not self.hidden or min(self.hidden) < 1:
            raise InvalidInputError(f"hidden is {self.hidden}; expected widths of layers")

    def check(self, problem: Problem[Any]) -> None:
        check_environment(problem, self.name)
        simulator = getattr(problem, "simulator", None)
        if not isinstance(problem, TabularProblem) and not isinstance(simulator, VectorSimulator):
            raise InvalidInputError(
                f"gail learns in vectorised simulators, and that of problem {problem.name!r} is a "
                f"{type(simulator).__name__}; use gcl or airl"
            )

    def begin(self, problem: Problem[Any], seed: int) -> GAILState:
        return GAILState(np.random.default_rng(seed), self._imitator(problem, seed))

    def _imitator(self, problem: Problem[Any], seed: int) -> Imitator:
        given = {
            "policy_rate": self.policy_rate,
            "odds_rate": self.odds_rate,
            "penalty": self.penalty,
        }
        rates = {name: value for name, value in given.items() if value is not None}
        if isinstance(problem, TabularProblem):
            return TableImitator(problem, self.steps, **rates)
        assert isinstance(problem, GymProblem)
        return NetworkImitator(problem, seed, self.steps, self.hidden, **rates)

    def pack(self, state: GAILState) -> dict[str, Any]:
        return {"rng": state.rng, "imitator": state.imitator.pack()}

    def unpack(self, problem: Problem[Any], packed: dict[str, Any]) -> GAILState:
        imitator = self._imitator(problem, 0)
        imitator.unpack(packed["imitator"])
        return GAILState(packed["rng"], imitator)

    def advance(self, problem: Problem[Any], state: GAILState, report: Report) -> Evaluation:
        with single_thread():
            policy = state.imitator.policy()
            log_likelihoods = trajectory_log_likelihoods(policy, problem.demonstrations)
            steps, facts = state.imitator.improve(state.rng)
        return Evaluation(
            ONE,
            -float(log_likelihoods.mean()),
            log_likelihoods=log_likelihoods,
            policies=(problem.compact_policy(policy),),
            environment_steps=steps,
            facts=facts,
            reward=NoReward(),
        )
