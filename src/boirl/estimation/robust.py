"""Covariances that hold where the model is not quite right: the sandwich of Huber and White.

The usual covariance takes the spread of the scores (the slopes of the log-likelihood of each
demonstration) from the model. Here it is measured: between demonstrations, or between groups of
them that may go together, such as the trips of one traveller.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boirl.errors import InvalidInputError, SolverError
from boirl.estimation.information import STEP
from boirl.problem import Problem
from boirl.types import FloatArray


def robust_covariance(
    problem: Problem[Any], theta: FloatArray, covariance: FloatArray, groups: ArrayLike | None
) -> FloatArray:
    """`C S^T S C` for the usual covariance `C` and the scores `S` of each group, `d x d`.

    Parameters without a finite variance keep what they have.

    Args:
        problem: What was to be explained.
        theta: The estimate, `d`.
        covariance: The usual one, `d x d`.
        groups: A label for each demonstration, `N`; by default each is on its own.
    """
    n = len(problem.demonstrations)
    labels = np.arange(n) if groups is None else np.asarray(groups)
    if labels.shape != (n,):
        raise InvalidInputError(
            f"groups have shape {labels.shape}; expected {n} labels, one per demonstration"
        )
    distinct, numbers = np.unique(labels, return_inverse=True)
    free = np.flatnonzero(np.isfinite(np.diag(covariance)))
    if not free.size:
        return covariance
    if len(distinct) <= len(free):
        raise InvalidInputError(
            f"there are {len(distinct)} groups for {len(free)} parameters; expected more groups "
            "than parameters, or the spread between them is not known"
        )
    by_group = np.zeros((len(distinct), len(free)))
    scores = np.stack([_scores(problem, theta, int(number)) for number in free], axis=1)
    np.add.at(by_group, numbers, scores)
    found, usual = covariance.copy(), covariance[np.ix_(free, free)]
    # Few groups fit their own mean too well; with one demonstration each this is next to 1.
    few = len(distinct) / (len(distinct) - 1)
    found[np.ix_(free, free)] = few * usual @ by_group.T @ by_group @ usual
    return found


def _scores(problem: Problem[Any], theta: FloatArray, parameter: int) -> FloatArray:
    """Slopes of the log-likelihood of each demonstration by a parameter, `N`, by differences."""
    low, high = problem.box.low[parameter], problem.box.high[parameter]
    step = STEP * float(high - low)
    ends = []
    for sign in (-1.0, 1.0):
        at = theta.copy()
        at[parameter] = np.clip(at[parameter] + sign * step, low, high)
        evaluation = problem.evaluate(at)
        if evaluation.log_likelihoods is None or not evaluation.ok:
            raise SolverError(
                f"there is no policy at {at.tolist()}, next to the estimate; robust standard "
                "errors need one on either side"
            )
        ends.append((at[parameter], np.asarray(evaluation.log_likelihoods)))
    (left, below), (right, above) = ends
    return np.asarray((above - below) / (right - left))
