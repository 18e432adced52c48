"""What the drills share: slow evaluations, searches in processes of their own, and checks."""

from __future__ import annotations

import argparse
import copy
import json
import os
import platform
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import boirl
from boirl.errors import BoirlError
from boirl.evaluation import Evaluation
from boirl.types import silent

ROOT = Path(__file__).parents[1]
"""The folder that holds `drills`."""

# Threads of OpenMP do not survive a fork, and drills fork.
torch.set_num_threads(1)


def replaced(problem: Any, evaluate: Callable[..., Evaluation]) -> Any:
    """The same problem with other evaluations: of theta, seed and where to report to."""
    kind: Any = type(problem)

    class Replaced(kind):
        def evaluate(self, theta: Any, seed: int | None = None, report: Any = silent) -> Any:
            return evaluate(theta, seed, report)

    other = copy.copy(problem)
    object.__setattr__(other, "__class__", Replaced)
    return other


def sleeping(problem: Any, seconds: float) -> Any:
    """The same problem, whose evaluations take some seconds more, in which nothing is computed."""

    def evaluate(*given: Any) -> Evaluation:
        time.sleep(seconds)
        found: Evaluation = problem.evaluate(*given)
        return found

    return replaced(problem, evaluate)


def start_search(storage: str, evaluations: int, *options: str) -> subprocess.Popen[bytes]:
    """A search on Gridworld in a process of its own, see `search` below."""
    command = [sys.executable, "-m", "drills.rig", storage, str(evaluations), *options]
    return subprocess.Popen(command, env=environment())


def environment(**variables: str) -> dict[str, str]:
    """That of child processes, which are to use the same source, with further variables."""
    source = os.pathsep.join([str(Path(boirl.__file__).parents[1]), str(ROOT)])
    return {**os.environ, "PYTHONPATH": source, **variables}


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def n_finished(file: Path) -> int:
    """Evaluations in an SQLite file that is in use."""
    try:
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=30) as database:
            query = "SELECT COUNT(*) FROM trials WHERE state IN ('COMPLETE', 'FAIL')"
            return int(database.execute(query).fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def check_study(problem: Any, study: Any) -> dict[str, Any]:
    """What a study must hold in the end: everything once, and nothing that is not true."""
    trials = study.optuna_study.trials
    states = [trial.state.name for trial in trials]
    thetas = np.array([one.theta for one in study.evaluations])
    nll = np.array([one.nll for one in study.evaluations])
    exact = problem.nll_batch(thetas)
    return {
        "completed": states.count("COMPLETE"),
        "failed": sum(not one.ok for one in study.evaluations),
        "still_running": states.count("RUNNING"),
        "different_thetas": len(np.unique(thetas, axis=0)),
        "largest_error": float(np.nanmax(np.abs(nll - exact))),
        "without_policy": sum(not one.policies for one in study.evaluations if one.ok),
        "attempts_that_failed": sum(len(one.facts.get("faults", [])) for one in study.evaluations),
        "best_nll": float(np.nanmin(nll)),
    }


def arguments(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    parser.add_argument("--tiny", action="store_true", help="small, to see that it works")
    return parser


def write(out: Path, name: str, found: dict[str, Any], quiet: bool = False) -> None:
    """Write results to a file, and show them unless that is not wanted."""
    machine = {"cores": os.cpu_count(), "system": platform.platform(), "load": os.getloadavg()[0]}
    text = json.dumps({**found, "machine": machine}, indent=2)
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.json").write_text(text + "\n")
    if not quiet:
        print(text)


def search(argv: list[str]) -> None:
    """Run a search to its end: `python -m drills.rig STORAGE EVALUATIONS [options]`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("storage")
    parser.add_argument("evaluations", type=int)
    parser.add_argument("--sleep", type=float, default=0.0)
    parser.add_argument("--cluster")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lease", type=float, default=60.0)
    parser.add_argument("--acquisition", default="resolve")
    parser.add_argument("--artifacts")
    given = parser.parse_args(argv)
    problem = sleeping(boirl.load_problem("gridworld"), given.sleep)
    study = boirl.Study(
        problem,
        storage=given.storage,
        seed=given.seed,
        lease_seconds=given.lease,
        acquisition=given.acquisition,
        artifacts=given.artifacts,
    )
    client = None
    if given.cluster:
        from boirl.execution.cluster import connect

        client = connect(given.cluster)
    try:
        study.run(given.evaluations, executor=client, workers=given.workers)
    except BoirlError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    search(sys.argv[1:])
