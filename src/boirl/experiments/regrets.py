"""How far above the lowest NLL a search is as it goes on, in likelihood-ratio tolerances."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation
from boirl.experiments.many_parameters import optimum
from boirl.experiments.suite.catalogue import suite_problem
from boirl.problem import TabularProblem
from boirl.tolerance import likelihood_ratio_tolerance
from boirl.types import FloatArray, Report

FLOOR = 1e-3
"""Tolerances below which nothing is gained any more: logarithms are taken of no less."""


class ValuesAlone(TabularProblem):
    """A problem whose evaluations come without gradients, as where policies are learned."""

    def _evaluate(self, theta: FloatArray, seed: int | None, report: Report) -> Evaluation:
        return replace(super()._evaluate(theta, seed, report), gradient=None)

    @classmethod
    def of(cls, problem: TabularProblem) -> ValuesAlone:
        """The same problem."""
        return cls(**{one.name: getattr(problem, one.name) for one in fields(problem)})


def tabular_problem(name: str, seed: int) -> TabularProblem:
    """A problem of the suite, with known dynamics."""
    problem = suite_problem(name, seed)
    if not isinstance(problem, TabularProblem):
        raise InvalidInputError(
            f"suite problem {name!r} is a {type(problem).__name__}; expected one on tables"
        )
    return problem


def regrets(problem: TabularProblem, nll: FloatArray) -> FloatArray:
    """The lowest NLL so far above the optimum, in tolerances of a likelihood-ratio test, `n`."""
    lowest = np.fmin.accumulate(nll)
    tolerance = likelihood_ratio_tolerance(len(problem.demonstrations), problem.box.dimension)
    return np.maximum(lowest - optimum(problem), 0.0) / tolerance


def first_within(curve: FloatArray, level: float) -> int | None:
    """Evaluations until a curve is at most this; None if it never is."""
    below = np.flatnonzero(curve <= level)
    return int(below[0]) + 1 if below.size else None


def mean_log_regret(curve: FloatArray) -> float:
    """Mean over evaluations of the decimal logarithm of a curve, at least of `FLOOR`.

    Evaluations that failed at the beginning, before anything is known, do not count.
    """
    known = curve[np.isfinite(curve)]
    return float(np.log10(np.maximum(known, FLOOR)).mean()) if known.size else float("nan")
