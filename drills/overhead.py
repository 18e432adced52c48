"""What does a study cost beside its evaluations and its proposals?

Storage in an SQLite file, asking without the surrogate, telling, and transport to a worker and
back, per evaluation, while there are 1,000 evaluations in the study. Run with
`python -m drills.overhead --out docs/results`. Writing to the disk is part of it: the time of a
bare `fsync` is measured beside.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import boirl
from boirl.evaluation import Evaluation
from drills import rig

WANTED = 20.0
"""Milliseconds per evaluation at most."""


def instant(problem: Any) -> Any:
    """Gridworld, whose evaluations take no time, with arrays as large as its own."""
    known = problem.evaluate(problem.truth)

    def evaluate(theta: Any, seed: int | None = None, report: Any = None) -> Evaluation:
        return Evaluation(
            tuple(theta),
            float(np.sum(np.square(theta))),
            log_likelihoods=known.log_likelihoods,
            gradient=known.gradient,
            policies=known.policies,
            seed=seed,
        )

    return rig.replaced(problem, evaluate)


def measure(size: int, further: int, workers: int | None) -> dict[str, float]:
    """Milliseconds per evaluation of some further ones in a study of that size."""
    problem = instant(boirl.load_problem("gridworld"))
    options: dict[str, Any] = {"acquisition": "random", "kernel": "rbf"}
    with tempfile.TemporaryDirectory() as folder:
        study = boirl.Study(problem, storage=f"sqlite:///{folder}/search.db", **options)
        study.result = lambda: None  # type: ignore[method-assign, assignment, return-value]
        for _ in range(size):
            question = study.ask()
            study.tell(question, float(np.sum(np.square(question.theta))))
        began, cpu = time.perf_counter(), time.process_time()
        study.run(size + further, workers=workers)
        wall, busy = time.perf_counter() - began, time.process_time() - cpu
    return {"milliseconds": 1e3 * wall / further, "cpu_milliseconds": 1e3 * busy / further}


def fsync_milliseconds() -> float:
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "file").open("wb") as file:
        times = []
        for _ in range(20):
            file.write(b"x" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    return 1e3 * float(np.median(times))


def main() -> None:
    parser = rig.arguments(__doc__)
    parser.add_argument("--size", type=int, default=1000)
    given = parser.parse_args()
    size, further = (5, 5) if given.tiny else (given.size, 200)
    by_workers = {
        "this_process": measure(size, further, None),
        "two_workers": measure(size, further, 2),
    }
    found = {
        "evaluations": size,
        "fsync_milliseconds": fsync_milliseconds(),
        **by_workers,
        "wanted": WANTED,
        "passed": all(one["milliseconds"] < WANTED for one in by_workers.values()),
    }
    rig.write(given.out, "drill_overhead", found)


if __name__ == "__main__":
    main()
