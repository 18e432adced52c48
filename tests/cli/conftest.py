"""The command in a process of its own, and the maze with small budgets."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import boirl
from boirl.demonstrations import Demonstrations
from boirl.problem.catalogue import PROBLEMS, ProblemEntry

STEPS = 2_000
"""Steps of a training run of these tests."""


@pytest.fixture(scope="session")
def boirl_process() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `boirl` as a person does: in a process that knows nothing of this one."""

    def run(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from boirl.cli import main; main()"]
        return subprocess.run(
            [*command, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=300
        )

    return run


@pytest.fixture(scope="session")
def maze_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("gymnasium", reason="the maze needs the extra boirl[rl]")
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def own_cache(maze_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that all tests of the maze share, and nobody else."""
    monkeypatch.setenv("BOIRL_CACHE", str(maze_cache))
    return maze_cache


@pytest.fixture
def no_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> None:
        raise AssertionError("this trains")

    monkeypatch.setattr("boirl.policies.ppo.VectorPPO.solve_all", refuse)


@pytest.fixture
def small_maze(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The maze with a small budget by default."""
    from boirl.domains.maze.problem import build_point_mass_maze

    def build(seed: int = 0, n_demonstrations: int = 4) -> Any:
        return build_point_mass_maze(seed, n_demonstrations, steps=STEPS, repeats=1, workers=0)

    monkeypatch.setitem(PROBLEMS._known, "point-mass-maze", ProblemEntry(build, "small"))


@pytest.fixture(scope="session")
def maze_result(maze_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result of a short search in the maze, as `boirl run --out` leaves it."""
    where = tmp_path_factory.mktemp("result")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("BOIRL_CACHE", str(maze_cache))
        problem = boirl.load_problem(
            "point-mass-maze", steps=STEPS, n_demonstrations=5, repeats=1, workers=0
        )
        given = problem.demonstrations
        short = [(one.states[:11], one.actions[:10]) for one in given]
        problem = problem.with_demonstrations(
            Demonstrations.from_trajectories(short, given.start_states)
        )
        search = boirl.Study(problem, seed=1000, n_demonstrations=5)
        search.run(2).save(where / "rewards.npz")
    return where / "rewards.npz"
