"""What generators of problems share: drawn sizes, and demonstrations of a drawn theta."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from boirl.environments import TabularMDP
from boirl.errors import InvalidInputError, SolverError
from boirl.policies import TabularPolicy, TabularSolver
from boirl.policies.bellman import Bellman
from boirl.problem import TabularProblem
from boirl.rewards import RewardFamily
from boirl.types import FloatArray

OPERATORS: tuple[Bellman, ...] = ("max", "boltzmann", "logsumexp")
TRUTHS = 50
"""Thetas that are drawn before a problem without policies is given up."""


def operator_of(seed: int) -> Bellman:
    """Operators take turns, so that neighbouring seeds cover all three."""
    return OPERATORS[seed % len(OPERATORS)]


def draw_count(rng: np.random.Generator, low: int, high: int) -> int:
    """A number of demonstrations, log-uniform."""
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))


def draw_bounds(
    rng: np.random.Generator, dimension: int, width: float = 3.0
) -> dict[str, tuple[float, float]]:
    """Boxes around 0 that are not symmetric, up to `width` to either side."""
    low, high = rng.uniform(width / 3.0, width, (2, dimension))
    return {f"w{i}": (-float(low[i]), float(high[i])) for i in range(dimension)}


def demonstrated_problem(
    mdp: TabularMDP,
    reward: RewardFamily,
    solver: TabularSolver,
    rng: np.random.Generator,
    count: int,
    horizon: int,
    name: str,
) -> TabularProblem:
    """A problem whose demonstrator's theta is drawn uniformly from the box.

    Args:
        mdp: The dynamics; trajectories start as it says.
        reward: The family.
        solver: Of the demonstrator, and of the problem.
        rng: Draws theta and trajectories.
        count: Trajectories.
        horizon: Steps of each.
        name: Of the problem.
    """
    for _ in range(TRUTHS):
        truth = reward.box.from_unit(rng.random(reward.box.dimension))
        try:
            policy = solver.solve(mdp, mdp.expected_rewards(reward, truth[None])[0])
        except SolverError:
            continue
        made = explained_problem(mdp, reward, solver, policy, rng, count, horizon, name)
        return replace(made, truth=tuple(truth.tolist()))
    raise InvalidInputError(
        f"none of {TRUTHS} thetas of problem {name!r} has a policy; expected a generator whose "
        "rewards can be solved for"
    )


def explained_problem(
    mdp: TabularMDP,
    reward: RewardFamily,
    solver: TabularSolver,
    policy: TabularPolicy,
    rng: np.random.Generator,
    count: int,
    horizon: int,
    name: str,
) -> TabularProblem:
    """A problem whose demonstrations are those of a policy, whatever it follows."""
    starts = rng.choice(mdp.n_states, size=count, p=mdp.start)
    shown = policy.sample(mdp, starts, horizon, rng)
    return TabularProblem(mdp, reward, shown, solver, horizon=horizon, name=name)


def table_solution(mdp: TabularMDP, solver: TabularSolver, rewards: FloatArray) -> TabularPolicy:
    """The policy of a table of rewards on states, `S`."""
    return solver.solve(mdp, rewards[:, None])
