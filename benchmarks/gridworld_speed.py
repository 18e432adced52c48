"""Where the time of a search on Gridworld goes, and how that compares with stock BoTorch.

    python benchmarks/gridworld_speed.py --out results/bench

Runs one search of 400 evaluations with the default settings, and writes

- the seconds of its first 100 evaluations, beside the 776 s that the code of the paper's authors
  took for as many on a machine of this kind (2 cores, nearly idle);
- the median seconds of a proposal up to 50 evaluations;
- the split of an iteration (solve, fit, acquisition, bookkeeping, and the part of the projection
  in them) around 25, 50, 100, 200 and 400 evaluations;
- the fit and acquisition of stock BoTorch on the same evaluations with the same kernel, in the
  same run: `fit_gpytorch_mll` from scratch and `optimize_acqf` on `LogExpectedImprovement` with
  as many raw samples, starts and steps.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms.outcome import Standardize
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood
from rich.console import Console
from rich.table import Table

import boirl
from boirl.experiments.gridworld_efficiency import HARD_NLL
from boirl.experiments.trials import hard_start
from boirl.maximise import GRADIENT_STEPS, SAMPLES, STARTS
from boirl.problem import TabularProblem
from boirl.search import Study
from boirl.threads import single_thread

AUTHORS_SECONDS = 776.0
EVALUATIONS = 100
CHECKPOINTS = (25, 50, 100, 200, 400)
WINDOW = 10


class Stopwatch:
    """Adds up the seconds, by a clock, spent inside functions it was put around."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seconds: dict[str, float] = {}
        self.clock = clock

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = self.clock()
            try:
                return function(*args, **kwargs)
            finally:
                elapsed = self.clock() - began
                self.seconds[name] = self.seconds.get(name, 0.0) + elapsed

        return timed


def timed_search(problem: TabularProblem, evaluations: int) -> tuple[Study, list[dict[str, float]]]:
    """Search, and return the seconds of every iteration by part."""
    study = Study(problem, seed=0, initial=[hard_start(problem, 0, HARD_NLL)])
    watch = Stopwatch()
    sampler: Any = study.sampler
    projection = sampler.surrogate.projection
    # Between two fits the model is only rebuilt, which is counted as fitting.
    sampler._fit = watch.around("fit", sampler._fit)
    sampler.acquisition = watch.around("acquisition", sampler.acquisition)
    projection.project = watch.around("projection", projection.project)
    rows = []
    for _ in range(evaluations):
        watch.seconds = {}
        began = time.perf_counter()
        question = study.ask()
        solving = time.perf_counter()
        evaluation = problem.evaluate(question.theta)
        solved = time.perf_counter()
        study.tell(question, evaluation)
        total = time.perf_counter() - began
        parts = {
            "solve": solved - solving,
            "fit": watch.seconds.get("fit", 0.0),
            "acquisition": watch.seconds.get("acquisition", 0.0),
        }
        parts["bookkeeping"] = total - sum(parts.values())
        rows.append({**parts, "total": total, "projection": watch.seconds.get("projection", 0.0)})
    return study, rows


def stock_botorch(study: Study, size: int) -> float:
    """Seconds that stock BoTorch takes to fit and propose, given the first `size` evaluations."""
    found = study.result()
    thetas, nll = found.thetas[:size], found.nll[:size]
    torch.manual_seed(0)
    began = time.perf_counter()
    unit = torch.tensor(found.problem.box.to_unit(thetas))
    model = SingleTaskGP(unit, torch.tensor(nll)[:, None], outcome_transform=Standardize(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        optimize_acqf(
            LogExpectedImprovement(model, best_f=float(nll.min()), maximize=False),
            bounds=torch.tensor([[0.0] * 3, [1.0] * 3], dtype=torch.float64),
            q=1,
            num_restarts=STARTS,
            raw_samples=2 * SAMPLES,
            options={"maxiter": GRADIENT_STEPS},
        )
    return time.perf_counter() - began


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/bench"))
    parser.add_argument("--evaluations", type=int, default=max(CHECKPOINTS))
    parser.add_argument("--tiny", action="store_true", help="few evaluations, to see that it runs")
    arguments = parser.parse_args(argv)
    if arguments.tiny:
        arguments.evaluations = min(CHECKPOINTS)
    elif arguments.evaluations < EVALUATIONS:
        # The authors' time is for this many; a shorter search would flatter us.
        parser.error(f"--evaluations is {arguments.evaluations}; expected at least {EVALUATIONS}")
    problem = boirl.load_problem("gridworld")
    # The first use of every library is slow and is not what is measured.
    boirl.explore(problem, evaluations=8, seed=1)
    console = Console(soft_wrap=True)
    with console.status("searching"):
        study, rows = timed_search(problem, arguments.evaluations)
    split = []
    for size in CHECKPOINTS:
        if size > len(rows):
            continue
        window = rows[max(0, size - WINDOW) : size]
        line: dict[str, float] = {"evaluations": size}
        line |= {part: float(np.mean([row[part] for row in window])) for part in rows[0]}
        with console.status(f"stock BoTorch at {size}"), single_thread():
            line["stock"] = stock_botorch(study, size)
        line["stock_ratio"] = line["stock"] / (line["fit"] + line["acquisition"])
        split.append(line)
    first = sum(row["total"] for row in rows[:EVALUATIONS])
    faster = None if arguments.tiny else AUTHORS_SECONDS / first
    report = {
        "evaluations": min(EVALUATIONS, len(rows)),
        "seconds": first,
        "authors_seconds": AUTHORS_SECONDS,
        "times_faster_than_authors": faster,
        "median_proposal": float(np.median([row["fit"] + row["acquisition"] for row in rows[:50]])),
        "seconds_per_iteration": split,
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "gridworld_speed.json"
    path.write_text(json.dumps(report, indent=2) + "\n")
    table = Table(box=None, title="milliseconds per iteration (mean of the last 10)")
    columns = ["solve", "fit", "acquisition", "bookkeeping", "total", "projection", "stock"]
    headings = ["n", "solve", "fit", "acq.", "other", "total", "proj.", "stock", "stock/ours"]
    for heading in headings:
        table.add_column(heading, justify="right")
    for line in split:
        cells = [f"{1000 * line[column]:.1f}" for column in columns]
        table.add_row(f"{line['evaluations']:.0f}", *cells, f"{line['stock_ratio']:.1f}")
    console.print(table)
    if faster is not None:
        console.print(
            f"{EVALUATIONS} evaluations in {first:.1f} s: "
            f"{faster:.0f} times faster than the authors' {AUTHORS_SECONDS:.0f} s"
        )
    console.print(f"written: {path}")


if __name__ == "__main__":
    main()
