"""What a search needs to know of a problem."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from boirl.demonstrations import Demonstrations
from boirl.errors import InvalidInputError, ProcessDiedError, SolverError
from boirl.evaluation import FAULT, Evaluation, PolicyArrays
from boirl.problem.given_later import GivenLater
from boirl.problem.likelihood import Policy, trajectory_log_likelihoods
from boirl.problem.probing import Probed
from boirl.problem.scoring import Scored
from boirl.rewards import RewardFamily
from boirl.threads import single_thread
from boirl.types import Box, Difference, FloatArray, HalfSpace, Report, silent

DEMONSTRATION_STREAM = 8
"""Demonstrations draw from the stream (seed, this)."""

P = TypeVar("P", bound=Policy)


class Problem(Scored, Probed, ABC, Generic[P]):
    """What a search needs to know; `P` is the type of its policies.

    Attributes:
        name: Shown in reports.
        reward: The family whose theta is sought.
        demonstrations: What is to be explained.
        gamma: Discount.
        truth: Theta of the demonstrator where it is known, in the order of the free parameters.
        recipe: Name and options for `load_problem` or `load_source`, where it came from there.
    """

    name: str
    reward: RewardFamily
    demonstrations: Demonstrations
    truth: tuple[float, ...] | None
    recipe: Mapping[str, Any] | None

    tells_where: ClassVar[bool] = True
    """Whether it can be said where demonstrations went; not if they stay at their sites."""

    @property
    @abstractmethod
    def gamma(self) -> float: ...

    @property
    def box(self) -> Box:
        """Names and bounds of the free parameters."""
        return self.reward.box

    @abstractmethod
    def with_demonstrations(self, demonstrations: Demonstrations) -> Problem[P]:
        """The same problem with other demonstrations to explain."""

    @abstractmethod
    def policy(self, theta: ArrayLike) -> P:
        """Solve for the policy of theta: one policy optimisation.

        Raises:
            SolverError: There is none.
        """

    def solve(
        self,
        reward: RewardFamily,
        theta: ArrayLike,
        seed: int = 0,
        warm_start: P | None = None,
        report: Report = silent,
    ) -> P:
        """A policy for any reward in this environment: one policy optimisation.

        Args:
            reward: A family, not necessarily that of the problem.
            theta: Its parameters.
            seed: Seeds a solver that learns.
            warm_start: A policy for a similar reward.
            report: Called with the progress of a solver that takes long.

        Raises:
            SolverError: There is no such policy.
        """
        raise InvalidInputError(
            f"problem {self.name!r} can be solved for rewards of its own family alone"
        )

    def evaluate(
        self, theta: ArrayLike, seed: int | None = None, report: Report = silent
    ) -> Evaluation:
        """Solve for the policy of theta and measure how well it explains the demonstrations.

        One policy optimisation gives everything: the likelihood of each trajectory, the gradient
        where there is one, and the policy. Nothing is changed or kept here. A solver that fails
        gives an evaluation with a `failure`.

        Args:
            theta: The reward.
            seed: Seeds a solver that learns.
            report: Called with the progress of a solver that takes long.
        """
        began = time.perf_counter()
        chosen = self.box.check_one(theta)
        try:
            with single_thread():
                evaluation = self._evaluate(chosen, seed, report)
        except SolverError as error:
            evaluation = Evaluation(
                tuple(chosen.tolist()),
                float("nan"),
                failure=str(error),
                facts={FAULT: True} if isinstance(error, ProcessDiedError) else {},
                n_policies=self.policies_per_evaluation,
                environment_steps=self.policies_per_evaluation * self.env_steps_per_policy,
            )
        return replace(evaluation, seed=seed, seconds=time.perf_counter() - began)

    @abstractmethod
    def _evaluate(self, theta: FloatArray, seed: int | None, report: Report) -> Evaluation:
        """`evaluate` for a checked theta, `d`; raises `SolverError` where there is no policy."""

    def rescore(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation with the demonstrations of this problem, from the policies it keeps.

        For an evaluation of the same problem with other demonstrations. Nothing is solved. The
        gradient, which depends on the demonstrations, is left out. The standard error is that of
        the policies kept, a little too small where the extremes of several runs were left out.
        """
        if not evaluation.ok:
            return evaluation
        rows = np.stack([self.log_likelihoods(policy) for policy in self.policies_of(evaluation)])
        log_likelihoods = rows.mean(axis=0)
        spread = float(rows.mean(axis=1).std(ddof=1)) if len(rows) > 1 else 0.0
        return replace(
            evaluation,
            nll=-float(log_likelihoods.mean()),
            nll_se=spread / len(rows) ** 0.5,
            log_likelihoods=log_likelihoods,
            gradient=None,
        )

    def policy_of(self, evaluation: Evaluation) -> P:
        """The policy behind an evaluation, the best where there are several; nothing is solved."""
        return self._restore_policy(self._kept(evaluation)[0], evaluation)

    def policies_of(self, evaluation: Evaluation) -> list[P]:
        """All policies behind an evaluation, the best first; nothing is solved."""
        return [self._restore_policy(arrays, evaluation) for arrays in self._kept(evaluation)]

    def _kept(self, evaluation: Evaluation) -> tuple[PolicyArrays, ...]:
        if not evaluation.policies:
            reason = evaluation.failure or "its policy was not kept"
            raise SolverError(
                f"there is no policy of theta {evaluation.theta} ({reason}); evaluate it again, or "
                "open the study with the artifacts folder that it was run with"
            )
        return evaluation.policies

    @abstractmethod
    def compact_policy(self, policy: P) -> PolicyArrays:
        """The arrays that an evaluation keeps of a policy."""

    @abstractmethod
    def _restore_policy(self, arrays: PolicyArrays, evaluation: Evaluation) -> P:
        """The inverse of `compact_policy`, given the evaluation that kept the arrays."""

    def nll(self, theta: ArrayLike) -> float:
        """The NLL of one theta: one policy optimisation.

        Raises:
            SolverError: Theta has no policy.
        """
        return -float(self.log_likelihoods(self.policy(theta)).mean())

    def log_likelihoods(self, policy: P) -> FloatArray:
        """Log-likelihood of each trajectory under a policy, `N`; the NLL is their mean, negated."""
        return trajectory_log_likelihoods(policy, self.explained_steps)

    @property
    def explained_steps(self) -> Demonstrations:
        """The demonstrations, in the states that policies are of."""
        return self.demonstrations

    def nll_and_gradient(self, theta: ArrayLike) -> tuple[float, FloatArray]:
        """The NLL of one theta and its derivative by theta, `d`, both exact.

        Raises:
            SolverError: Theta has no policy.
            InvalidInputError: The NLL has no gradient.
        """
        evaluation = self.evaluate(theta)
        evaluation.raise_if_failed()
        if evaluation.gradient is None:
            raise InvalidInputError(
                f"the NLL of problem {self.name!r} has no exact gradient: {self._no_gradient()}"
            )
        return evaluation.nll, evaluation.gradient

    def _no_gradient(self) -> str:
        """Why an evaluation has no gradient."""
        return (
            "the reward family is not differentiable in theta (write it in torch), or the values "
            "have no derivative there"
        )

    @abstractmethod
    def nll_batch(self, thetas: ArrayLike) -> FloatArray:
        """NLL of `n` thetas, NaN where the solver failed; `n` policy optimisations."""

    def ruled_out_by(self, theta: FloatArray) -> HalfSpace | None:
        """Rewards that have no policy, by what one theta, `d`, says of all others.

        Cheap next to a policy optimisation, whether that of theta succeeded or not. None, as by
        default, where nothing is known of others.
        """
        return None

    @property
    def env_steps_per_policy(self) -> int:
        """Steps in the environment of one policy optimisation; 0 where dynamics are known."""
        return 0

    @property
    def policies_per_evaluation(self) -> int:
        """Policy optimisations of one evaluation."""
        return 1

    @property
    def is_model_free(self) -> bool:
        """Whether policies are learned from samples, which costs far more than rolling them out."""
        return False

    @property
    def same_behaviour(self) -> float:
        """Behavioural distance up to which two rewards count as acting alike."""
        return 0.05

    def true_return(self, policy: P) -> float:
        """Expected discounted *true* reward of a policy: the ESOR of the paper."""
        raise InvalidInputError(f"the ESOR of problem {self.name!r} cannot be computed")

    def esor(self, theta: ArrayLike) -> Any:
        """`true_return` of the policy of theta; an array `n` for rows of thetas."""
        measured = [self.true_return(self.policy(row)) for row in self.box.check(theta)]
        return measured[0] if np.ndim(theta) <= 1 else np.array(measured)

    def _require_truth(self) -> tuple[float, ...]:
        if self.truth is None:
            raise InvalidInputError(
                f"problem {self.name!r} has no known truth, so there is no true reward to sum; "
                "pass truth=... where the demonstrator's theta is known"
            )
        return self.truth

    @abstractmethod
    def complete(self, demonstrations: Demonstrations) -> Demonstrations:
        """Check that demonstrations fit the environment, and fill in ends that it determines."""

    @abstractmethod
    def roll_out(
        self, policy: P | None, starts: Any, horizon: int, rng: np.random.Generator
    ) -> Demonstrations:
        """One trajectory from each start, under a policy or (None) uniformly random actions."""

    @abstractmethod
    def demonstrate(
        self, theta: ArrayLike, count: int, seed: int, horizon: int | None = None
    ) -> Demonstrations:
        """Trajectories of a demonstrator who is after theta, to try things out with.

        Args:
            theta: What the demonstrator is after.
            count: Number of trajectories.
            seed: Of the starts and the actions, and of learning where policies are learned.
            horizon: Steps of a trajectory at most; fewer where it ends in a terminal state.

        Raises:
            SolverError: Theta has no policy.
        """

    @abstractmethod
    def behaviour_distances(self, policies: Sequence[P]) -> FloatArray:
        """How differently `n` policies act where the demonstrations went, `n x n`, in [0, 1]."""

    @abstractmethod
    def most_different(self, one: P, other: P, n: int) -> list[Difference]:
        """Where, of all demonstrated steps, two policies differ most; the farthest apart first."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Changes when anything changes that an NLL depends on."""

    def __repr__(self) -> str:
        count = len(self.demonstrations) if self.has_demonstrations else "no"
        return (
            f"{type(self).__name__}({self.name!r}, {', '.join(self._sizes())}, "
            f"{self.box.dimension} parameters, {count} trajectories)"
        )

    @property
    def has_demonstrations(self) -> bool:
        """Whether there is anything to explain yet."""
        return GivenLater.stored(self) is not None

    def _sizes(self) -> list[str]:
        """How large the environment is, in words."""
        return []
