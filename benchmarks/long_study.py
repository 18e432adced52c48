"""What a proposal costs in a long study: seconds and memory at 100 to 2,000 evaluations.

    python benchmarks/long_study.py --out results/bench

The study is on Gridworld, with three parameters and gradients. Half of its evaluations are spread
over the box, half lie around the best, as those of a search do; they are reported to the study,
which has to read them, fit and propose. Each size is measured in a process of its own, in seconds
of the processor: all of this runs on one thread, and others may use the machine.

- `refit`: a proposal that fits hyperparameters, from scratch;
- `ask`: the median of those after it, which use that fit again, and `slowest_ask` of them;
- `resumed`: opening the study again, as another process would, and its first proposal;
- their parts: reading the storage, fitting (or building the process with hyperparameters that are
  known), and the acquisition;
- `answer`: the fit of the answer, averaged over hyperparameters, and 1,000 predictions;
- `megabytes`: the largest resident set of the process, and how much of it the study added.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from gridworld_speed import Stopwatch
from rich.console import Console
from rich.table import Table

import boirl
from boirl.problem import TabularProblem
from boirl.search import Study
from boirl.types import FloatArray

SIZES = (100, 500, 1000, 2000)
ASKS = 10
RADIUS = 0.05
"""Standard deviation, as a share of the box, of evaluations around the best."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for long_study.json")
    parser.add_argument("--tiny", action="store_true", help="in seconds, to see that it runs")
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.size is not None:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(given.size, folder)))
        return
    given.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for size in (4,) if given.tiny else SIZES:
        command = [sys.executable, __file__, "--out", str(given.out), "--size", str(size)]
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        rows.append(json.loads(said.splitlines()[-1]))
        (given.out / "long_study.json").write_text(json.dumps(rows, indent=1) + "\n")
    show(rows)


def measure(size: int, folder: str) -> dict[str, Any]:
    """Seconds and memory of one size; the study is in a folder."""
    problem = boirl.load_problem("gridworld")
    before = _megabytes()
    initial = thetas_of_a_search(problem, size)
    storage = f"sqlite:///{folder}/search.db"
    study = Study(problem, initial=initial, storage=storage)
    filled = time.process_time()
    for _ in range(size):
        question = study.ask()
        study.tell(question, problem.evaluate(question.theta))
    filled = time.process_time() - filled
    watch = Stopwatch(time.process_time)
    sampler: Any = study.sampler
    sampler._fit = watch.around("fit", sampler._fit)
    sampler.acquisition = watch.around("acquisition", sampler.acquisition)
    study.optuna_study.get_trials = watch.around(  # type: ignore[method-assign]
        "storage", study.optuna_study.get_trials
    )
    asks = [_ask(study, problem, watch) for _ in range(1 + ASKS)]
    began = time.process_time()
    Study(problem, initial=initial, storage=storage).ask()
    resumed = time.process_time() - began
    began = time.process_time()
    found = study.result()
    found.predict_nll(problem.box.from_unit(np.random.default_rng(1).random((1000, 3))))
    answer = time.process_time() - began
    return {
        "evaluations": size,
        "ask_and_tell_without_surrogate": filled / size,
        "refit": asks[0],
        "ask": {key: float(np.median([ask[key] for ask in asks[1:]])) for key in asks[0]},
        "slowest_ask": max(ask["total"] for ask in asks[1:]),
        "resumed": resumed,
        "answer": answer,
        "megabytes": _megabytes(),
        "megabytes_added": _megabytes() - before,
    }


def _ask(study: Study, problem: TabularProblem, watch: Stopwatch) -> dict[str, float]:
    """Seconds of a proposal, by part; its evaluation is reported."""
    watch.seconds = dict.fromkeys(("fit", "acquisition", "storage"), 0.0)
    began = time.process_time()
    question = study.ask()
    total = time.process_time() - began
    study.tell(question, problem.evaluate(question.theta))
    return {**watch.seconds, "total": total}


def thetas_of_a_search(problem: TabularProblem, size: int) -> FloatArray:
    """Half of them all over the box, half around the best of those."""
    rng = np.random.default_rng(0)
    spread = problem.box.from_unit(rng.random((size // 2, problem.box.dimension)))
    best = problem.box.to_unit(spread[int(np.nanargmin(problem.nll_batch(spread)))])
    near = best + RADIUS * rng.standard_normal((size - size // 2, problem.box.dimension))
    return np.concatenate([spread, problem.box.from_unit(np.clip(near, 0.0, 1.0))])


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def show(rows: list[dict[str, Any]]) -> None:
    table = Table("evaluations", "refit, s", "ask, s", "fit", "acquisition", "answer, s", "MB")
    for row in rows:
        ask = row["ask"]
        table.add_row(
            str(row["evaluations"]),
            f"{row['refit']['total']:.2f}",
            *(f"{ask[key]:.2f}" for key in ("total", "fit", "acquisition")),
            f"{row['answer']:.1f}",
            f"{row['megabytes']:.0f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
