"""Fault drill: workers of a Dask cluster and the search itself are killed, again and again.

A scheduler and its workers run on this machine. A search of 200 evaluations on Gridworld runs on
them. 30 times a worker is killed with SIGKILL, 5 times the search, which is then started again. In
the end there must be 200 evaluations, each once and correct, and the best reward must be as good as
that of a search that nobody disturbed. Run with `python -m drills.cluster --out docs/results`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client

import boirl
from drills import rig

WORKERS = 4
SLEEP = 0.5
"""Seconds of an evaluation, beside what it takes."""


def start_cluster(
    folder: Path, workers: int = WORKERS
) -> tuple[list[subprocess.Popen[bytes]], str]:
    """A scheduler and workers, each in a process of its own."""
    file = folder / "scheduler.json"
    options: dict[str, Any] = {
        "env": rig.environment(),
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "cwd": folder,
    }
    python = [sys.executable, "-m"]
    scheduler = [*python, "distributed.cli.dask_scheduler", "--scheduler-file", str(file)]
    scheduler += ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    started = [subprocess.Popen(scheduler, **options)]
    while not file.exists():
        time.sleep(0.1)
    worker = [*python, "distributed.cli.dask_worker", "--scheduler-file", str(file)]
    worker += ["--nthreads", "1", "--nworkers", str(workers), "--no-dashboard"]
    started.append(subprocess.Popen(worker, **options))
    return started, str(json.loads(file.read_text())["address"])


@dataclass(frozen=True)
class Plan:
    """What happens to the searches.

    Attributes:
        evaluations: How many there are to be.
        kills: How often a worker is killed.
        restarts: How often a search is killed, and started again.
        seed: Of the moments, counted in evaluations.
    """

    evaluations: int
    kills: int
    restarts: int
    seed: int

    def moments(self, rng: np.random.Generator) -> list[tuple[int, str]]:
        """When something happens to a worker or a search, the last one first."""
        last = self.evaluations - 2
        found = [(int(at), "worker") for at in rng.integers(2, last, self.kills)]
        found += [(int(at), "search") for at in rng.integers(2, last, self.restarts)]
        return sorted(found, reverse=True)


def stop_cluster(started: list[subprocess.Popen[bytes]]) -> None:
    for process in started[::-1]:
        process.terminate()
    for process in started:
        process.wait()


def disturb(
    plan: Plan,
    address: str,
    start: Callable[[], subprocess.Popen[bytes]],
    searches: int,
    n_finished: Callable[[], int],
    halfway: Callable[[], None] | None = None,
) -> dict[str, int]:
    """Run searches to their end, and kill workers and searches at random moments.

    Args:
        plan: What happens.
        address: Of the scheduler.
        start: Starts a search.
        searches: How many share the study.
        n_finished: Evaluations in the study.
        halfway: What else happens in the middle.

    Returns:
        How many of which were killed.
    """
    rng = np.random.default_rng(plan.seed)
    moments = plan.moments(rng)
    running = [start() for _ in range(searches)]
    killed = {"worker": 0, "search": 0}
    with Client(address, set_as_default=False) as client:
        while any(search.poll() is None for search in running):
            done = n_finished()
            if halfway is not None and done >= plan.evaluations // 2:
                halfway()
                halfway = None
            if moments and done >= moments[-1][0]:
                what = moments[-1][1]
                if _kill(what, running, start, client, rng):
                    moments.pop()
                    killed[what] += 1
            # Within an evaluation, not between them.
            time.sleep(float(rng.uniform(0.05, 0.5)))
    codes = [search.returncode for search in running]
    if any(codes):
        raise SystemExit(f"the searches ended with codes {codes}")
    return killed


def _kill(
    what: str,
    running: list[subprocess.Popen[bytes]],
    start: Callable[[], subprocess.Popen[bytes]],
    client: Client,
    rng: np.random.Generator,
) -> bool:
    """Kill a worker, or a search, which is then started again; False where there is none."""
    if what == "search":
        alive = [place for place, search in enumerate(running) if search.poll() is None]
        if not alive:
            return False
        place = int(rng.choice(alive))
        rig.kill(running[place])
        running[place] = start()
        return True
    pids = list(client.run(os.getpid, on_error="ignore").values())
    if not pids:
        return False
    os.kill(int(rng.choice(pids)), signal.SIGKILL)
    return True


def undisturbed_best(problem: Any, folder: Path, evaluations: int) -> float:
    """The best NLL of a search of as many evaluations that nobody disturbs."""
    storage = f"sqlite:///{folder}/alone.db"
    search = rig.start_search(storage, evaluations)
    if search.wait():
        raise SystemExit(f"the undisturbed search ended with code {search.returncode}")
    alone = rig.check_study(problem, boirl.Study(problem, storage=storage, seed=0))
    return float(alone["best_nll"])


def is_clean(checked: dict[str, Any], evaluations: int, undisturbed: float) -> bool:
    """Whether a study holds everything once, correct, and as good as without disturbance."""
    is_whole = checked["completed"] == checked["different_thetas"] == evaluations
    is_correct = not checked["still_running"] and checked["largest_error"] < 1e-9
    return is_whole and is_correct and checked["best_nll"] <= undisturbed + 1e-3


def main() -> None:
    parser = rig.arguments(__doc__)
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--restarts", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.tiny:
        given.evaluations, given.kills, given.restarts = 8, 2, 1
    problem = boirl.load_problem("gridworld")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        started, address = start_cluster(folder)
        try:
            file = folder / "search.db"
            storage = f"sqlite:///{file}"
            began = time.monotonic()
            plan = Plan(given.evaluations, given.kills, given.restarts, given.seed)
            options = ("--cluster", address, "--sleep", str(SLEEP))
            start = partial(rig.start_search, storage, given.evaluations, *options)
            killed = disturb(plan, address, start, 1, partial(rig.n_finished, file))
            seconds = time.monotonic() - began
        finally:
            stop_cluster(started)
        disturbed = rig.check_study(problem, boirl.Study(problem, storage=storage, seed=0))
        undisturbed = undisturbed_best(problem, folder, given.evaluations)
    found = {
        "evaluations": given.evaluations,
        "workers": WORKERS,
        "killed": killed,
        "seconds": seconds,
        "disturbed": disturbed,
        "undisturbed_best_nll": undisturbed,
        "passed": is_clean(disturbed, given.evaluations, undisturbed),
    }
    rig.write(given.out, "drill_cluster", found)


if __name__ == "__main__":
    main()
