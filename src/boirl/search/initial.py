"""Where a search starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import qmc

from boirl.errors import InvalidInputError
from boirl.problem import Problem
from boirl.types import Box, FloatArray

HARD_CANDIDATES = 64
DESIGNS = ("sobol", "hard")

Design = str | Sequence[Sequence[float]] | Sequence[FloatArray] | FloatArray
"""The name of a design, or thetas to start from."""


def initial_thetas(
    problem: Problem[Any],
    design: Design,
    n_initial: int | None,
    rng: np.random.Generator,
) -> FloatArray:
    """The thetas to evaluate first, `n x d`.

    Args:
        problem: Gives the box.
        design: Thetas to start from; or `"sobol"`, spread evenly; or `"hard"`, those with the
            highest NLL of a candidate set, as in the paper (which costs as many evaluations).
        n_initial: Size of a design by name: by default one for `"hard"`; for `"sobol"` one where
            the search goes on with a step down from it, see `steps_down`, and else one more than
            there are parameters.
        rng: All randomness comes from here.
    """
    if not isinstance(design, str):
        return problem.box.check(design)
    if design not in DESIGNS:
        raise InvalidInputError(
            f"the initial design is {design!r}; expected {' or '.join(map(repr, DESIGNS))}, or "
            "thetas"
        )
    if n_initial is not None and n_initial < 1:
        raise InvalidInputError(f"the initial design has {n_initial} points; expected at least one")
    sobol = qmc.Sobol(problem.box.dimension, rng=rng)
    if design == "sobol":
        steps = steps_down(problem, design, n_initial)
        size = n_initial or (1 if steps else problem.box.dimension + 1)
        drawn = sobol.random_base2(max(0, (size - 1).bit_length()))[:size]
        return problem.box.from_unit(drawn)
    candidates = problem.box.from_unit(sobol.random(max(HARD_CANDIDATES, n_initial or 1)))
    nll = np.nan_to_num(problem.nll_batch(candidates), nan=-np.inf)
    return candidates[np.argsort(-nll, kind="stable")[: n_initial or 1]]


def steps_down(problem: Problem[Any], design: Design, n_initial: int | None) -> bool:
    """Whether the first evaluation is followed by a step down from it.

    Where evaluations have gradients, two along the steepest slope tell how the NLL bends, and lead
    towards the optimum, which a second theta at random does not. Thetas that were asked for stay
    what was asked for.
    """
    named = isinstance(design, str) and design == "sobol"
    return named and n_initial is None and not problem.is_model_free


def describe_design(box: Box, design: Design, n_initial: int | None) -> Any:
    """What the initial thetas follow from, ready for JSON: a study keeps it with them."""
    if isinstance(design, str):
        return {"name": design, "n_initial": n_initial}
    return box.check(design).tolist()
