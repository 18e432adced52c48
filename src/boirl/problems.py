"""The problems that come with boirl, by name. A new one is a function and one registry line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boirl.environments import gridworld
from boirl.errors import InvalidInputError
from boirl.policies import Bellman, TabularSolver
from boirl.problem import TabularProblem
from boirl.rewards import RewardFamily


@dataclass(frozen=True)
class ProblemEntry:
    """How to build a problem, and what to say of it in a list."""

    build: Callable[..., TabularProblem]
    summary: str


def load_problem(name: str, **options: Any) -> TabularProblem:
    """Build one of the problems that `boirl problems` lists.

    Args:
        name: For instance `"gridworld"`.
        **options: What that problem takes, for instance `bellman="logsumexp"` or `seed=1`.
    """
    entry = PROBLEMS.get(name)
    if entry is None:
        raise InvalidInputError(
            f"there is no problem {name!r}; expected one of {', '.join(sorted(PROBLEMS))}"
        )
    known = list(inspect.signature(entry.build).parameters)
    unknown = set(options) - set(known)
    if unknown:
        raise InvalidInputError(
            f"problem {name!r} takes no option {', '.join(sorted(unknown))}; "
            f"expected some of {', '.join(known)}"
        )
    return replace(entry.build(**options), name=name, recipe={"name": name, **options})


def _build_gridworld(
    bellman: Bellman = "max",
    seed: int = gridworld.DEMONSTRATION_SEED,
    n_demonstrations: int = 50,
    inverse_temperature: float = 1.0,
) -> TabularProblem:
    return _gridworld(
        gridworld.gridworld_reward(), bellman, seed, n_demonstrations, inverse_temperature
    )


def _build_gridworld2d(
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


PROBLEMS = {
    "gridworld": ProblemEntry(_build_gridworld, "6 x 6 grid with coins; 3 parameters"),
    "gridworld2d": ProblemEntry(_build_gridworld2d, "the same without translation; 2 parameters"),
}
