"""How well a reward explains demonstrations, its own or others, and how well they do under it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.html import heading, table
from boirl.lazy import load
from boirl.problem.likelihood import Policy
from boirl.problem.suboptimality import Suboptimality
from boirl.types import FloatArray

if TYPE_CHECKING:
    from boirl.problem.base import Problem


class Scored:
    """What every `Problem` answers once a reward is chosen, or estimated."""

    def score(
        self,
        demonstrations: Demonstrations,
        theta: ArrayLike | None = None,
        per_step: bool = False,
        seed: int = 0,
    ) -> FloatArray:
        """Log-likelihoods of trajectories, such as some that were held out: one each, `N`.

        Nothing is fitted to these demonstrations. Costs one policy optimisation.

        Args:
            demonstrations: What to score; they have to fit the environment.
            theta: The reward. By default the maximum-likelihood estimate from the demonstrations
                of the problem itself, which is computed once.
            per_step: Give the log-probability of every step instead, `T`, in the order of
                `problem.complete(demonstrations)`; those of a trajectory sum to its
                log-likelihood.
            seed: Seeds a solver that learns.

        Raises:
            InvalidInputError: Theta is left out where policies are learned.
            SolverError: Theta has no policy.
        """
        problem = cast("Problem[Any]", self)
        if not isinstance(demonstrations, Demonstrations):
            raise InvalidInputError(
                f"demonstrations are a {type(demonstrations).__name__}; expected "
                "boirl.Demonstrations (see Demonstrations.from_arrays and from_trajectories)"
            )
        other = problem.with_demonstrations(demonstrations)
        steps = other.explained_steps
        by_step = np.mean(
            [
                policy.log_prob(steps.states, steps.actions)
                for policy in _policies(other, self._theta_or_estimate(theta), seed)
            ],
            axis=0,
        ).astype(np.float64)
        return by_step if per_step else sum_by_trajectory(by_step, steps)

    def kept_log_likelihoods(self, evaluations: Sequence[Evaluation]) -> FloatArray:
        """Log-likelihood of each demonstration under the policies that evaluations keep, `n x N`.

        For evaluations of the same problem with any demonstrations. Nothing is solved. With several
        policies it is the mean over them.
        """
        problem = cast("Problem[Any]", self)
        rows = [
            np.mean([problem.log_likelihoods(one) for one in problem.policies_of(kept)], axis=0)
            for kept in evaluations
        ]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(problem.demonstrations))

    def _repr_html_(self) -> str:
        """The problem in a notebook: what it is, and its parameters."""
        problem = cast("Problem[Any]", self)
        parameters = problem.reward.parameters
        rows = [
            [
                one.name,
                f"{one.low:g}",
                f"{one.high:g}",
                "" if one.fixed is None else f"{one.fixed:g}",
            ]
            for one in parameters
        ]
        return heading(repr(problem)) + table(["parameter", "low", "high", "fixed"], rows)

    def suboptimality(self, theta: ArrayLike | None = None) -> Suboptimality:
        """How much less than the optimum the demonstrator earns under a reward.

        The reward compatibility of Lazzati, Mutti and Metelli (2024); see
        `boirl.problem.suboptimality`.

        Args:
            theta: The reward. By default the maximum-likelihood estimate.

        Raises:
            InvalidInputError: The dynamics are not a table.
            SolverError: There are no optimal values.
        """
        problem = cast("Problem[Any]", self)
        raise InvalidInputError(
            f"the optimal return in problem {problem.name!r} is not known exactly: it is a "
            f"{type(self).__name__}; expected a boirl.TabularProblem, whose dynamics are a table"
        )

    def with_gamma(self, gamma: float) -> Any:
        """The same problem with another discount.

        Raises:
            InvalidInputError: The model has no discount to change.
        """
        problem = cast("Problem[Any]", self)
        raise InvalidInputError(
            f"gamma of problem {problem.name!r} is {problem.gamma:g} and cannot be changed: it is "
            f"part of the model of a {type(self).__name__}; leave gamma out"
        )

    def _theta_or_estimate(self, theta: ArrayLike | None) -> FloatArray:
        """The theta given, `d`, or that of highest likelihood."""
        problem = cast("Problem[Any]", self)
        if theta is not None:
            return problem.box.check_one(theta)
        if problem.is_model_free:
            raise InvalidInputError(
                f"the policies of problem {problem.name!r} are learned, so it has no "
                "maximum-likelihood estimate to use; pass theta=..., for instance the best of "
                "boirl.explore(problem)"
            )
        return self._estimated_theta

    @cached_property
    def _estimated_theta(self) -> FloatArray:
        # Estimation is a layer above problems, so it is found by name.
        estimate = load("boirl.estimation:maximum_likelihood")(self)
        theta: FloatArray = estimate.theta
        return theta


def sum_by_trajectory(by_step: FloatArray, demonstrations: Demonstrations) -> FloatArray:
    """From a number per step, `T`, to one per trajectory, `N`."""
    numbers = demonstrations.trajectory_numbers
    return np.bincount(numbers, by_step, len(demonstrations)).astype(np.float64)


def uniform_log_likelihoods(problem: Problem[Any], policy: Policy) -> FloatArray:
    """Log-likelihoods of the demonstrations under uniform choice between possible actions, `N`.

    Args:
        problem: With finitely many actions.
        policy: Of any theta; actions that it gives a probability are possible.
    """
    table = getattr(policy, "log_probabilities", None)
    if table is None:
        raise InvalidInputError(
            f"the actions of problem {problem.name!r} are not finitely many; there is no uniform "
            "choice to compare with"
        )
    steps = problem.explained_steps
    states, where = np.unique(steps.states, return_inverse=True)
    rows = table(states) if callable(table) else table[states]
    possible = np.isfinite(rows).sum(axis=1)
    return sum_by_trajectory(-np.log(np.maximum(possible, 1))[where], steps)


def _policies(problem: Problem[Any], theta: FloatArray, seed: int) -> list[Any]:
    """The policy of theta; all that count where several are learned."""
    if not problem.is_model_free:
        return [problem.policy(theta)]
    evaluation = problem.evaluate(theta, seed)
    evaluation.raise_if_failed()
    return problem.policies_of(evaluation)
