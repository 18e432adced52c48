"""How soon a search finds a reward whose policy is as good as the expert's (paper, Table 1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from boirl.demonstrations import Demonstrations
from boirl.problem import Problem, TabularProblem
from boirl.problem.simulated import GymProblem
from boirl.results import Result
from boirl.types import FloatArray


def incumbents(nll: FloatArray) -> np.ndarray:
    """Number of the best evaluation so far, after each of `n`; 0 where all have failed (NaN)."""
    values = np.where(np.isnan(nll), np.inf, nll)
    best = np.minimum.accumulate(values)
    new = np.concatenate([[True], best[1:] < best[:-1]])
    return np.maximum.accumulate(np.where(new, np.arange(len(nll)), 0))


def expert_return(found: Result) -> float:
    """Expected discounted true reward of the true theta's policy, which is learned where needed."""
    if found.truth is not None:
        return found.problem.true_return(found.problem.policy_of(found.truth))
    return float(found.problem.esor(np.array(found.problem.truth)))


def evaluations_to_expert(
    found: Result, tolerance: float = 0.0, expert: float | None = None
) -> int | None:
    """First index at which the best-NLL theta so far has the expert's ESOR; None if never.

    Both ESORs are expectations (exact where the model is known): that of the policy that the
    evaluation keeps, and that of the true reward's policy less `tolerance` (relative). Index 0 is
    the first initial point.

    Args:
        found: A search or a baseline.
        tolerance: Share of the expert's ESOR that may be missing.
        expert: The expert's ESOR, where it is known already.
    """
    threshold = expert_return(found) if expert is None else expert
    threshold -= tolerance * abs(threshold)
    return _first_reaching(
        found, lambda number: found.problem.true_return(found.policy(number)) >= threshold
    )


def evaluations_to_demonstrations(found: Result, seed: int) -> int | None:
    """The rule of the paper's authors, which compares two sampled numbers.

    See `reaches_demonstrations`.
    """
    reaches = reaches_demonstrations(found.problem, seed)
    return _first_reaching(found, lambda number: reaches(found.policy(number), number))


def reaches_demonstrations(problem: Problem[Any], seed: int) -> Callable[[Any, int], bool]:
    """The authors' rule for the policy of an evaluation and its number.

    The threshold is the mean true return of the demonstrations; a policy reaches it where the mean
    true return of as many trajectories, drawn from it from the same starts, does.
    """
    shown = problem.demonstrations
    threshold = mean_true_return(problem, shown)
    horizon = problem.steps if isinstance(problem, TabularProblem) else int(shown.lengths.max())

    def reaches(policy: Any, number: int) -> bool:
        rng = np.random.default_rng([seed, number])
        drawn = problem.roll_out(policy, shown.starts, horizon, rng)
        return mean_true_return(problem, drawn) >= threshold

    return reaches


def _first_reaching(found: Result, reaches: Callable[[int], bool]) -> int | None:
    best = incumbents(found.nll)
    # Before the first evaluation that succeeded, there is nothing to judge.
    reached = {
        number: bool(found.evaluations[number].ok and reaches(int(number)))
        for number in np.unique(best)
    }
    return next((i for i, number in enumerate(best) if reached[number]), None)


def mean_true_return(problem: Problem[Any], trajectories: Demonstrations) -> float:
    """Mean discounted true reward of trajectories.

    With known dynamics, of a reward on states or state-actions.
    """
    if isinstance(problem, GymProblem):
        return float(problem.returns(trajectories, np.array(problem.truth)).mean())
    assert isinstance(problem, TabularProblem)
    rewards = problem.true_rewards()
    columns = np.minimum(trajectories.actions, rewards.shape[1] - 1)
    discounted = problem.gamma**trajectories.step_numbers * rewards[trajectories.states, columns]
    return float(discounted.sum() / len(trajectories))
