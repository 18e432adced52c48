"""When a reward counts as found: the paper's rule, and the exact one.

The paper compares two sampled numbers: the mean true return of trajectories of the best reward's
policy, and that of the demonstrations. The exact rule compares expectations. Where the reward of
maximum likelihood is itself worse than the true one, as for about half of all sets of 50 Gridworld
demonstrations, no search that minimises the NLL can meet either; there the exact rule asks for an
NLL no higher than that of the true reward.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

from boirl.cache import cached_arrays
from boirl.estimation.optimum import CountedNll, find_optimum
from boirl.experiments.race import Incumbent, Rule, expert_rule
from boirl.experiments.trials import expert_esor
from boirl.metrics import mean_true_return, reaches_demonstrations
from boirl.problem import Problem, TabularProblem
from boirl.types import FloatArray

DESCENTS = 4
"""From thetas all over the box, to find the reward of maximum likelihood; one more starts from the
true reward."""

ROUNDING = 1e-9
"""Share of an ESOR or NLL that rounding may cost."""

DRAWN_ENTRIES = 5_000_000
"""States times thetas of which the ESOR is computed, to see how high it can be."""

FEWEST_DRAWN, MOST_DRAWN = 64, 2048
POLISHING = 100


class BestExplanation(NamedTuple):
    """The reward of maximum likelihood."""

    nll: float
    esor: float


@lru_cache(maxsize=8)
def best_explanation(problem: TabularProblem) -> BestExplanation:
    """By exact gradients; computed once, then in the cache."""

    def compute() -> dict[str, FloatArray]:
        truth = problem.box.to_unit(np.array([problem.truth]))
        best = find_optimum(CountedNll(problem), DESCENTS, 0, truth)
        esor = float(problem.esor(problem.box.from_unit(best.unit)))
        return {"best": np.array([best.nll, esor])}

    key = (problem.fingerprint(), problem.truth, problem.steps, DESCENTS)
    return BestExplanation(*cached_arrays("best-explanations", key, compute)["best"].tolist())


def is_attainable(problem: Problem[Any]) -> bool:
    """Whether the reward of maximum likelihood is as good as the true one; taken for granted where
    policies are learned."""
    if not isinstance(problem, TabularProblem):
        return True
    expert = expert_esor(problem)
    return best_explanation(problem).esor >= expert - ROUNDING * abs(expert)


def exact_rule(problem: Problem[Any], tolerance: float) -> Rule:
    """ESOR of the true reward; its NLL where the former cannot be had."""
    if is_attainable(problem):
        return expert_rule(problem, tolerance or ROUNDING)
    truth = problem.nll(np.array(problem.truth))
    return lambda incumbent: incumbent.nll <= truth + ROUNDING * abs(truth)


def sampled_rule(problem: Problem[Any], seed: int) -> Rule:
    """The paper's: sampled ESOR against the sampled expert."""
    reaches = reaches_demonstrations(problem, seed)

    def rule(incumbent: Incumbent) -> bool:
        return reaches(incumbent.policy, incumbent.number)

    return rule


def highest_esor(problem: TabularProblem) -> tuple[float, float, int]:
    """The highest ESOR of thetas all over the box, the share that reach the expert's, and how many
    thetas that is of. Where that is quick, the best one is improved further."""
    expert = expert_esor(problem)
    box = problem.box
    affordable = DRAWN_ENTRIES // (problem.mdp.n_states * problem.mdp.n_actions)
    drawn = 2 ** int(np.log2(np.clip(affordable, FEWEST_DRAWN, MOST_DRAWN)))
    units = qmc.Sobol(box.dimension, rng=np.random.default_rng(0)).random(drawn)
    esor = np.asarray(problem.esor(box.from_unit(units)))
    share = float((esor >= expert - ROUNDING * abs(expert)).mean())
    highest = max(float(esor.max()), expert)
    if drawn == MOST_DRAWN:
        polished = minimize(
            lambda unit: -float(problem.esor(box.from_unit(np.clip(unit, 0.0, 1.0)))),
            units[esor.argmax()],
            method="Nelder-Mead",
            bounds=[(0.0, 1.0)] * box.dimension,
            options={"maxfev": POLISHING * box.dimension},
        )
        highest = max(highest, -float(polished.fun))
    return highest, share, drawn


def demonstrated_return(problem: Problem[Any]) -> float:
    """The paper's threshold: the mean true return of the demonstrations."""
    return mean_true_return(problem, problem.demonstrations)
