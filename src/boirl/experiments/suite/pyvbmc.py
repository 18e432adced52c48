"""PyVBMC (Acerbi 2018), which knows nothing of IRL, on the likelihood of a problem; optional."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import qmc

from boirl.errors import InvalidInputError
from boirl.problem import Problem
from boirl.types import FloatArray

PLAUSIBLE = (0.1, 0.9)
"""Its plausible box within the box, as shares: the posterior may be anywhere."""

MARGIN = 1e-6
"""By which its box is wider, as it does not evaluate on its bounds."""

LEAST_EVALUATIONS = 10
NOWHERE = -1e6
"""Log density of thetas without a policy which it cannot do without."""


@dataclass(frozen=True, eq=False)
class VariationalFit:
    """All exact NLLs in order, `n`, samples of the variational posterior, `m x d`, and seconds."""

    nll: FloatArray
    samples: FloatArray
    seconds: float


def installed() -> bool:
    """Whether PyVBMC can be imported."""
    return importlib.util.find_spec("pyvbmc") is not None


def run(problem: Problem[Any], evaluations: int, seed: int, n_samples: int) -> VariationalFit:
    """Fit its variational posterior with at most so many evaluations.

    Args:
        problem: With a uniform prior over its box.
        evaluations: At least 10, which is its initial design.
        seed: Of start and algorithm.
        n_samples: Draws from the fitted posterior.
    """
    if evaluations < LEAST_EVALUATIONS:
        raise InvalidInputError(
            f"evaluations is {evaluations}; PyVBMC needs at least {LEAST_EVALUATIONS}"
        )
    from pyvbmc import VBMC

    box, n = problem.box, len(problem.demonstrations)
    seen: list[float] = []

    def log_density(unit: Any) -> float:
        theta = box.from_unit(np.asarray(unit, dtype=np.float64).reshape(-1))
        evaluation = problem.evaluate(theta)
        seen.append(evaluation.nll)
        return -n * evaluation.nll if evaluation.ok else NOWHERE

    dimension = box.dimension
    start = qmc.Sobol(dimension, rng=np.random.default_rng(seed)).random(1)
    ones = np.ones((1, dimension))
    began = time.perf_counter()
    # Its remarks on convergence go to standard output; the measures say the same.
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        vbmc = VBMC(
            log_density,
            PLAUSIBLE[0] + MARGIN + (PLAUSIBLE[1] - PLAUSIBLE[0] - 2.0 * MARGIN) * start,
            -MARGIN * ones,
            (1.0 + MARGIN) * ones,
            PLAUSIBLE[0] * ones,
            PLAUSIBLE[1] * ones,
            options={"max_fun_evals": evaluations, "display": "off"},
            seed=seed,
        )
        fitted, _ = vbmc.optimize()
        drawn, _ = fitted.sample(n_samples)
    seconds = time.perf_counter() - began
    samples = box.from_unit(np.clip(np.asarray(drawn, dtype=np.float64), 0.0, 1.0))
    return VariationalFit(np.array(seen), samples, seconds)
