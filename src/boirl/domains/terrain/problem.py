"""A map of many terrains, each with a price of its own: a problem with many parameters."""

from __future__ import annotations

import numpy as np

from boirl.environments import TabularMDP
from boirl.policies import TabularSolver
from boirl.problem import TabularProblem
from boirl.rewards import LinearReward

MOVES = ((1, 0), (0, 1), (-1, 0), (0, -1), (0, 0))
GAMMA = 0.95
HORIZON = 30
EXTREME = 0.9
"""The demonstrator's prices lie between minus this and this, those sought between -1 and 1."""


def build_terrain(
    seed: int = 0, n_terrains: int = 20, side: int = 10, n_demonstrations: int = 100
) -> TabularProblem:
    """Walks on a square map by a maximum-entropy walker.

    Args:
        seed: Of the map, the walker's prices and the walks.
        n_terrains: Kinds of squares, and parameters of the reward.
        side: Squares per side.
        n_demonstrations: Walks of 30 steps.
    """
    rng = np.random.default_rng(seed)
    x, y = np.arange(side**2) % side, np.arange(side**2) // side
    moved = [np.clip(x + dx, 0, side - 1) + side * np.clip(y + dy, 0, side - 1) for dx, dy in MOVES]
    mdp = TabularMDP.from_next_states(np.stack(moved, axis=1), GAMMA)
    kinds = rng.permutation(np.arange(side**2) % n_terrains)
    bounds = {f"terrain{kind}": (-1.0, 1.0) for kind in range(1, n_terrains + 1)}
    reward = LinearReward(np.eye(n_terrains)[kinds], bounds)
    truth = rng.uniform(-EXTREME, EXTREME, n_terrains)
    solver = TabularSolver("logsumexp")
    walker = solver.solve(mdp, mdp.expected_rewards(reward, truth[None])[0])
    walks = walker.sample(mdp, rng.integers(side**2, size=n_demonstrations), HORIZON, rng)
    return TabularProblem(mdp, reward, walks, solver, HORIZON, tuple(truth.tolist()))
