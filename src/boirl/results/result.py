"""What every search and every baseline returns."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boirl.errors import BoirlError, InvalidInputError
from boirl.evaluation import Evaluation
from boirl.problem import Problem, TabularProblem
from boirl.registry import Registry
from boirl.results.groups import DistanceKind, RewardGroup, group_rewards, limit_above
from boirl.results.reward_distances import reward_distances
from boirl.tolerance import likelihood_ratio_tolerance
from boirl.types import Difference, FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Result(ABC):
    """Evaluations of rewards, in the order in which they were made.

    Attributes:
        problem: What was to be explained.
        evaluations: One record per evaluation; see `boirl.Evaluation`.
    """

    problem: Problem[Any]
    evaluations: tuple[Evaluation, ...]

    kind: ClassVar[str]
    """Name of the class in files, see `RESULT_KINDS`."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What found it, for headings."""

    def __len__(self) -> int:
        return len(self.evaluations)

    def __repr__(self) -> str:
        known = np.isfinite(self.nll).any()
        best = f"best NLL {self.best_nll:.4f}" if self.feasible.any() else "all failed"
        best = "no solution" if known and not self.feasible.any() else best
        return (
            f"{type(self).__name__}({self.problem.name!r}, {self.title}, "
            f"{len(self)} evaluations, {best})"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters in theta."""
        return self.problem.box.names

    @cached_property
    def thetas(self) -> FloatArray:
        """`n x d`, in the order of evaluation."""
        return np.array([evaluation.theta for evaluation in self.evaluations], dtype=np.float64)

    @cached_property
    def nll(self) -> FloatArray:
        """`n`; NaN where an evaluation failed."""
        return np.array([evaluation.nll for evaluation in self.evaluations], dtype=np.float64)

    @cached_property
    def nll_se(self) -> FloatArray:
        """Standard error of each NLL, `n`; 0 where it is exact or unknown."""
        return np.array([evaluation.nll_se for evaluation in self.evaluations], dtype=np.float64)

    @cached_property
    def seconds(self) -> FloatArray:
        """What each evaluation took, `n`."""
        return np.array([evaluation.seconds for evaluation in self.evaluations], dtype=np.float64)

    @property
    def failures(self) -> tuple[str | None, ...]:
        """Why an evaluation failed, or None; `n`."""
        return tuple(evaluation.failure for evaluation in self.evaluations)

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Which evaluations may be solutions, `n`: they succeeded and meet all constraints."""
        return np.isfinite(self.nll)

    @property
    def n_policies(self) -> int:
        """Policy optimisations in all."""
        return sum(evaluation.n_policies for evaluation in self.evaluations)

    @property
    def environment_steps(self) -> int:
        """Steps in the environment in all."""
        return sum(evaluation.environment_steps for evaluation in self.evaluations)

    @property
    def best_index(self) -> int:
        """Number of the evaluation with the lowest NLL.

        Raises:
            BoirlError: All evaluations failed.
        """
        if not np.isfinite(self.nll).any():
            reasons = "; ".join(dict.fromkeys(str(failure) for failure in self.failures))
            raise BoirlError(f"none of {len(self)} evaluations succeeded; {reasons}")
        if not self.feasible.any():
            raise BoirlError(self._no_solution())
        return int(np.argmin(np.where(self.feasible, self.nll, np.inf)))

    def _no_solution(self) -> str:
        """Why no evaluation that succeeded is a solution."""
        return f"none of {len(self)} evaluations is a solution"

    @property
    def best(self) -> FloatArray:
        """The theta with the lowest NLL, `d`."""
        return self.thetas[self.best_index]

    @property
    def best_nll(self) -> float:
        return float(self.nll[self.best_index])

    def truncate(self, n: int) -> Self:
        """The first `n` evaluations; what else is known is that of the whole result."""
        return replace(self, evaluations=self.evaluations[:n])

    def indices_within(self, tolerance: float = 0.01, absolute: bool = False) -> IntArray:
        """Numbers of the solutions within a tolerance of the best, best first."""
        limit = limit_above(self.best_nll, tolerance, absolute)
        nll = np.where(self.feasible, self.nll, np.inf)
        order = np.argsort(nll, kind="stable")
        return order[nll[order] <= limit]

    def within(self, tolerance: float = 0.01, absolute: bool = False) -> FloatArray:
        """Thetas whose NLL is within a tolerance of the best, `n x d`, best first.

        Args:
            tolerance: Relative to the best NLL (0.01 is one per cent), or in NLL units.
            absolute: Whether the tolerance is in NLL units.
        """
        return self.thetas[self.indices_within(tolerance, absolute)]

    def likelihood_ratio_tolerance(self, confidence: float = 0.95) -> float:
        """The absolute tolerance of the likelihood-ratio test, in NLL units.

        Rewards whose NLL is farther above the best are rejected by the demonstrations at this
        confidence: `within(found.likelihood_ratio_tolerance(), absolute=True)` are those that are
        not.
        """
        if not 0.0 < confidence < 1.0:
            raise InvalidInputError(f"the confidence is {confidence}; expected one in (0, 1)")
        n, d = len(self.problem.demonstrations), self.problem.box.dimension
        return likelihood_ratio_tolerance(n, d, confidence)

    def policy(self, index: int) -> Any:
        """The policy behind an evaluation.

        It is the one that the evaluation kept. Where none was kept and dynamics are known, the
        same one is solved for again; a policy that was learned cannot be reproduced.

        Raises:
            SolverError: The evaluation failed, or its policy was learned and not kept.
        """
        evaluation = self.evaluations[index]
        if evaluation.policies or not evaluation.ok or self.problem.is_model_free:
            return self.problem.policy_of(evaluation)
        if evaluation.reward is None:
            return self.problem.policy(evaluation.theta)
        return self.problem.solve(evaluation.reward, evaluation.theta)

    def policies(self, indices: Sequence[int] | IntArray) -> list[Any]:
        """The policies behind several evaluations."""
        return [self.policy(int(index)) for index in indices]

    @cached_property
    def truth(self) -> Evaluation | None:
        """The evaluation of the true theta; None where it is not known or would have to be learned.

        Solved for once, when it is first needed.
        """
        if self.problem.truth is None or self.problem.is_model_free:
            return None
        evaluation = self.problem.evaluate(self.problem.truth)
        return evaluation if evaluation.ok else None

    def groups(
        self,
        tolerance: float = 0.10,
        distance: float | None = None,
        absolute: bool = False,
        by: DistanceKind = "behaviour",
    ) -> list[RewardGroup]:
        """The rewards within a tolerance, sorted by how they make the demonstrator behave.

        Two rewards share a group where all of its members act alike: their behavioural distance
        (with finitely many actions the total variation between the action probabilities, averaged
        over the demonstrated steps) is at most `distance`, by default what the problem takes for
        the same behaviour. Of very many rewards, the best 500 are sorted. Where policies are
        learned, only evaluations that kept theirs can be sorted. With `by="starc"` or
        `"epic"` they are sorted by the distances of `boirl.results.reward_distances` instead,
        where dynamics are known.

        Returns:
            Groups, the one with the lowest NLL first.
        """
        return group_rewards(self, tolerance, distance, absolute, by)

    def group_volumes(self, groups: Sequence[IntArray], limit: float) -> list[float]:
        """The share of the box that belongs to each group of evaluations.

        Args:
            groups: Numbers of the evaluations of each group.
            limit: Highest NLL of rewards that belong to any.

        Returns:
            One number per group; NaN where nothing is known between the evaluations.
        """
        return [float("nan")] * len(groups)

    def distances(self, indices: ArrayLike, by: DistanceKind = "behaviour") -> FloatArray:
        """Distances between the rewards of some evaluations, `n x n`, in [0, 1].

        Of behaviour, or `"starc"` or `"epic"`.
        """
        chosen = np.asarray(indices, dtype=np.int64)
        if by == "behaviour":
            return self.problem.behaviour_distances(self.policies(chosen))
        if not isinstance(self.problem, TabularProblem):
            raise InvalidInputError(
                f"the distance {by!r} needs known dynamics, which problem {self.problem.name!r} "
                "does not have; expected 'behaviour'"
            )
        return reward_distances(self.problem, self.thetas[chosen], by)

    def differences(self, one: RewardGroup, other: RewardGroup, n: int = 5) -> list[Difference]:
        """Where, along the demonstrations, two groups would act most differently."""
        first, second = (self.policy(int(group.indices[0])) for group in (one, other))
        return self.problem.most_different(first, second, n)

    def to_dict(self) -> dict[str, Any]:
        """Everything that a program may want to know, ready for JSON."""
        from boirl.results.summary import result_facts

        return result_facts(self)

    def _repr_html_(self) -> str:
        from boirl.results.notebook import result_html

        return result_html(self)

    def to_frame(self) -> Any:
        """A pandas table with one row per evaluation: theta by name, NLL, seconds, failure."""
        from boirl.results.summary import result_frame

        return result_frame(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one `.npz` file; an older file stays whole if that fails."""
        from boirl.results.files import save_result

        save_result(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], problem: Problem[Any] | None = None) -> Self:
        """Read what `save` wrote.

        Args:
            path: The file.
            problem: The problem; may be left out where the file carries it, or its name.

        Raises:
            InvalidInputError: The file holds another kind of result, or needs the problem.
        """
        from boirl.results.files import load_result

        found = load_result(path, problem)
        if not isinstance(found, cls):
            raise InvalidInputError(
                f"{os.fspath(path)!r} holds a {type(found).__name__}; expected a {cls.__name__}: "
                f"call {type(found).__name__}.load, or boirl.load_result for either"
            )
        return found

    @property
    def returned(self) -> Mapping[str, FloatArray]:
        """Sets of thetas, `n x d` each, that a method returns beside its evaluations, by name."""
        return {}

    @abstractmethod
    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What a file keeps beside problem and evaluations: facts for JSON, and arrays."""

    @classmethod
    @abstractmethod
    def from_parts(
        cls,
        problem: Problem[Any],
        evaluations: tuple[Evaluation, ...],
        facts: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
    ) -> Self:
        """The inverse of `parts`."""


RESULT_KINDS: Registry[type[Result]] = Registry("kind of result", "boirl.results")
"""The classes of results, by their name in files."""
