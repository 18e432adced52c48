"""Several demonstrators: who showed what, and what each of them wants.

Demonstrations come with labels, or it is found out which belong together. Every policy that was
solved for says how likely each trajectory is, so that a mixture of demonstrators is fitted to a
table of log-likelihoods, rewards by trajectories, by expectation and maximisation, from many starts
and without solving for anything. Then each demonstrator's reward is searched for with its own
trajectories, the policies of these searches join the table, and so on until nobody changes sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from boirl.decisions.table_mixtures import STEPS, fit_table, log_likelihood_table
from boirl.errors import InvalidInputError, SolverError
from boirl.evaluation import Evaluation
from boirl.problem import Problem
from boirl.results import RewardSet
from boirl.search import explore
from boirl.types import FloatArray, IntArray

ROUNDS = 4
"""Times that searches and the mixture take turns, at most."""

MIXTURE_STREAM = 37
MOST_DEMONSTRATORS = 4
"""Demonstrators up to which their number is found out."""


class NoTrajectoryLeftError(SolverError):
    """There are more demonstrators than the demonstrations tell apart."""


@dataclass(frozen=True, eq=False, repr=False)
class Mixture:
    """Demonstrators, each with the rewards that explain its demonstrations.

    Attributes:
        names: Of the demonstrators.
        shares: Of the trajectories, `k`.
        responsibilities: Probability that a trajectory is of each, `N x k`.
        sets: The answer of a search for each.
        log_likelihood: Of all demonstrations under the mixture of the best rewards.
    """

    names: tuple[str, ...]
    shares: FloatArray
    responsibilities: FloatArray
    sets: tuple[RewardSet, ...]
    log_likelihood: float
    problem: Problem[Any] = field(kw_only=True)

    def __len__(self) -> int:
        return len(self.sets)

    @property
    def labels(self) -> IntArray:
        """The likeliest demonstrator of each trajectory, `N`."""
        return np.asarray(self.responsibilities.argmax(axis=1))

    @property
    def thetas(self) -> FloatArray:
        """The best reward of each demonstrator, `k x d`."""
        return np.stack([one.best for one in self.sets])

    @property
    def bic(self) -> float:
        """Bayesian information criterion; lower is better."""
        k, d, n = len(self), self.problem.box.dimension, len(self.responsibilities)
        return -2.0 * self.log_likelihood + (k * d + k - 1) * float(np.log(n))

    def shared(self) -> dict[str, bool]:
        """For each parameter, whether all demonstrators may have it in common.

        That is where the 95 % intervals of all overlap.
        """
        summaries = [one.parameter_summary() for one in self.sets]
        return {
            name: max(own[i].low for own in summaries) <= min(own[i].high for own in summaries)
            for i, name in enumerate(self.problem.box.names)
        }

    def __repr__(self) -> str:
        return f"Mixture({self.problem.name!r}, {len(self)} demonstrators, BIC {self.bic:.1f})"

    def __str__(self) -> str:
        names = self.problem.box.names
        lines = [
            f"{self.problem.name}: {len(self)} demonstrators of {len(self.labels)} trajectories, "
            f"log-likelihood {self.log_likelihood:.2f}, BIC {self.bic:.1f}",
            f"{'':>14}{'share':>8}"
            + "".join(f"{name[:13]:>14}" for name in names)
            + f"{'NLL':>12}",
        ]
        for name, share, one in zip(self.names, self.shares, self.sets, strict=True):
            row = "".join(f"{value:>14.4g}" for value in one.best)
            lines.append(f"{name[:13]:>14}{share:>8.0%}{row}{one.best_nll:>12.4f}")
        common = [name for name, same in self.shared().items() if same]
        lines.append(f"may have in common: {', '.join(common) or 'nothing'}")
        return "\n".join(lines)


def fit_mixture(
    problem: Problem[Any],
    demonstrators: int | None = 2,
    labels: ArrayLike | None = None,
    evaluations: int = 30,
    seed: int = 0,
    **options: Any,
) -> Mixture:
    """The rewards of several demonstrators.

    Args:
        problem: With the demonstrations of all.
        demonstrators: How many there are, where nobody knows who showed what; None for as many, up
            to four, as the Bayesian information criterion calls for and trajectories are left for.
        labels: Who showed what, `N` numbers or names, where it is known.
        evaluations: Policy optimisations of each search: one for all demonstrations, and one for
            each demonstrator.
        seed: Of everything random.
        **options: Of the searches, see `boirl.SearchSettings`.
    """
    if labels is not None:
        return _labelled(problem, np.asarray(labels), evaluations, seed, options)
    count = len(problem.demonstrations)
    if demonstrators is not None and not 1 <= demonstrators <= count:
        raise InvalidInputError(
            f"demonstrators is {demonstrators}; expected a number from 1 to {count}, the number of "
            "trajectories"
        )
    spread: dict[str, Any] = {"n_initial": max(2, evaluations // 2)}
    pool = explore(problem, evaluations, seed=seed, **{**spread, **options}).evaluations
    if demonstrators is not None:
        return _unlabelled(problem, demonstrators, pool, evaluations, seed, options)
    tried = [_unlabelled(problem, 1, pool, evaluations, seed, options)]
    for number in range(2, min(MOST_DEMONSTRATORS, count) + 1):
        try:
            tried.append(_unlabelled(problem, number, pool, evaluations, seed, options))
        except NoTrajectoryLeftError:
            # Nor is there work for more of them.
            break
    return min(tried, key=lambda one: one.bic)


def _unlabelled(
    problem: Problem[Any],
    demonstrators: int,
    evaluations_of_all: Sequence[Evaluation],
    evaluations: int,
    seed: int,
    options: dict[str, Any],
) -> Mixture:
    """So many demonstrators, by the evaluations for all demonstrations to begin with."""
    pool = list(evaluations_of_all)
    rng = np.random.default_rng([seed, MIXTURE_STREAM])
    fit = fit_table(log_likelihood_table(problem, pool), demonstrators, rng)
    sets: tuple[RewardSet, ...] = ()
    for _ in range(ROUNDS):
        sets = tuple(
            _search(
                problem, fit.labels == number, pool[fit.rows[number]], evaluations, seed, options
            )
            for number in range(demonstrators)
        )
        pool += [one for own in sets for one in own.evaluations]
        table = log_likelihood_table(problem, pool)
        again = fit_table(table, demonstrators, rng, warm_start=fit)
        settled = bool((again.labels == fit.labels).all())
        fit = again
        if settled:
            break
    names = tuple(f"group {number + 1}" for number in range(demonstrators))
    shares, responsibilities, total = _by_best(problem, sets, fit.shares)
    return Mixture(names, shares, responsibilities, sets, total, problem=problem)


def _labelled(
    problem: Problem[Any],
    labels: NDArray[Any],
    evaluations: int,
    seed: int,
    options: dict[str, Any],
) -> Mixture:
    count = len(problem.demonstrations)
    if labels.shape != (count,):
        raise InvalidInputError(
            f"labels have shape {labels.shape}; expected {count}, one for each trajectory"
        )
    known, which = np.unique(labels, return_inverse=True)
    sets = tuple(
        _search(problem, which == number, None, evaluations, seed, options)
        for number in range(len(known))
    )
    responsibilities = np.eye(len(known))[which]
    table = log_likelihood_table(problem, [one.evaluations[one.best_index] for one in sets])
    total = float((responsibilities.T * table).sum())
    names = tuple(str(one) for one in known)
    shares = responsibilities.mean(axis=0)
    return Mixture(names, shares, responsibilities, sets, total, problem=problem)


def _search(
    problem: Problem[Any],
    own: NDArray[np.bool_],
    first: Evaluation | None,
    evaluations: int,
    seed: int,
    options: dict[str, Any],
) -> RewardSet:
    """The rewards of a demonstrator, from the best that is known."""
    if not own.any():
        raise NoTrajectoryLeftError(
            "a demonstrator has no trajectory left; expected fewer demonstrators, or more "
            "evaluations"
        )
    part = problem.with_demonstrations(problem.demonstrations.subset(own))
    if first is None:
        return explore(part, evaluations, seed=seed, **options)
    return explore(part, evaluations, initial=[first.theta], seed=seed, **options)


def _by_best(
    problem: Problem[Any], sets: tuple[RewardSet, ...], shares: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Shares, responsibilities and log-likelihood under the best reward of each search."""
    best = [one.evaluations[one.best_index] for one in sets]
    table = log_likelihood_table(problem, best)
    for _ in range(STEPS):
        logs = table.T + np.log(np.maximum(shares, 1e-300))
        totals = logsumexp(logs, axis=1)
        responsibilities = np.exp(logs - totals[:, None])
        shares = responsibilities.mean(axis=0)
    return shares, responsibilities, float(totals.sum())
