"""Gridworld with demonstrations of the true reward's policy."""

from __future__ import annotations

import numpy as np

from boirl.domains.gridworld import environment as gridworld
from boirl.policies import Bellman, TabularSolver
from boirl.problem import TabularProblem
from boirl.rewards import RewardFamily


def build_gridworld(
    bellman: Bellman = "max",
    seed: int = gridworld.DEMONSTRATION_SEED,
    n_demonstrations: int = 50,
    inverse_temperature: float = 1.0,
) -> TabularProblem:
    return _gridworld(
        gridworld.gridworld_reward(), bellman, seed, n_demonstrations, inverse_temperature
    )


def build_gridworld2d(
    bellman: Bellman = "max",
    seed: int = gridworld.DEMONSTRATION_SEED,
    n_demonstrations: int = 50,
    inverse_temperature: float = 1.0,
) -> TabularProblem:
    reward = gridworld.gridworld_reward().fix(translation=0.0)
    return _gridworld(reward, bellman, seed, n_demonstrations, inverse_temperature)


def _gridworld(
    reward: RewardFamily,
    bellman: Bellman,
    seed: int,
    n_demonstrations: int,
    inverse_temperature: float,
) -> TabularProblem:
    mdp = gridworld.gridworld_mdp()
    solver = TabularSolver(bellman, inverse_temperature)
    truth = tuple(gridworld.TRUTH[name] for name in reward.box.names)
    expert = solver.solve(mdp, mdp.expected_rewards(reward, np.array([truth]))[0])
    rng = np.random.default_rng(seed)
    starts = rng.choice(mdp.n_states, size=n_demonstrations, p=mdp.start)
    demonstrations = expert.sample(mdp, starts, gridworld.HORIZON, rng)
    return TabularProblem(mdp, reward, demonstrations, solver, gridworld.HORIZON, truth)
