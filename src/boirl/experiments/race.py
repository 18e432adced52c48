"""Judging the best reward so far, as a method goes on: when is it as good as the expert's?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from boirl.evaluation import Evaluation
from boirl.experiments.trials import Row, expert_esor
from boirl.problem import Problem


class Incumbent(NamedTuple):
    """The best-NLL evaluation so far.

    Attributes:
        nll: Its NLL.
        esor: Expected discounted true reward of its policy.
        policy: Its policy.
        number: Of the evaluation, from 0.
    """

    nll: float
    esor: float
    policy: Any
    number: int


Rule = Callable[[Incumbent], bool]


def expert_rule(problem: Problem[Any], tolerance: float = 0.0) -> Rule:
    """ESOR no lower than that of the true reward's policy, less a share of it."""
    expert = expert_esor(problem)
    threshold = expert - tolerance * abs(expert)
    return lambda incumbent: incumbent.esor >= threshold


class Race:
    """Judges the best reward so far after every evaluation, by one rule or several.

    Attributes:
        reached: By rule, what it took to meet it; None where it is not met yet.
    """

    def __init__(self, problem: Problem[Any], rules: Mapping[str, Rule]) -> None:
        self.problem = problem
        self.rules = rules
        self.best = np.inf
        self.esor = -np.inf
        self.theta: tuple[float, ...] | None = None
        self.reached: dict[str, Row | None] = dict.fromkeys(rules)
        self.spent = {"policies": 0, "environment_steps": 0, "seconds": 0.0}

    def judge(self, evaluation: Evaluation, number: int) -> bool:
        """Whether all rules are met, now or before; a callback of baselines."""
        self.spent["policies"] += evaluation.n_policies
        self.spent["environment_steps"] += evaluation.environment_steps
        self.spent["seconds"] += evaluation.seconds
        if evaluation.nll < self.best:
            policy = (
                self.problem.policy_of(evaluation)
                if evaluation.policies
                else self.problem.policy(evaluation.theta)
            )
            self.best = evaluation.nll
            self.esor = self.problem.true_return(policy)
            self.theta = evaluation.theta if evaluation.reward is None else None
            incumbent = Incumbent(self.best, self.esor, policy, number)
            for name, rule in self.rules.items():
                if self.reached[name] is None and rule(incumbent):
                    self.reached[name] = {"evaluations": number + 1, **self.spent}
        return None not in self.reached.values()
