"""GP-IRL (Levine, Popovic and Koltun 2011): the reward is a Gaussian process over state features.

What is maximised, over the values at inducing states and the hyperparameters together, is the
log-likelihood of all demonstrations plus the log density of the prior (`reward_process`). The
derivative of the first by the rewards of states is exact (`boirl.problem.explanation`), and goes
through the covariances to the rest. Descents start from several points: there are local optima.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from boirl.baselines.descents import DescentBaseline, DescentState
from boirl.baselines.learned_reward import state_inputs
from boirl.baselines.reward_process import RewardProcess, choose_inducing
from boirl.baselines.run import BaselineRun
from boirl.errors import InvalidInputError, SolverError
from boirl.estimation.descent import descend
from boirl.evaluation import Evaluation
from boirl.problem import Problem, TabularProblem
from boirl.problem.explanation import explain
from boirl.rewards import Transitions
from boirl.rewards.table import ONE, table_reward
from boirl.threads import single_thread
from boirl.types import FloatArray

INDUCING_STREAM, START_STREAM = 31, 32


@dataclass(frozen=True)
class GPIRL(DescentBaseline):
    """One policy and its gradient per step; BFGS from random starts.

    The evaluation with the highest posterior density is the answer of the method; `finish` names
    it. The NLL alone is lower where a reward fits the demonstrations too closely.

    Args:
        inducing: Inducing states at most: those that are demonstrated, then random others.
        steps: Iterations of a descent at most.
        tolerance: A descent ends where an iteration gains less than this share of the objective.
    """

    inducing: int = 64
    steps: int = 200
    tolerance: float = 1e-6

    name: ClassVar[str] = "gp-irl"
    summary: ClassVar[str] = "a Gaussian process over features of states as the reward"
    default_evaluations: ClassVar[int] = 400

    def __post_init__(self) -> None:
        for name in ("inducing", "steps"):
            if getattr(self, name) < 1:
                raise InvalidInputError(f"{name} is {getattr(self, name)}; expected at least 1")
        if not self.tolerance > 0.0:
            raise InvalidInputError(f"tolerance is {self.tolerance}; expected a positive number")

    def check(self, problem: Problem[Any]) -> None:
        if not isinstance(problem, TabularProblem):
            raise InvalidInputError(
                f"gp-irl needs known dynamics on numbered states, which problem "
                f"{problem.name!r} does not have; use gcl or airl"
            )
        if not state_inputs(problem).size:
            raise InvalidInputError(
                f"gp-irl needs features of states, and those of problem {problem.name!r} are the "
                "same everywhere; use maxent"
            )

    def process(self, problem: TabularProblem, seed: int) -> RewardProcess:
        """The process on the states of a problem; the same seed draws the same inducing states."""
        features = state_inputs(problem)(np.arange(problem.mdp.n_states))
        rng = np.random.default_rng([seed, INDUCING_STREAM])
        shown = problem.demonstrations.states
        return RewardProcess(features, choose_inducing(features.numpy(), shown, self.inducing, rng))

    def descend(self, problem: Problem[Any], seed: int, number: int) -> list[Evaluation]:
        """Every evaluation of a descent. Rewards without a policy shorten its steps."""
        assert isinstance(problem, TabularProblem)
        process = self.process(problem, seed)
        start = process.start(np.random.default_rng([seed, START_STREAM, number]))
        seen: list[Evaluation] = []

        def loss_and_slope(unit: FloatArray) -> tuple[float, FloatArray] | None:
            began = time.perf_counter()
            evaluation, slope = _explained(problem, process, unit)
            facts = {**evaluation.facts, "start": number}
            seconds = time.perf_counter() - began
            seen.append(replace(evaluation, facts=facts, seconds=seconds))
            if not evaluation.ok or slope is None:
                return None
            return -evaluation.facts["log_posterior"], slope

        with single_thread():
            descend(loss_and_slope, start, self.steps, self.tolerance)
        return seen

    def finish(self, problem: Problem[Any], state: DescentState, run: BaselineRun) -> BaselineRun:
        """Name the evaluation of highest posterior density, and the features that count there."""
        density = [one.facts.get("log_posterior", -np.inf) for one in run.evaluations]
        found = int(np.argmax(density))
        facts: dict[str, Any] = {"descents": len({one.facts["start"] for one in run.evaluations})}
        if run.evaluations[found].ok:
            chosen = run.evaluations[found].facts
            facts |= {
                "most probable": found,
                "log posterior": round(chosen["log_posterior"], 4),
                "relevance of features": [round(one, 4) for one in chosen["relevance"]],
            }
        return replace(run, facts=facts)


def _explained(
    problem: TabularProblem, process: RewardProcess, unit: FloatArray
) -> tuple[Evaluation, FloatArray | None]:
    """The evaluation of a point of the cube, and the slope of the negative log posterior."""
    mdp, of_next = problem.mdp, bool(getattr(problem.reward, "of_next", False))
    point = torch.tensor(unit, requires_grad=True)
    belief = process.belief(point)
    rewards = belief.rewards.detach().numpy().copy()
    family = table_reward(rewards[:, None], of_next)
    evaluation = Evaluation(ONE, float("nan"), reward=family)
    try:
        table = mdp.expected_rewards(family, np.array([ONE]))[0]
        explained = explain(mdp, problem.solver, table, problem.explained_steps)
    except SolverError as error:
        return replace(evaluation, failure=str(error)), None
    log_likelihoods, log_prior = explained.log_likelihoods, float(belief.log_prior.detach())
    evaluation = replace(
        evaluation,
        nll=explained.nll,
        failure=None,
        log_likelihoods=log_likelihoods,
        policies=(problem.compact_policy(explained.policy),),
        facts={
            "log_posterior": float(log_likelihoods.sum()) + log_prior,
            "relevance": belief.relevance.tolist(),
            "variance": belief.variance.item(),
        },
    )
    if explained.slopes is None:
        return evaluation, None
    by_transition = mdp.slopes_by_transition(explained.slopes, family.depends_on)
    paid = belief.rewards[_paid_states(mdp.paid_transitions(family.depends_on), of_next)]
    data = len(log_likelihoods) * (paid @ torch.as_tensor(by_transition))
    (slope,) = torch.autograd.grad(data - belief.log_prior, point)
    return evaluation, slope.numpy()


def _paid_states(transitions: Transitions, of_next: bool) -> Tensor:
    return torch.as_tensor(transitions.next_states if of_next else transitions.states)
