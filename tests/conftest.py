"""Small random problems that many tests share. Everything follows from a seed."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import settings

from boirl import cli
from boirl.demonstrations import Demonstrations
from boirl.environments import TabularMDP
from boirl.policies import Bellman, TabularPolicy, TabularSolver
from boirl.problem import TabularProblem
from boirl.problem.catalogue import load_problem
from boirl.projections import LogRho, sample_rollouts
from boirl.rewards import LinearReward, RewardFamily

# The tests run on as many processes as there are cores; torch threads would fight over them.
os.environ["OMP_NUM_THREADS"] = "1"
torch.set_num_threads(1)

settings.register_profile("boirl", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("boirl")

N_STATES, N_ACTIONS, N_FEATURES = 4, 3, 2

MdpBuilder = Callable[..., TabularMDP]
ProblemBuilder = Callable[..., TabularProblem]


def _random_mdp(
    seed: int,
    n_states: int = N_STATES,
    n_actions: int = N_ACTIONS,
    gamma: float = 0.9,
    deterministic: bool = False,
) -> TabularMDP:
    """Dynamics in which every step is possible, or deterministic ones."""
    rng = np.random.default_rng(seed)
    start = rng.dirichlet(np.ones(n_states))
    if deterministic:
        table = rng.integers(n_states, size=(n_states, n_actions))
        stays = (table == np.arange(n_states)[:, None]).all(axis=1)
        return TabularMDP.from_next_states(table, gamma, start, endless=stays)
    probabilities = rng.dirichlet(np.ones(n_states), size=(n_states, n_actions))
    return TabularMDP.from_probabilities(probabilities, gamma, start)


def _random_problem(
    seed: int,
    bellman: Bellman = "max",
    deterministic: bool = False,
    reward: RewardFamily | None = None,
    count: int = 5,
    horizon: int = 6,
    gamma: float = 0.9,
) -> TabularProblem:
    """Uniformly random demonstrations; by default two random features of states."""
    mdp = _random_mdp(seed, gamma=gamma, deterministic=deterministic)
    rng = np.random.default_rng(seed + 1)
    if reward is None:
        features = rng.uniform(-1.0, 1.0, (N_STATES, N_FEATURES))
        reward = LinearReward(features, {"first": (-2.0, 2.0), "second": (-2.0, 2.0)})
    starts = rng.choice(N_STATES, size=count, p=mdp.start)
    demonstrations = TabularPolicy.uniform(mdp).sample(mdp, starts, horizon, rng)
    return TabularProblem(mdp, reward, demonstrations, TabularSolver(bellman))


@pytest.fixture(scope="session")
def random_mdp() -> MdpBuilder:
    return _random_mdp


@pytest.fixture(scope="session")
def random_problem() -> ProblemBuilder:
    return _random_problem


@pytest.fixture(scope="session")
def gridworld() -> TabularProblem:
    return load_problem("gridworld")


@pytest.fixture(scope="session")
def gridworld_log_rho(gridworld: TabularProblem) -> LogRho:
    """Log rho of five demonstrations, five uniform roll-outs each."""
    chosen = gridworld.demonstrations.subset(range(5))
    rollouts = sample_rollouts(gridworld, chosen, 5, np.random.default_rng(0))
    return LogRho(gridworld, chosen, rollouts)


@pytest.fixture(scope="session")
def any_demonstrations() -> Callable[..., Demonstrations]:
    """Builder of trajectories of random states and actions from one start, whatever the dynamics.

    `end` forces the state after the last action.
    """

    def build(
        rng: np.random.Generator, count: int, horizon: int, start: int, end: int | None = None
    ) -> Demonstrations:
        visited = rng.integers(N_STATES, size=(count, horizon + 1))
        visited[:, 0] = start
        if end is not None:
            visited[:, -1] = end
        return Demonstrations.from_arrays(visited, rng.integers(N_ACTIONS, size=(count, horizon)))

    return build


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Runs `boirl` in this process: exit code, output and errors."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["boirl", *map(str, arguments)])
        with pytest.raises(SystemExit) as exited, warnings.catch_warnings():
            cli.main()
        return exited.value.code, *capsys.readouterr()  # type: ignore[return-value]

    return run
