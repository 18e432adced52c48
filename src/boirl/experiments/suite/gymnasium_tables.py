"""FrozenLake, CliffWalking and Taxi: the tables of Gymnasium, under rewards of our own."""

from __future__ import annotations

from typing import Any

import numpy as np

from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError
from boirl.experiments.suite.demonstrators import (
    demonstrated_problem,
    draw_count,
    operator_of,
)
from boirl.policies import TabularSolver
from boirl.problem import TabularProblem
from boirl.rewards import LinearReward
from boirl.types import FloatArray

STREAM = 1504


def frozen_lake(seed: int, name: str) -> TabularProblem:
    """Goal, holes and steps; 4 x 4 or 8 x 8, slippery or not."""
    rng = np.random.default_rng([STREAM, seed])
    size, slippery = str(rng.choice(["4x4", "8x8"])), bool(rng.random() < 0.7)
    env = make_environment("FrozenLake", map_name=size, is_slippery=slippery)
    letters = np.array(env.unwrapped.desc).ravel().astype(str)
    kinds = np.stack([letters == "G", letters == "H"], axis=1).astype(np.float64)
    bounds = {"goal": (0.0, 10.0), "hole": (-10.0, 0.0), "step": (-2.0, 0.0)}
    return _problem(env, kinds, bounds, seed, name, rng, 0.9)


def cliff_walking(seed: int, name: str) -> TabularProblem:
    """Goal, cells beside the cliff and steps; falling leads back to the start."""
    rng = np.random.default_rng([STREAM, seed, 1])
    env = make_environment("CliffWalking")
    rows, columns = np.divmod(np.arange(48), 12)
    inner = (columns > 0) & (columns < 11)
    kinds = np.stack([np.arange(48) == 47, (rows == 2) & inner], axis=1).astype(np.float64)
    bounds = {"goal": (0.0, 10.0), "beside": (-3.0, 1.0), "step": (-2.0, 0.0)}
    return _problem(env, kinds, bounds, seed, name, rng, 0.9)


def taxi(seed: int, name: str) -> TabularProblem:
    """Delivering, having the passenger aboard and steps, over 500 states."""
    rng = np.random.default_rng([STREAM, seed, 2])
    env = make_environment("Taxi")
    # A state is ((row * 5 + column) * 5 + passenger) * 4 + destination; passenger 4 is aboard.
    aboard = (np.arange(500) // 4) % 5 == 4
    kinds = np.zeros((500, 2))
    kinds[:, 1] = aboard
    bounds = {"deliver": (0.0, 20.0), "aboard": (-1.0, 2.0), "step": (-2.0, 0.0)}
    return _problem(env, kinds, bounds, seed, name, rng, 0.8, most=100)


def make_environment(environment: str, **options: Any) -> Any:
    """The latest version of an environment that is installed."""
    try:
        import gymnasium
    except ImportError:
        raise InvalidInputError(
            f"{environment} needs Gymnasium; install boirl[rl], or choose other problems with "
            "--problem"
        ) from None
    versions = [name for name in gymnasium.registry if name.startswith(f"{environment}-v")]
    latest = max(versions, key=lambda name: int(name.rpartition("-v")[2]))
    return gymnasium.make(latest, **options)


def _problem(
    env: Any,
    kinds: FloatArray,
    bounds: dict[str, tuple[float, float]],
    seed: int,
    name: str,
    rng: np.random.Generator,
    gamma: float,
    most: int = 200,
) -> TabularProblem:
    """The problem of an environment whose reward is paid for the state that a step leads to.

    A terminal state that the table does not number has the first feature alone.
    """
    mdp = TabularMDP.from_gymnasium(env, gamma=gamma)
    entered = np.zeros((mdp.n_states, kinds.shape[1]))
    entered[: len(kinds)] = kinds
    entered[len(kinds) :, 0] = 1.0
    if not entered[:, 0].any():
        entered[mdp.terminal, 0] = 1.0
    steps = np.ones((mdp.n_states, 1))
    reward = LinearReward(np.concatenate([entered, steps], axis=1), bounds, of_next=True)
    solver = TabularSolver(operator_of(seed))
    count, horizon = draw_count(rng, 10, most), 30
    return demonstrated_problem(mdp, reward, solver, rng, count, horizon, f"{name}-{seed}")
