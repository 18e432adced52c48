"""How far an answer is from the exact one."""

from __future__ import annotations

from typing import Any

import numpy as np

from boirl.experiments.suite.methods import Answer
from boirl.experiments.trials import Row
from boirl.metrics import landscape_error
from boirl.metrics.reference import ExactReference
from boirl.problem import Problem
from boirl.results import RewardSet
from boirl.types import FloatArray

THETAS = 512
"""At which predicted intervals are compared with exact NLLs, all over the box and where the
posterior is."""

STREAM = 1505


def measure(problem: Problem[Any], reference: ExactReference, answer: Answer, seed: int) -> Row:
    """Numbers for one row; None where the method has nothing to measure."""
    row: Row = {
        "tolerances": reference.tolerances_above(answer.best_nll),
        "best_nll": answer.best_nll,
        "optimum": reference.best_nll,
        "seconds": answer.seconds,
        "used": answer.evaluations,
        "failures": answer.failures,
        "warnings": list(answer.warnings),
        "reference_r_hat": reference.r_hat,
        "variation": None,
        "noise": None,
        "excess": None,
        "coverage_box": None,
        "coverage_posterior": None,
        "excluded": None,
        "health": None,
    }
    if answer.samples is not None:
        row["variation"] = reference.variation(answer.samples)
        row["noise"] = reference.noise(len(answer.samples))
        row["excess"] = row["variation"] - row["noise"]
        row["excluded"] = excluded_medians(reference, answer.samples)
    if answer.found is not None:
        row.update(coverage(problem, reference, answer.found, seed))
        row["health"] = health_lines(answer.found)
    return row


def coverage(
    problem: Problem[Any], reference: ExactReference, found: RewardSet, seed: int
) -> dict[str, float]:
    """Shares of exact NLLs in the 95 % intervals: over the box, and over the posterior."""
    rng = np.random.default_rng([STREAM, seed])
    anywhere = problem.box.from_unit(rng.random((THETAS, problem.box.dimension)))
    likely = reference.samples[rng.integers(len(reference.samples), size=THETAS)]
    shares = {}
    for name, thetas in (("box", anywhere), ("posterior", likely)):
        exact = problem.nll_batch(thetas)
        known = np.isfinite(exact)
        fit = landscape_error(found, thetas[known], exact[known])
        shares[f"coverage_{name}"] = fit.coverage
    return shares


def excluded_medians(reference: ExactReference, samples: FloatArray) -> list[str]:
    """Parameters whose 95 % interval does not hold the median of the exact posterior."""
    low, high = np.quantile(samples, [0.025, 0.975], axis=0)
    median = reference.median
    outside = (median < low) | (median > high)
    return [name for name, out in zip(reference.box.names, outside, strict=True) if out]


def health_lines(found: RewardSet) -> list[str] | None:
    """What the answer says of itself that needs attention; None where it cannot say anything."""
    health = getattr(found, "health", None)
    if health is None:
        return None
    return [str(one) for one in health() if one.needs_attention]
