"""The exact NLL on a grid of two parameters, where the model is known."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from boirl.experiments.trials import Row
from boirl.reproduction.environments import ENVIRONMENTS, build_problem
from boirl.reproduction.plan import Plan
from boirl.reproduction.store import Cell, Store, Tables, rounded
from boirl.types import Box, FloatArray

GRID, QUICK_GRID = 36, 6
TABLE = "landscapes"


class Grid(NamedTuple):
    """Middles of cells of the first two parameters, and a theta for each pair: x varies first."""

    x: FloatArray
    y: FloatArray
    thetas: FloatArray


def grid_of(box: Box, held: FloatArray, size: int) -> Grid:
    """A grid over a box, with further parameters as in the theta `held`, `d`."""
    middles = (np.arange(size) + 0.5) / size
    x, y = (box.low[i] + middles * (box.high[i] - box.low[i]) for i in (0, 1))
    thetas = np.tile(held, (size * size, 1))
    thetas[:, 0], thetas[:, 1] = (part.reshape(-1) for part in np.meshgrid(x, y))
    return Grid(x, y, thetas)


def grid_size(quick: bool) -> int:
    return QUICK_GRID if quick else GRID


def landscape_cell(plan: Plan, environment: str, held: float | None = None) -> Cell:
    """The landscape at a value of the third parameter, by default that of the true reward."""
    chosen = ENVIRONMENTS[environment].chosen_seed
    return Cell(
        "landscape",
        {"environment": environment, "demonstrations": chosen, "held": held},
        {"quick": plan.quick, "grid": grid_size(plan.quick)},
        partial(_landscape, environment, chosen, held, plan.quick, plan.data),
    )


def _landscape(
    environment: str, demonstrations: int | None, held: float | None, quick: bool, data: str | None
) -> Tables:
    problem = build_problem(environment, demonstrations, quick, data)
    theta = np.array(problem.truth)
    if held is not None:
        theta[2] = held
    grid = grid_of(problem.box, theta, grid_size(quick))
    nll = problem.nll_batch(grid.thetas)
    return {
        TABLE: [
            {"x": rounded(one[0], 4), "y": rounded(one[1], 4), "nll": rounded(value)}
            for one, value in zip(grid.thetas, nll, strict=True)
        ]
    }


def landscape_rows(store: Store, environment: str, held: float | None = None) -> list[Row]:
    """The landscape that a store holds."""
    return store.select(TABLE, environment=environment, held=held)
