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

from boirl.errors import InvalidInputError, SolverError
from boirl.types import FloatArray

PolicyArrays = Mapping[str, NDArray[Any]]
"""A policy in compact form, by name; `Problem.policy_of` turns it back into a policy."""

_POLICY = "policy"

LARGEST_NLL = 1e100
"""Beyond, squares of NLLs and their sums are no numbers, and nothing can be learned."""

LARGEST_INTEGER = 2**63
"""What files keep whole numbers in ends there."""

LONGEST_SHOWN = 80
"""Characters of a value in a message."""

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
        gradient: Derivative of `nll` by theta, `d`; None where there is none, or one that is not
            finite or absurd.
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
        self._put_in_order()
        if self.failure is not None:
            object.__setattr__(self, "nll", math.nan)
        elif not abs(self.nll) <= LARGEST_NLL:
            wanted = f"one up to {LARGEST_NLL:g}" if math.isfinite(self.nll) else "a finite number"
            object.__setattr__(self, "failure", f"{NOT_A_NUMBER} {self.nll}; expected {wanted}")
            object.__setattr__(self, "nll", math.nan)

    def _put_in_order(self) -> None:
        """Numbers and arrays of any library as those of Python and NumPy; names what is neither."""
        in_order: dict[str, Any] = {
            "theta": _thetas(self.theta),
            "nll": math.nan if self.failure is not None else _float("nll", self.nll),
            "nll_se": _float("nll_se", self.nll_se),
            "seconds": _float("seconds", self.seconds),
            "n_policies": _integer("n_policies", self.n_policies),
            "environment_steps": _integer("environment_steps", self.environment_steps),
            "seed": None if self.seed is None else _integer("seed", self.seed),
            "log_likelihoods": _floats("log_likelihoods", self.log_likelihoods),
            "gradient": _believable(_floats("gradient", self.gradient)),
            "policies": _tuple("policies", self.policies),
        }
        for name, value in in_order.items():
            object.__setattr__(self, name, value)
        if not isinstance(self.failure, str | None):
            raise _unexpected("failure", self.failure, "the reason as text, or None")
        if not isinstance(self.facts, Mapping):
            raise _unexpected("facts", self.facts, "values by name")

    def check_storable(self, n_trajectories: int) -> None:
        """Refuse what a study could not keep, or what a search could not learn from.

        Args:
            n_trajectories: How many there are to explain.
        """
        if self.ok and not 0.0 <= self.nll_se <= LARGEST_NLL:
            expected = "a finite number, 0 or more"
            raise _unexpected("nll_se", self.nll_se, expected)
        if not 0.0 <= self.seconds < math.inf:
            raise _unexpected("seconds", self.seconds, "a finite number, 0 or more")
        for label, array, length in (
            ("gradient", self.gradient, len(self.theta)),
            ("log_likelihoods", self.log_likelihoods, n_trajectories),
        ):
            if array is not None and array.shape != (length,):
                raise InvalidInputError(
                    f"{label} of the evaluation has shape {array.shape}; expected {length} "
                    "numbers, or None"
                )
        for number, policy in enumerate(self.policies):
            _check_policy(number, policy)
        try:
            json.dumps(self.numbers())
        except (TypeError, ValueError, RecursionError) as error:
            reason = " ".join(str(error).split())
            raise InvalidInputError(
                f"the evaluation cannot be stored ({reason}); expected facts that are numbers, "
                "strings and lists of them, by name"
            ) from error

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


def _thetas(theta: Any) -> tuple[float, ...]:
    if type(theta) is tuple and all(type(value) is float for value in theta):
        return theta
    numbers = _floats("theta", theta)
    if numbers is None or numbers.ndim != 1:
        raise _unexpected("theta", theta, "one number per parameter")
    return tuple(numbers.tolist())


def _believable(gradient: FloatArray | None) -> FloatArray | None:
    """A gradient that something can be learned from; None where there is no such."""
    is_known = gradient is not None and (np.abs(gradient) <= LARGEST_NLL).all()
    return gradient if is_known else None


def _tuple(label: str, values: Any) -> tuple[Any, ...]:
    try:
        return tuple(values)
    except TypeError:
        raise _unexpected(label, values, "a tuple") from None


def _float(label: str, value: Any) -> float:
    try:
        if np.ndim(value) == 0 and not isinstance(value, str | bytes):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise _unexpected(label, value, "a number")


def _integer(label: str, value: Any) -> int:
    if isinstance(value, int | np.integer) and abs(int(value)) < LARGEST_INTEGER:
        return int(value)
    raise _unexpected(label, value, f"a whole number below {LARGEST_INTEGER}")


def _floats(label: str, values: Any) -> FloatArray | None:
    if values is None:
        return None
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise _unexpected(label, values, "numbers, or None") from None


def _check_policy(number: int, policy: Any) -> None:
    label = f"policy {number}"
    if not isinstance(policy, Mapping):
        raise _unexpected(label, policy, "arrays by name")
    for name, array in policy.items():
        if not isinstance(name, str) or not name or ".." in name.split("/"):
            raise _unexpected(f"the name of an array of {label}", name, "text without '..'")
        if not isinstance(array, np.ndarray) or array.dtype.hasobject:
            raise _unexpected(f"array {name!r} of {label}", array, "a NumPy array of numbers")


def _unexpected(label: str, found: Any, expected: str) -> InvalidInputError:
    shown = " ".join(repr(found)[:LONGEST_SHOWN].split())
    return InvalidInputError(f"{label} of the evaluation is {shown}; expected {expected}")
