"""CR-IRL (Metelli, Pirotta and Restelli 2017): rewards that are compatible with a cloned policy.

No dynamics, no reward features, no policy optimisation: a policy is fitted to the demonstrations,
and rewards are found for which its gradient vanishes and its return curves downwards
(`compatible`). They are known up to their scale, which policies of a temperature need: it is the
one under which the problem's own solver explains the demonstrations best.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from scipy.optimize import minimize_scalar

from boirl.baselines.base import Baseline
from boirl.baselines.cloning import BoltzmannClone, fit_clone, graph_features
from boirl.baselines.compatible import CompatibleRewards, compatible_rewards
from boirl.baselines.learned_reward import check_stationary
from boirl.baselines.run import BaselineRun
from boirl.errors import InvalidInputError, SolverError
from boirl.evaluation import Evaluation
from boirl.problem import Problem, TabularProblem
from boirl.problem.likelihood import trajectory_log_likelihoods
from boirl.rewards.table import ONE, table_reward
from boirl.threads import single_thread
from boirl.types import FloatArray, Report

DRAW_STREAM = 41
MAX_PAIRS = 1500
"""Demonstrated state-actions that are decomposed within a minute."""

LOG_SCALES = (-1.0, 3.0)
"""Powers of ten between which the range of a reward is sought."""

Features = Literal["graph", "reward"]


@dataclass
class CompatibleState:
    """The cone of rewards, and how many of them were evaluated."""

    seed: int
    rewards: CompatibleRewards
    clone: BoltzmannClone
    number: int = 0


@dataclass(frozen=True)
class CRIRL(Baseline):
    """The reward of the sharpest optimum first, then others of the same cone, drawn at random.

    A subclass may clone with features of its own: it overrides `policy_features`.

    Args:
        features: Of the states that the cloned policy sees: `"graph"`, the smoothest functions on
            the graph of states, or `"reward"`, those that the reward family looks at.
        n_features: Of the graph.
        known_dynamics: Whether rewards follow from `Q` functions by the dynamics; by default they
            are advantages, which need none.
        ridge: See `fit_clone`.
        tolerance: Share of the largest singular value below which one is taken for 0.
        sharpness: See `compatible_rewards`.
        scale_policies: Policies that the search for the scale of a reward may take.
    """

    features: Features = "graph"
    n_features: int = 12
    known_dynamics: bool = False
    ridge: float = 1e-4
    tolerance: float = 1e-6
    sharpness: float = 0.1
    scale_policies: int = 12

    name: ClassVar[str] = "cr-irl"
    summary: ClassVar[str] = "rewards for which the gradient of a cloned policy vanishes"
    default_evaluations: ClassVar[int] = 20

    def __post_init__(self) -> None:
        if self.features not in get_args(Features):
            expected = " or ".join(map(repr, get_args(Features)))
            raise InvalidInputError(f"features is {self.features!r}; expected {expected}")
        for name in ("n_features", "scale_policies"):
            if getattr(self, name) < 1:
                raise InvalidInputError(f"{name} is {getattr(self, name)}; expected at least 1")
        for name in ("ridge", "tolerance", "sharpness"):
            if not getattr(self, name) > 0.0:
                found = getattr(self, name)
                raise InvalidInputError(f"{name} is {found}; expected a positive number")

    def check(self, problem: Problem[Any]) -> None:
        if not isinstance(problem, TabularProblem):
            raise InvalidInputError(
                f"cr-irl clones policies on numbered states, which problem {problem.name!r} does "
                "not have; use gail, gcl or airl"
            )
        check_stationary(problem, self.name)
        shown = problem.demonstrations
        pairs = len(np.unique(shown.states * problem.mdp.n_actions + shown.actions))
        if pairs > MAX_PAIRS:
            raise InvalidInputError(
                f"cr-irl decomposes a matrix of demonstrated state-actions, and those of problem "
                f"{problem.name!r} are {pairs}; expected at most {MAX_PAIRS}: give it fewer "
                "demonstrations, or use maxent"
            )

    def policy_features(self, problem: TabularProblem) -> FloatArray:
        """What the cloned policy sees of states, `S x k`."""
        if self.features == "graph":
            return graph_features(problem.mdp, self.n_features)
        seen = problem.reward.state_features(problem.mdp.n_states)
        return np.column_stack([np.ones(len(seen)), seen])

    def begin(self, problem: Problem[Any], seed: int) -> CompatibleState:
        assert isinstance(problem, TabularProblem)
        with single_thread():
            seen, shown = self.policy_features(problem), problem.demonstrations
            clone = fit_clone(seen, shown, problem.mdp.n_actions, self.ridge)
            found = compatible_rewards(
                problem.mdp, shown, clone, self.known_dynamics, self.tolerance, self.sharpness
            )
        if found is None:
            raise InvalidInputError(
                f"cr-irl found nothing but functions of states that the cloned policy of problem "
                f"{problem.name!r} is compatible with; expected fewer parameters than "
                f"demonstrated state-actions ({clone.n_parameters} parameters): lower n_features"
            )
        return CompatibleState(seed, found, clone)

    def pack(self, state: CompatibleState) -> dict[str, Any]:
        return {"seed": state.seed, "number": state.number}

    def unpack(self, problem: Problem[Any], packed: dict[str, Any]) -> CompatibleState:
        np.random.SeedSequence(packed["seed"])
        if packed["number"] < 0:
            raise ValueError(f"there were {packed['number']} rewards")
        return replace(self.begin(problem, packed["seed"]), number=packed["number"])

    def advance(self, problem: Problem[Any], state: CompatibleState, report: Report) -> Evaluation:
        assert isinstance(problem, TabularProblem)
        weights = state.rewards.sharpest
        if state.number:
            rng = np.random.default_rng([state.seed, DRAW_STREAM, state.number])
            weights = state.rewards.draw(rng)
        state.number += 1
        shape = (problem.mdp.n_states, problem.mdp.n_actions)
        return self._scaled(problem, state.rewards.table(weights, shape))

    def _scaled(self, problem: TabularProblem, paid: FloatArray) -> Evaluation:
        """The evaluation of a reward at its most likely scale, of all that were tried."""
        tried: list[Evaluation] = []

        def nll(log_scale: float) -> float:
            evaluation = _evaluate(problem, 10.0**log_scale * paid)
            tried.append(replace(evaluation, facts={"scale": float(10.0**log_scale)}))
            return evaluation.nll if evaluation.ok else np.inf

        options = {"maxiter": self.scale_policies, "xatol": 1e-2}
        minimize_scalar(nll, bounds=LOG_SCALES, method="bounded", options=options)
        found = [one for one in tried if one.ok]
        best = min(found, key=lambda one: one.nll) if found else tried[0]
        return replace(best, n_policies=len(tried))

    def finish(
        self, problem: Problem[Any], state: CompatibleState, run: BaselineRun
    ) -> BaselineRun:
        found = state.rewards
        facts = {
            "demonstrated state-actions": len(found.pairs),
            "parameters of the cloned policy": state.clone.n_parameters,
            "compatible rewards": found.n_found,
            "with a negative Hessian": found.n_negative,
        }
        return replace(run, facts=facts)


def _evaluate(problem: TabularProblem, paid: FloatArray) -> Evaluation:
    """The evaluation of a table of rewards, `S x A`."""
    family = table_reward(paid)
    evaluation = Evaluation(ONE, float("nan"), reward=family)
    try:
        policy = problem.solve(family, ONE)
    except SolverError as error:
        return replace(evaluation, failure=str(error))
    log_likelihoods = trajectory_log_likelihoods(policy, problem.demonstrations)
    return Evaluation(
        ONE,
        -float(log_likelihoods.mean()),
        log_likelihoods=log_likelihoods,
        policies=(problem.compact_policy(policy),),
        reward=family,
    )
