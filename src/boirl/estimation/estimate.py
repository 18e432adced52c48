"""Maximum likelihood within the box, with what an econometrician expects of an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from boirl.errors import InvalidInputError
from boirl.estimation.information import FlatDirection, observed_information
from boirl.estimation.likelihood_ratio import LikelihoodRatioTest, likelihood_ratio_test
from boirl.estimation.optimum import CountedNll, find_optimum
from boirl.estimation.profile import ProfileInterval, profile_interval
from boirl.estimation.robust import robust_covariance
from boirl.estimation.tables import estimate_table, plain
from boirl.problem import Problem
from boirl.types import FloatArray

STARTS = 4


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """The theta that explains the demonstrations best, and how sure that is.

    Attributes:
        problem: What was to be explained.
        theta: `d`.
        nll: Mean over the demonstrations.
        covariance: Inverse of the observed information, `d x d`; see `Information`.
        hessian: The observed information, `d x d`.
        on_bound: Names of parameters on a bound of the box, which have no standard error; those of
            the others hold given these.
        flat_directions: Changes of theta that the demonstrations say nothing of.
        evaluations: Policy optimisations that it took.
        descents: How many there were.
        agreeing: How many of them ended at the same NLL. One alone may be a local optimum.
        converged: Whether the best descent ended because nothing was left to gain.
    """

    problem: Problem[Any]
    theta: FloatArray
    nll: float
    covariance: FloatArray
    hessian: FloatArray
    on_bound: tuple[str, ...]
    flat_directions: tuple[FlatDirection, ...]
    evaluations: int
    descents: int
    agreeing: int
    converged: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters in theta."""
        return self.problem.box.names

    @property
    def n_demonstrations(self) -> int:
        return len(self.problem.demonstrations)

    @property
    def n_steps(self) -> int:
        """Steps of all demonstrations."""
        return int(self.problem.demonstrations.lengths.sum())

    @property
    def n_determined(self) -> int:
        """Parameters less the directions of theta that the demonstrations say nothing of."""
        return len(self.theta) - len(self.flat_directions)

    @property
    def log_likelihood(self) -> float:
        """Total of all demonstrations."""
        return -self.n_demonstrations * self.nll

    @property
    def standard_errors(self) -> FloatArray:
        """`d`; NaN on a bound, infinite where the demonstrations say nothing of a parameter."""
        return np.sqrt(np.diag(self.covariance))

    def robust_standard_errors(self, groups: ArrayLike | None = None) -> FloatArray:
        """Standard errors that hold where the model is not quite right, `d`.

        By the spread of what each demonstration says (Huber and White); `2 d` evaluations.

        Args:
            groups: A label for each demonstration, `N`, such as who made it; those with the same
                one may go together. By default each is on its own.

        Raises:
            InvalidInputError: Groups do not fit, or there are no more of them than parameters.
        """
        robust = robust_covariance(self.problem, self.theta, self.covariance, groups)
        return np.sqrt(np.diag(robust))

    @property
    def t_values(self) -> FloatArray:
        """Estimates in standard errors, `d`; NaN where there is no finite one."""
        errors = self.standard_errors
        return self.theta / np.where(np.isfinite(errors), errors, np.nan)

    @property
    def p_values(self) -> FloatArray:
        """Of a parameter that is 0, by the normal distribution, two-sided, `d`."""
        return np.asarray(2.0 * norm.sf(np.abs(self.t_values)))

    @property
    def aic(self) -> float:
        """Akaike's criterion: `2 d - 2 log L`."""
        return 2.0 * len(self.theta) - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz' criterion: `d log N - 2 log L`, with `N` demonstrations, not steps."""
        return len(self.theta) * float(np.log(self.n_demonstrations)) - 2.0 * self.log_likelihood

    def profile_interval(self, name: str, level: float = 0.95) -> ProfileInterval:
        """The values of a parameter that a likelihood-ratio test does not reject.

        The others take their best values for each. Costs some descents.

        Args:
            name: Of the parameter.
            level: Of confidence.
        """
        errors = dict(zip(self.names, self.standard_errors, strict=True))
        return profile_interval(
            CountedNll(self.problem),
            self.problem.box.to_unit(self.theta),
            self.nll,
            self.n_demonstrations,
            self.problem.box,
            name,
            level,
            float(errors.get(name, np.nan)),
        )

    def likelihood_ratio_test(self, smaller: Estimate) -> LikelihoodRatioTest:
        """Test a smaller reward family, which this one contains, against this one.

        A small p-value says that the smaller family does not suffice.

        Args:
            smaller: Its estimate from the same demonstrations, dynamics and discount.

        Raises:
            InvalidInputError: The families are not nested, as far as can be told.
        """
        if not isinstance(smaller, Estimate):
            raise InvalidInputError(
                f"the smaller fit is a {type(smaller).__name__}; expected what "
                "boirl.maximum_likelihood returns"
            )
        return likelihood_ratio_test(self, smaller)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings, for a JSON file; None for what is not a finite number."""
        columns = {
            "estimate": self.theta,
            "standard_error": self.standard_errors,
            "t_value": self.t_values,
            "p_value": self.p_values,
        }
        facts: dict[str, Any] = plain(
            {
                "problem": self.problem.name,
                "gamma": self.problem.gamma,
                "demonstrations": self.n_demonstrations,
                "steps": self.n_steps,
                "log_likelihood": self.log_likelihood,
                "aic": self.aic,
                "bic": self.bic,
                "parameters": {
                    name: {key: values[number] for key, values in columns.items()}
                    for number, name in enumerate(self.names)
                },
                "covariance": self.covariance,
                "on_bound": self.on_bound,
                "not_determined": [
                    {"parameters": one.names, "change": one.change} for one in self.flat_directions
                ],
                "converged": self.converged,
                "descents": self.descents,
                "agreeing": self.agreeing,
                "evaluations": self.evaluations,
            }
        )
        return facts

    def __repr__(self) -> str:
        return (
            f"Estimate({self.problem.name!r}, {len(self.theta)} parameters, log-likelihood "
            f"{self.log_likelihood:.4f})"
        )

    def __str__(self) -> str:
        return estimate_table(self)


def maximum_likelihood(
    problem: Problem[Any], starts: int = STARTS, seed: int = 0, initial: Any = None
) -> Estimate:
    """The theta of highest likelihood within the box, by exact gradients.

    Quasi-Newton descents start from the best of some thetas all over the box. A theta without a
    policy shortens a step, and never ends a descent.

    Args:
        problem: With known dynamics, and a reward that is differentiable in theta.
        starts: Descents.
        seed: Of the thetas.
        initial: Further thetas to start from, `d` or `n x d`.

    Raises:
        InvalidInputError: The NLL has no exact gradient.
        SolverError: No theta has a policy.
    """
    if starts < 1:
        raise InvalidInputError(f"starts is {starts}; expected at least one descent")
    box = problem.box
    first = None if initial is None else box.to_unit(box.check(initial))
    objective = CountedNll(problem)
    optimum = find_optimum(objective, starts, seed, first)
    n = len(problem.demonstrations)
    known = observed_information(objective, optimum.unit, optimum.gradient, n, box)
    return Estimate(
        problem,
        box.from_unit(optimum.unit),
        optimum.nll,
        known.covariance,
        known.hessian,
        known.on_bound,
        known.flat,
        objective.evaluations,
        optimum.descents,
        optimum.agreeing,
        optimum.converged,
    )
