"""What a baseline returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from boirl.evaluation import Evaluation
from boirl.files import write_bytes
from boirl.problem import Problem
from boirl.results import Result
from boirl.types import FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class BaselineRun(Result):
    """All evaluations of a baseline, in order.

    Attributes:
        method: Name of the baseline.
        samples: Thetas `n x d` that a method which samples returns in place of one reward.
        solutions: Thetas `n x d` that a method returns beside its best, best first.
        facts: What the whole run reports, by name.
    """

    method: str
    samples: FloatArray | None = None
    solutions: FloatArray | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    kind: ClassVar[str] = "baseline"

    @property
    def title(self) -> str:
        return self.method

    @property
    def returned(self) -> dict[str, FloatArray]:
        named = {"samples": self.samples, "solutions": self.solutions}
        return {name: thetas for name, thetas in named.items() if thetas is not None}

    def truncate(self, n: int) -> Self:
        """The first `n` evaluations; without what the method returned at the end of all."""
        return replace(
            self, evaluations=self.evaluations[:n], samples=None, solutions=None, facts={}
        )

    def save_table(self, path: str | Path) -> None:
        """Write a `.csv` file with one line per evaluation."""
        own = all(evaluation.reward is None for evaluation in self.evaluations)
        names = self.problem.box.names if own else ()
        lines = [
            ",".join(("evaluation", "nll", "n_policies", "environment_steps", "seconds", *names))
        ]
        for number, one in enumerate(self.evaluations):
            numbers = (number, one.nll, one.n_policies, one.environment_steps)
            theta = one.theta if names else ()
            lines.append(",".join(map(repr, (*numbers, round(one.seconds, 3), *theta))))
        write_bytes(path, ("\n".join(lines) + "\n").encode())

    def __str__(self) -> str:
        best = self.evaluations[self.best_index]
        lines = [
            f"{self.problem.name}, {self.method}: {len(self)} evaluations, {self.n_policies} "
            f"policy optimisations, {self.environment_steps} steps in the environment, "
            f"{self.seconds.sum():.1f} s",
            f"best NLL {best.nll:.4f}, in evaluation {self.best_index}",
        ]
        if best.reward is None:
            named = zip(self.problem.box.names, best.theta, strict=True)
            lines.append(
                "best reward: " + ", ".join(f"{name} {value:.4f}" for name, value in named)
            )
        if self.solutions is not None:
            lines.append(f"solutions, best first ({', '.join(self.problem.box.names)}):")
            lines += ["  " + "".join(f"{value:>12.4f}" for value in row) for row in self.solutions]
        if self.samples is not None:
            low, middle, high = np.quantile(self.samples, (0.025, 0.5, 0.975), axis=0)
            lines.append(f"{len(self.samples)} samples (95 % interval, median):")
            for name, *numbers in zip(self.problem.box.names, low, high, middle, strict=True):
                lines.append(f"{name:>18}  {numbers[0]:.4g} to {numbers[1]:.4g}, {numbers[2]:.4g}")
        lines += [f"{name}: {value}" for name, value in self.facts.items()]
        return "\n".join(lines)

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {"method": self.method, "facts": dict(self.facts)}, dict(self.returned)

    @classmethod
    def from_parts(
        cls,
        problem: Problem[Any],
        evaluations: tuple[Evaluation, ...],
        facts: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
    ) -> Self:
        return cls(problem, evaluations, facts["method"], **arrays, facts=facts["facts"])
