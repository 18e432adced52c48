"""Objectworld (Levine, Popovic and Koltun 2011): coloured objects scattered over a grid.

Each object has an inner and an outer colour. Features of a cell are how near the next object of a
colour is. Moves go astray with some probability. In the original, cells within 3 of the first outer
colour pay 1 where they are within 2 of the second one, and else -1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boirl.environments import TabularMDP
from boirl.experiments.suite.demonstrators import (
    demonstrated_problem,
    draw_bounds,
    draw_count,
    explained_problem,
    operator_of,
    table_solution,
)
from boirl.policies import TabularSolver
from boirl.problem import TabularProblem
from boirl.rewards import LinearReward
from boirl.types import FloatArray, IntArray

STREAM = 1502
MOVES = np.array([(0, 1), (1, 0), (0, -1), (-1, 0), (0, 0)])
ASTRAY = 0.3
RULE_HEIGHT = 2.0


@dataclass(frozen=True, eq=False)
class Objects:
    """Cells of objects, `n`, and their inner and outer colours, `n x 2`, on a grid."""

    side: int
    cells: IntArray
    colours: IntArray

    def distances(self, kind: int, colour: int) -> FloatArray:
        """From every cell to the next object with this inner (0) or outer (1) colour, `S`."""
        chosen = self.cells[self.colours[:, kind] == colour]
        if not len(chosen):
            return np.full(self.side**2, 2.0 * self.side)
        x, y = np.divmod(np.arange(self.side**2), self.side)
        across, along = x[:, None] - x[chosen], y[:, None] - y[chosen]
        nearest: FloatArray = np.sqrt(across**2 + along**2).min(axis=1)
        return nearest


def grid_mdp(side: int, gamma: float) -> TabularMDP:
    """Four moves and a rest; with probability 0.3 any of them happens instead."""
    x, y = np.divmod(np.arange(side**2), side)
    moved_x = np.clip(x[:, None] + MOVES[:, 0], 0, side - 1)
    moved_y = np.clip(y[:, None] + MOVES[:, 1], 0, side - 1)
    meant = np.eye(side**2)[moved_x * side + moved_y]
    probabilities = (1.0 - ASTRAY) * meant + ASTRAY * meant.mean(axis=1, keepdims=True)
    return TabularMDP.from_probabilities(probabilities, gamma)


def objectworld(seed: int, name: str) -> TabularProblem:
    """Weights of being near colours; with odd seeds the demonstrator follows the original rule.

    That rule is in no family of weights: the model is wrong, as it often is.
    """
    rng = np.random.default_rng([STREAM, seed])
    side, n_colours = int(rng.integers(6, 9)), int(rng.integers(2, 4))
    n_objects = int(rng.integers(8, 15))
    objects = Objects(
        side,
        rng.choice(side**2, n_objects, replace=False),
        rng.integers(n_colours, size=(n_objects, 2)),
    )
    near = [
        np.exp(-0.5 * objects.distances(kind, colour))
        for kind in (0, 1)
        for colour in range(n_colours)
    ]
    kept = rng.permutation(len(near))[: int(rng.integers(2, len(near) + 1))]
    features = np.stack([near[number] for number in np.sort(kept)], axis=1)
    reward = LinearReward(features, draw_bounds(rng, features.shape[1], 4.0))
    mdp = grid_mdp(side, float(rng.uniform(0.75, 0.9)))
    solver = TabularSolver(operator_of(seed))
    count, horizon = draw_count(rng, 10, 300), int(rng.integers(6, 16))
    if seed % 2 == 0:
        return demonstrated_problem(mdp, reward, solver, rng, count, horizon, f"{name}-{seed}")
    policy = table_solution(mdp, solver, RULE_HEIGHT * original_rule(objects))
    return explained_problem(mdp, reward, solver, policy, rng, count, horizon, f"{name}-{seed}")


def original_rule(objects: Objects) -> FloatArray:
    """1, -1 or 0 for every cell, `S`."""
    first, second = objects.distances(1, 0) <= 3.0, objects.distances(1, 1) <= 2.0
    return np.where(first, np.where(second, 1.0, -1.0), 0.0)
