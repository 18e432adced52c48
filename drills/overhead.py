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


class Instant:
    """Evaluations that take no time, with arrays as large as those of Gridworld."""

    def __init__(self, problem: Any) -> None:
        self.problem = problem
        self.arrays = problem.evaluate(problem.truth)

    def evaluate(self, theta: Any, seed: int | None = None, report: Any = None) -> Evaluation:
        known = self.arrays
        return Evaluation(
            tuple(theta),
            float(np.sum(np.square(theta))),
            log_likelihoods=known.log_likelihoods,
            gradient=known.gradient,
            policies=known.policies,
            seed=seed,
        )


def measure(size: int, further: int, workers: int | None) -> dict[str, float]:
    """Seconds per evaluation of some further ones in a study of that size."""
    problem = boirl.load_problem("gridworld")
    instant = Instant(problem)
    kind: Any = type(problem)
    original = kind.evaluate
    kind.evaluate = lambda self, *given: instant.evaluate(*given)
    try:
        with tempfile.TemporaryDirectory() as folder:
            study = boirl.Study(
                problem, storage=f"sqlite:///{folder}/search.db", acquisition="random", kernel="rbf"
            )
            study.result = lambda: None  # type: ignore[method-assign, assignment, return-value]
            for _ in range(size):
                question = study.ask()
                study.tell(question, float(np.sum(np.square(question.theta))))
            began, cpu = time.perf_counter(), time.process_time()
            study.run(size + further, workers=workers)
            wall, busy = time.perf_counter() - began, time.process_time() - cpu
    finally:
        kind.evaluate = original
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
    found = {
        "evaluations": size,
        "fsync_milliseconds": fsync_milliseconds(),
        "this_process": measure(size, further, None),
        "two_workers": measure(size, further, 2),
    }
    best = min(found["this_process"]["milliseconds"], found["two_workers"]["milliseconds"])  # type: ignore[index]
    rig.write(given.out, "drill_overhead", {**found, "wanted": 20.0, "passed": best < 20.0})


if __name__ == "__main__":
    main()
