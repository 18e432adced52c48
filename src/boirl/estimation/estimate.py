"""Maximum likelihood within the box, with what an econometrician expects of an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boirl.errors import InvalidInputError
from boirl.estimation.information import SHOWN, FlatDirection, observed_information
from boirl.estimation.optimum import CountedNll, find_optimum
from boirl.estimation.profile import ProfileInterval, profile_end
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
    def log_likelihood(self) -> float:
        """Total of all demonstrations."""
        return -self.n_demonstrations * self.nll

    @property
    def standard_errors(self) -> FloatArray:
        """`d`; NaN on a bound, infinite where the demonstrations say nothing of a parameter."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def t_values(self) -> FloatArray:
        """Estimates in standard errors, `d`."""
        return self.theta / self.standard_errors

    @property
    def aic(self) -> float:
        """Akaike's criterion: `2 d - 2 log L`."""
        return 2.0 * len(self.theta) - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz' criterion: `d log N - 2 log L`, with `N` demonstrations."""
        return len(self.theta) * float(np.log(self.n_demonstrations)) - 2.0 * self.log_likelihood

    def profile_interval(self, name: str, level: float = 0.95) -> ProfileInterval:
        """The values of a parameter that a likelihood-ratio test does not reject.

        The others take their best values for each. Costs some descents.

        Args:
            name: Of the parameter.
            level: Of confidence.
        """
        if name not in self.names:
            raise InvalidInputError(
                f"there is no parameter {name!r}; expected one of {', '.join(self.names)}"
            )
        if not 0.0 < level < 1.0:
            raise InvalidInputError(f"the level is {level}; expected one in (0, 1)")
        box, column = self.problem.box, self.names.index(name)
        width = float(box.high[column] - box.low[column])
        ends = [
            profile_end(
                CountedNll(self.problem),
                box.to_unit(self.theta),
                self.nll,
                self.n_demonstrations,
                column,
                side,
                level,
                float(self.standard_errors[column]) / width,
            )
            for side in (-1.0, 1.0)
        ]
        (low, open_low), (high, open_high) = ends
        at = [float(box.low[column]) + width * end for end in (low, high)]
        return ProfileInterval(name, at[0], at[1], level, open_low, open_high)

    def __repr__(self) -> str:
        return (
            f"Estimate({self.problem.name!r}, {len(self.theta)} parameters, log-likelihood "
            f"{self.log_likelihood:.4f})"
        )

    def __str__(self) -> str:
        width = max(12, *(len(name) + 2 for name in self.names))
        lines = [
            f"{self.problem.name}: maximum likelihood of {self.n_demonstrations} demonstrations",
            f"log-likelihood {self.log_likelihood:.4f}, AIC {self.aic:.2f}, BIC {self.bic:.2f}; "
            f"{self.evaluations} evaluations, {self.agreeing} of {self.descents} descents agree",
            f"{'':>{width}}{'estimate':>14}{'std. error':>14}{'t':>10}",
        ]
        rows = zip(self.names, self.theta, self.standard_errors, self.t_values, strict=True)
        for name, value, error, t in rows:
            if name in self.on_bound:
                shown = f"{'on its bound':>14}"
            elif np.isfinite(error):
                shown = f"{error:>14.5g}{t:>10.2f}"
            else:
                shown = f"{'not determined':>16}" if np.isinf(error) else f"{'unknown':>14}"
            lines.append(f"{name:>{width}}{value:>14.6g}{shown}")
        lines += [
            f"not determined: {direction}; changing {_listed(direction, self.names)} changes "
            f"the log-likelihood by {abs(direction.rise):.1g}{_advice(direction)}"
            for direction in self.flat_directions
        ]
        if not self.converged:
            lines.append("the best descent had not converged: increase the number of steps")
        return "\n".join(lines)


def _listed(direction: FlatDirection, names: tuple[str, ...]) -> str:
    """The changes of the first parameters of a direction."""
    chosen = direction.names[:SHOWN]
    listed = [f"{name} by {direction.change[names.index(name)]:.3g}" for name in chosen]
    return ", ".join([*listed, "..."] if len(direction.names) > SHOWN else listed)


def _advice(direction: FlatDirection) -> str:
    return " (fix one of them to compare the others)" if len(direction.names) > 1 else ""


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
