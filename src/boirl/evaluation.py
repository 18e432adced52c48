"""One evaluation: everything that one policy optimisation says about one theta.

Searches, surrogates, results and baselines all exchange this record. It is computed once, kept
whole, and read wherever a policy or a likelihood is needed later.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boirl.errors import SolverError
from boirl.types import FloatArray

PolicyArrays = Mapping[str, NDArray[Any]]
"""A policy in compact form, by name; `Problem.policy_of` turns it back into a policy."""

_POLICY = "policy"

LARGEST_NLL = 1e100
"""Beyond, squares of NLLs and their sums are no numbers, and nothing can be learned."""

NOT_A_NUMBER = "the NLL is"
FAULT = "fault"
"""Name of the fact that an evaluation failed for reasons that are not its theta's."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What one policy optimisation says about one theta.

    An evaluation whose NLL is not a finite number, or an absurd one, has failed; the NLL of one
    that has failed is NaN.

    Attributes:
        theta: The reward, `d` numbers.
        nll: Mean over trajectories of their negative log-likelihoods.
        nll_se: Standard error of `nll` due to the solver; 0 where it is exact or unknown.
        log_likelihoods: Log-likelihood of each trajectory, `N`; None where only the NLL is known.
            With several policies, the mean over them.
        gradient: Derivative of `nll` by theta, `d`; None where there is none.
        policies: The policies behind the NLL in compact form, the best one first. Only training
            runs that are repeated give more than one.
        n_policies: Number of policy optimisations that the evaluation took.
        environment_steps: Number of steps in the environment that it took.
        facts: What else the solver or the method reports, by name: numbers, strings and lists.
        seconds: Time that it took.
        seed: Seed of a solver that learns.
        failure: Why there is no NLL; None where there is one.
        reward: The family that theta belongs to, where it is not that of the problem.
    """

    theta: tuple[float, ...]
    nll: float
    nll_se: float = 0.0
    log_likelihoods: FloatArray | None = None
    gradient: FloatArray | None = None
    policies: tuple[PolicyArrays, ...] = ()
    n_policies: int = 1
    environment_steps: int = 0
    facts: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    seed: int | None = None
    failure: str | None = None
    reward: Any = None

    def __post_init__(self) -> None:
        if self.failure is not None:
            object.__setattr__(self, "nll", math.nan)
        elif not abs(self.nll) <= LARGEST_NLL:
            wanted = f"one up to {LARGEST_NLL:g}" if math.isfinite(self.nll) else "a finite number"
            object.__setattr__(self, "failure", f"{NOT_A_NUMBER} {self.nll}; expected {wanted}")
            object.__setattr__(self, "nll", math.nan)

    @property
    def ok(self) -> bool:
        """Whether there is an NLL."""
        return self.failure is None

    @property
    def fault(self) -> str | None:
        """Why the evaluation may be tried again; None where it counts, or theta is to blame.

        A process that was killed says nothing about theta, and an NLL that is not a number may.
        """
        failed_by_chance = self.facts.get(FAULT) or str(self.failure).startswith(NOT_A_NUMBER)
        return self.failure if failed_by_chance else None

    def raise_if_failed(self) -> None:
        """Raise `SolverError` with the reason where there is no NLL."""
        if self.failure is not None:
            raise SolverError(self.failure)

    @property
    def policy(self) -> PolicyArrays | None:
        """The best policy behind the NLL in compact form; None where it was not kept."""
        return self.policies[0] if self.policies else None

    def __repr__(self) -> str:
        theta = ", ".join(f"{value:.4g}" for value in self.theta)
        outcome = f"nll={self.nll:.6g}" if self.ok else f"failure={self.failure!r}"
        return f"Evaluation(theta=({theta}), {outcome})"

    def numbers(self) -> dict[str, Any]:
        """Everything but large arrays and policies, ready for JSON."""
        facts: dict[str, Any] = json.loads(json.dumps(dict(self.facts), default=_plain))
        return {
            "theta": list(self.theta),
            "nll": self.nll if self.ok else None,
            "nll_se": self.nll_se,
            "gradient": None if self.gradient is None else self.gradient.tolist(),
            "n_policies": self.n_policies,
            "environment_steps": self.environment_steps,
            "facts": facts,
            "seconds": self.seconds,
            "seed": self.seed,
            "failure": self.failure,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The large arrays and the policies, by name."""
        arrays: dict[str, NDArray[Any]] = {}
        if self.log_likelihoods is not None:
            arrays["log_likelihoods"] = self.log_likelihoods
        for number, policy in enumerate(self.policies):
            arrays |= {f"{_POLICY}{number}/{name}": array for name, array in policy.items()}
        return arrays

    @classmethod
    def from_parts(
        cls, numbers: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], reward: Any = None
    ) -> Evaluation:
        """The inverse of `numbers` and `arrays`; arrays may be missing."""
        policies: dict[str, dict[str, NDArray[Any]]] = {}
        for key, array in arrays.items():
            owner, slash, name = key.partition("/")
            if slash and owner.startswith(_POLICY):
                policies.setdefault(owner, {})[name] = array
        gradient = numbers.get("gradient")
        nll = numbers.get("nll")
        return cls(
            theta=tuple(numbers["theta"]),
            nll=math.nan if nll is None else nll,
            nll_se=numbers.get("nll_se", 0.0),
            log_likelihoods=arrays.get("log_likelihoods"),
            gradient=None if gradient is None else np.array(gradient, dtype=np.float64),
            policies=tuple(policies[owner] for owner in sorted(policies, key=_number)),
            n_policies=numbers.get("n_policies", 1),
            environment_steps=numbers.get("environment_steps", 0),
            facts=dict(numbers.get("facts", {})),
            seconds=numbers.get("seconds", 0.0),
            seed=numbers.get("seed"),
            failure=numbers.get("failure"),
            reward=reward,
        )


def _number(owner: str) -> int:
    return int(owner.removeprefix(_POLICY))


def _plain(value: Any) -> Any:
    """NumPy numbers and arrays as Python's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"facts hold a {type(value).__name__}; expected numbers, strings or lists")
