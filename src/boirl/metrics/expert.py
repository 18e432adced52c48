"""How soon a search finds a reward whose policy is as good as the expert's (paper, Table 1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.problem import Problem, TabularProblem
from boirl.types import FloatArray


def incumbents(nll: FloatArray) -> np.ndarray:
    """Number of the best evaluation so far, after each of `n`; failed ones (NaN) never are."""
    values = np.where(np.isnan(nll), np.inf, nll)
    best = np.minimum.accumulate(values)
    new = np.concatenate([[True], best[1:] < best[:-1]])
    return np.maximum.accumulate(np.where(new, np.arange(len(nll)), 0))


def evaluations_to_expert(
    problem: Problem[Any], thetas: FloatArray, nll: FloatArray, tolerance: float = 0.0
) -> int | None:
    """First index at which the best-NLL theta so far has the expert's ESOR; None if never.

    Both ESORs are expectations (exact where the model is known): that of the theta's policy, and
    that of the true reward's policy less `tolerance` (relative). Index 0 is the first initial
    point.
    """
    best = incumbents(nll)
    distinct = np.unique(best)
    expert = problem.esor(np.array(problem.truth))
    reached = dict(zip(distinct, problem.esor(thetas[distinct]), strict=True))
    threshold = expert - tolerance * abs(expert)
    return next((i for i, number in enumerate(best) if reached[number] >= threshold), None)


def evaluations_to_demonstrations(
    problem: TabularProblem, thetas: FloatArray, nll: FloatArray, seed: int
) -> int | None:
    """The rule of the paper's authors, which compares two sampled numbers.

    The threshold is the mean true return of the demonstrations; a theta reaches it where the mean
    true return of as many trajectories, drawn from its policy from the same starts, does.
    """
    best = incumbents(nll)
    threshold = mean_true_return(problem, problem.demonstrations)
    reached = {}
    for number in np.unique(best):
        rng = np.random.default_rng([seed, int(number)])
        policy = problem.policy(thetas[number])
        drawn = problem.roll_out(policy, problem.demonstrations.starts, problem.steps, rng)
        reached[number] = mean_true_return(problem, drawn) >= threshold
    return next((i for i, number in enumerate(best) if reached[number]), None)


def mean_true_return(problem: TabularProblem, trajectories: Demonstrations) -> float:
    """Mean discounted true reward of trajectories (of a reward on states or state-actions)."""
    rewards = problem.true_rewards()
    columns = np.minimum(trajectories.actions, rewards.shape[1] - 1)
    discounted = problem.gamma**trajectories.step_numbers * rewards[trajectories.states, columns]
    return float(discounted.sum() / len(trajectories))
