"""Evaluations that raise, die, hang or return nonsense, and searches that are asked to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import boirl
from boirl.domains.maze.simulator import PointMassMaze, TargetReward
from boirl.errors import BoirlError
from boirl.evaluation import Evaluation
from boirl.policies.actions import CensoredGaussian, UniformMixture
from boirl.policies.network import NetworkPolicy
from boirl.policies.solver import Solver
from boirl.problem.simulated import GymProblem
from boirl.types import silent
from drills import rig

QUICK: dict[str, Any] = {"seed": 3, "kernel": "rbf", "acquisition": "random"}
EVALUATIONS = 12


def misbehaving(problem: Any, how: Callable[[], None]) -> Any:
    """The problem, where something happens before the fourth evaluation of each process."""
    calls: list[int] = []

    def evaluate(*given: Any) -> Evaluation:
        calls.append(1)
        if len(calls) == 4:
            how()
        found: Evaluation = problem.evaluate(*given)
        return found

    return rig.replaced(problem, evaluate)


def summary(found: Any) -> dict[str, Any]:
    """How many evaluations there are, and how many attempts at them failed."""
    attempts = sum(len(one.facts.get("faults", [])) for one in found.evaluations)
    completed = int(np.isfinite(found.nll).sum())
    clean = completed == len(found) and attempts > 0
    return {"completed": completed, "attempts_that_failed": attempts, "clean": clean}


def raises(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """An evaluation raises an exception that nobody expected."""

    def fail() -> None:
        raise RuntimeError("the motor caught fire")

    return summary(boirl.explore(misbehaving(problem, fail), EVALUATIONS, **QUICK))


def worker_killed(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """The process of an evaluation is killed."""

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    dying = misbehaving(problem, die)
    return summary(boirl.explore(dying, EVALUATIONS, workers=2, **QUICK))


def worker_hangs(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """An evaluation does not end."""
    hanging = misbehaving(problem, lambda: time.sleep(3600))
    return summary(boirl.explore(hanging, EVALUATIONS, workers=2, timeout=5.0, **QUICK))


@dataclass(frozen=True)
class Doomed(Solver):
    """Trains nothing. While there is a file, its process is killed, and the last one removes it."""

    fuse: str
    victims: int

    @property
    def environment_steps(self) -> int:
        return 1

    def solve(self, task: Any, run: Any, report: Any = silent) -> NetworkPolicy:
        fuse = Path(self.fuse)
        if fuse.exists():
            with fuse.open("a") as file:
                file.write("x")
            if fuse.stat().st_size >= self.victims:
                fuse.unlink(missing_ok=True)
            os.kill(os.getpid(), signal.SIGKILL)
        return _towards(task.theta)


def _towards(theta: Any) -> NetworkPolicy:
    """A policy that pulls the ball towards theta."""
    return NetworkPolicy(
        weights=(-6.0 * np.eye(2),),
        biases=(6.0 * np.asarray(theta),),
        activation="tanh",
        actions=UniformMixture(CensoredGaussian((-1.0, -1.0), (1.0, 1.0)), 0.02),
        log_sd=np.full(2, -0.7),
    )


def training_killed(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """All processes that train the policies of one evaluation are killed."""
    maze, fuse, seeds = PointMassMaze(), folder / "fuse", 2
    shown = maze.roll_out(_towards((0.3, 0.1)), 6, 20, np.random.default_rng(0))
    learned = GymProblem(
        maze,
        reward=TargetReward(),
        demonstrations=shown,
        solver=Doomed(str(fuse), seeds),
        gamma=0.9,
        horizon=20,
        repeats=seeds,
        workers=seeds,
    )
    study = boirl.Study(learned, **QUICK)
    study.run(2)
    fuse.touch()
    return summary(study.run(4))


COUNTED = """
import os
from pathlib import Path
from boirl.problem import TabularProblem

evaluate, calls = TabularProblem.evaluate, []

def counted(self, *given):
    calls.append(1)
    if len(calls) == 6:
        Path(os.environ["MARKER"]).touch()
    return evaluate(self, *given)

TabularProblem.evaluate = counted
from boirl.cli import main
main()
"""
"""The command, with a file that appears when five evaluations are done."""


MOST_SECONDS = 300.0
"""That a command takes to end at a signal, on a machine that is busy."""


def interruptions(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """SIGTERM and Ctrl-C to `boirl run` in memory, with and without `--out`: what is kept?"""
    found: dict[str, Any] = {}
    for number in (signal.SIGTERM, signal.SIGINT):
        for name, options in {"memory": [], "out": ["--out", str(folder / "out")]}.items():
            case = f"{number.name}-{name}"
            found[case] = _interrupt(problem, folder / case, number, options)
    return {**found, "clean": all(one["clean"] for one in found.values())}


def _interrupt(
    problem: Any, folder: Path, number: signal.Signals, options: list[str]
) -> dict[str, Any]:
    folder.mkdir()
    marker = folder / "marker"
    variables = {"BOIRL_CACHE": str(folder / "cache"), "MARKER": str(marker), "COLUMNS": "1000"}
    command = [sys.executable, "-c", COUNTED, "run", "gridworld", "--acquisition", "random"]
    process = subprocess.Popen(
        [*command, "--evaluations", "100000", *options],
        env=rig.environment(**variables),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        # What is started in the background may ignore Ctrl-C from the start.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    while not marker.exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(number)
    try:
        said = process.communicate(timeout=MOST_SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        said = process.communicate()[1]
    where = next((part for part in said.split() if part.startswith("sqlite:///")), "")
    kept = 0
    if where:
        options_of_study: dict[str, Any] = {"seed": 0, "acquisition": "random"}
        address = where.rstrip(";")
        kept = len(boirl.Study(problem, storage=address, **options_of_study).trials)
    says = "resume with: boirl run" in said
    return {
        "exit_code": process.returncode,
        "evaluations_kept": kept,
        "says_how_to_resume": says,
        "clean": process.returncode == 128 + number and kept >= 5 and says,
    }


def absurd(problem: Any, folder: Path, repeats: int) -> dict[str, Any]:
    """One NLL of 1e200, and a trial without parameters: is there another proposal?"""
    study = boirl.Study(problem, storage=f"sqlite:///{folder}/absurd.db", seed=1, kernel="rbf")
    study.run(3)
    study.tell(study.ask(), 1e200)
    study.optuna_study._storage.create_new_trial(study.optuna_study._study_id)
    try:
        best = study.run(6).best_nll
    except BoirlError as error:
        return {"asks": f"failed: {error}", "clean": False}
    return {"asks": "worked", "best_nll": best, "clean": best < 100.0}
