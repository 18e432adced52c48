"""A handful of rewards that stand for the posterior, each with its policy.

Where a policy takes milliseconds, they are samples of the exact posterior (`found.verify`), solved
for together; where it takes longer, of that of the surrogate. Elsewhere they are the evaluations of
the search, whose policies were kept: each counts for the samples that are nearest to it in the
latent space, where rewards that behave alike lie together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist

from boirl.errors import InvalidInputError, SolverError
from boirl.policies import TabularPolicy
from boirl.problem import Problem, TabularProblem
from boirl.results.verified import LEAST_EVALUATIONS, VerifiedRewards
from boirl.threads import single_thread
from boirl.types import FloatArray

if TYPE_CHECKING:
    from boirl.results import RewardSet

SOLVED = 64
"""Samples of the posterior that are solved for, where that takes no longer than this:"""

SOLVE_SECONDS = 30.0

VERIFIED_PER_SAMPLE = 8
"""Exact NLLs for each sample, where these too take no longer; four times as many where they turn
out to be few."""

LEAST_EFFECTIVE = 8.0
"""Effective samples below which exact NLLs are few."""

SAMPLES = 1000
"""Samples that say what an evaluation counts for."""

AT_ONCE = 200_000
"""State-actions times rewards that are solved for together."""


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble:
    """Weighted rewards and their policies.

    Attributes:
        problem: What they explain.
        thetas: `m x d`.
        weights: What each counts for in the posterior, `m`; they sum to 1.
        policies: `m`.
    """

    problem: Problem[Any]
    thetas: FloatArray
    weights: FloatArray
    policies: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.policies)

    def __repr__(self) -> str:
        return f"Ensemble({self.problem.name!r}, {len(self)} rewards)"

    @cached_property
    def log_policies(self) -> FloatArray:
        """Log probabilities of all actions in all states, `m x S x A`; for tables alone."""
        return np.stack([policy.log_probabilities for policy in self.policies])

    @cached_property
    def rewards(self) -> FloatArray:
        """What is paid for every state-action, `m x S x A`, or `m x S x 1`; for tables alone."""
        problem = self.problem
        assert isinstance(problem, TabularProblem)
        return problem.mdp.expected_rewards(problem.reward, self.thetas)


def ensemble_of(found: RewardSet, policies: int | None = None, seed: int = 0) -> Ensemble:
    """The rewards that stand for the posterior of a search.

    Args:
        found: The answer of a search.
        policies: Samples of the posterior to solve for; 0 for the kept policies of evaluations. By
            default 64 where that takes at most half a minute, else 0.
        seed: Of the samples.
    """
    number = policies_to_solve(found, policies)
    if not number:
        return _kept_ensemble(found, seed)
    verified = verified_rewards(found, number, seed)
    if verified is None:
        return solved_ensemble(found.problem, found.sample(number, seed))
    thetas, counts = np.unique(verified.samples(number, seed), axis=0, return_counts=True)
    return solved_ensemble(found.problem, thetas, counts / counts.sum())


def policies_to_solve(found: RewardSet, policies: int | None = None) -> int:
    """How many samples are solved for, given what the user asks for; 0 for the kept policies."""
    problem = found.problem
    if policies is not None and policies < 0:
        raise InvalidInputError(f"policies is {policies}; expected 0 or more")
    if problem.is_model_free and policies:
        raise InvalidInputError(
            f"policies is {policies} and those of problem {problem.name!r} are learned; expected 0 "
            "or None, for the policies that the search kept"
        )
    if policies is not None:
        return policies
    quick = float(np.median(found.seconds)) * SOLVED <= SOLVE_SECONDS
    return SOLVED if quick and not problem.is_model_free else 0


def verified_rewards(found: RewardSet, policies: int, seed: int) -> VerifiedRewards | None:
    """Rewards with exact NLLs, some for each sample.

    None where these take too long, or where constraints came from a file that cannot carry them.
    """
    evaluations = max(LEAST_EVALUATIONS, policies * VERIFIED_PER_SAMPLE)
    if not found.constraints.is_measurable:
        return None
    if float(np.median(found.seconds)) * evaluations > SOLVE_SECONDS:
        return None
    verified = found.verify(evaluations, seed)
    if verified.effective_sample_size >= LEAST_EFFECTIVE:
        return verified
    return found.verify(4 * evaluations, seed)


def solved_ensemble(
    problem: Problem[Any], thetas: FloatArray, weights: FloatArray | None = None
) -> Ensemble:
    """Rewards with the policies that are solved for here; those without a policy are left out.

    Args:
        problem: Where to solve, not necessarily where the rewards were found.
        thetas: `m x d`.
        weights: Of each, `m`; by default all count the same.

    Raises:
        SolverError: None has a policy.
    """
    share = np.full(len(thetas), 1.0 / len(thetas)) if weights is None else weights
    with single_thread():
        solved = (
            _solve_tables(problem, thetas)
            if isinstance(problem, TabularProblem)
            else [_policy_or_none(problem, theta) for theta in thetas]
        )
    kept = [number for number, policy in enumerate(solved) if policy is not None]
    if not kept or not share[kept].sum() > 0.0:
        raise SolverError(
            f"none of {len(thetas)} rewards has a policy in problem {problem.name!r}; expected some"
        )
    chosen = [solved[number] for number in kept]
    return Ensemble(problem, thetas[kept], share[kept] / share[kept].sum(), tuple(chosen))


def _policy_or_none(problem: Problem[Any], theta: FloatArray) -> Any:
    try:
        return problem.policy(theta)
    except SolverError:
        return None


def _solve_tables(problem: TabularProblem, thetas: FloatArray) -> Sequence[TabularPolicy | None]:
    """The policies of many rewards in one table; None where there is none."""
    found: list[TabularPolicy | None] = []
    size = max(1, AT_ONCE // (problem.dynamics.n_states * problem.mdp.n_actions))
    for first in range(0, len(thetas), size):
        rewards = problem.mdp.expected_rewards(problem.reward, thetas[first : first + size])
        finite = np.isfinite(rewards).all(axis=(1, 2))
        solution = problem.solver.solve_batch(
            problem.mdp, np.where(np.isfinite(rewards), rewards, 0)
        )
        for number, fine in enumerate(solution.converged & finite):
            policy = TabularPolicy(solution.log_policies[number], solution.values[number])
            found.append(policy if fine else None)
    return found


def _kept_ensemble(found: RewardSet, seed: int) -> Ensemble:
    """The evaluations that kept their policies, by the samples that are nearest to them."""
    usable = np.array(
        [number for number in np.flatnonzero(found.feasible) if found.evaluations[number].policies],
        dtype=np.int64,
    )
    if not usable.size:
        raise SolverError(
            "no evaluation of this result kept its policy; open the study with the artifacts "
            "folder that it was run with, or run the search again"
        )
    samples = found.fitted.latent(found.sample(SAMPLES, seed))
    nearest = cdist(samples, found.fitted.latent(found.thetas[usable])).argmin(axis=1)
    counts = np.bincount(nearest, minlength=len(usable))
    chosen = usable[counts > 0]
    weights = counts[counts > 0] / counts.sum()
    policies = tuple(found.problem.policy_of(found.evaluations[number]) for number in chosen)
    return Ensemble(found.problem, found.thetas[chosen], weights, policies)
