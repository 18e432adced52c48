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


def disturb(
    address: str, storage: str, file: Path, evaluations: int, kills: int, restarts: int, seed: int
) -> dict[str, int]:
    """Run a search to its end, and kill workers and the search at random moments."""
    rng = np.random.default_rng(seed)
    moments = [(int(at), "worker") for at in rng.integers(2, evaluations - 2, kills)]
    moments += [(int(at), "search") for at in rng.integers(2, evaluations - 2, restarts)]
    moments.sort(reverse=True)
    options = ("--cluster", address, "--sleep", str(SLEEP))
    running = rig.start_search(storage, evaluations, *options)
    killed = {"worker": 0, "search": 0}
    with Client(address, set_as_default=False) as client:
        while running.poll() is None:
            if moments and rig.n_finished(file) >= moments[-1][0]:
                _, what = moments.pop()
                if what == "search":
                    rig.kill(running)
                    running = rig.start_search(storage, evaluations, *options)
                else:
                    pids = list(client.run(os.getpid, on_error="ignore").values())
                    if not pids:
                        continue
                    os.kill(int(rng.choice(pids)), signal.SIGKILL)
                killed[what] += 1
            # Within an evaluation, not between them.
            time.sleep(float(rng.uniform(0.05, 0.5)))
    if running.returncode != 0:
        raise SystemExit(f"the search ended with code {running.returncode}")
    return killed


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
            killed = disturb(
                address, storage, file, given.evaluations, given.kills, given.restarts, given.seed
            )
            seconds = time.monotonic() - began
        finally:
            for process in started[::-1]:
                process.terminate()
            for process in started:
                process.wait()
        disturbed = rig.check_study(problem, boirl.Study(problem, storage=storage, seed=0))
        undisturbed = rig.start_search(f"sqlite:///{folder}/alone.db", given.evaluations)
        undisturbed.wait()
        alone = rig.check_study(
            problem, boirl.Study(problem, storage=f"sqlite:///{folder}/alone.db", seed=0)
        )
    as_good = disturbed["best_nll"] <= alone["best_nll"] + 1e-3
    correct = not disturbed["still_running"] and disturbed["largest_error"] < 1e-9
    clean = disturbed["completed"] == disturbed["different_thetas"] == given.evaluations
    found = {
        "evaluations": given.evaluations,
        "workers": WORKERS,
        "killed": killed,
        "seconds": seconds,
        "disturbed": disturbed,
        "undisturbed_best_nll": alone["best_nll"],
        "passed": bool(clean and as_good and correct),
    }
    rig.write(given.out, "drill_cluster", found)


if __name__ == "__main__":
    main()
