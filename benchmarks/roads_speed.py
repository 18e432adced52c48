"""How fast is one evaluation on the roads of Borlange, against plain sweeps in NumPy?

Sweeps give the NLL alone. Ours is timed twice: the NLL alone, and a whole evaluation with its
gradient. For the recursive logit, a short search is timed with one thread, as searches run, and
with as many as the numerical libraries choose.

Run with `make bench`, or `python benchmarks/roads_speed.py --data FOLDER --out results/bench`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import boirl
from boirl.errors import InvalidInputError
from boirl.types import FloatArray

THETAS = 20
SEED = 0
TOWN_LINKS = 6300
SEARCH_EVALUATIONS = 8
RECURSIVE_LOGIT_THETA = (-2.494, -0.933, -0.411, -4.459)
COMPARISONS = (
    # operator, residual of plain sweeps, residual of ours
    ("max", 1e-3, 1e-8),
    ("logsumexp", 1e-8, 1e-8),
)


def plain_sweeps(problem: Any, theta: FloatArray, residual: float) -> float:
    """NLL of theta by the loop that everybody would write first: gather, back up, repeat."""
    rewards = problem.mdp.expected_rewards(problem.reward, theta[None])[0]
    next_states, gamma = problem.mdp.next_states, problem.mdp.gamma
    values = np.zeros(problem.mdp.n_states)
    while True:
        q = rewards + gamma * values[next_states]
        top = q.max(axis=1)
        new = top
        if problem.solver.bellman == "logsumexp":
            new = top + np.log(np.exp(q - top[:, None]).sum(axis=1))
        change = np.abs(new - values).max()
        values = new
        if change < residual:
            break
    q = rewards + gamma * values[next_states]
    top = q.max(axis=1, keepdims=True)
    log_policy = q - top - np.log(np.exp(q - top).sum(axis=1, keepdims=True))
    steps = problem.demonstrations
    return float(-log_policy[steps.states, steps.actions].sum() / len(steps))


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result


def compare(
    options: dict[str, Any], n_thetas: int, bellman: str, plain_residual: float, residual: float
) -> dict[str, Any]:
    problem = boirl.load_problem(**options, box="wide", bellman=bellman)
    problem = replace(problem, solver=replace(problem.solver, tolerance=residual))
    rng = np.random.default_rng(SEED)
    thetas = problem.box.from_unit(rng.random((n_thetas, problem.box.dimension)))
    # The first evaluation prepares what all others share, and imports.
    problem.evaluate(thetas[0])
    ours, whole, plain, difference = [], [], [], []
    for theta in track(thetas, description=f"{bellman:>10}", transient=True):
        # Twice, and the better of each: what else the machine does is not what is measured.
        own = [seconds(partial(problem.nll, theta)) for _ in range(2)]
        entire = [seconds(partial(problem.evaluate, theta))[0] for _ in range(2)]
        other = seconds(partial(plain_sweeps, problem, theta, plain_residual))
        ours.append(min(time for time, _ in own))
        whole.append(min(entire))
        plain.append(other[0])
        difference.append(abs(own[0][1] - other[1]))
    one_by_one = sum(ours)
    together, _ = seconds(partial(problem.nll_batch, thetas))
    return {
        "problem": problem.name,
        "states": problem.mdp.n_states,
        "bellman": bellman,
        "thetas": n_thetas,
        "our_residual": residual,
        "plain_residual": plain_residual,
        "our_median_seconds": float(np.median(ours)),
        "plain_median_seconds": float(np.median(plain)),
        "ratio_of_medians": float(np.median(plain) / np.median(ours)),
        "evaluation_median_seconds": float(np.median(whole)),
        "evaluation_ratio_of_medians": float(np.median(plain) / np.median(whole)),
        "smallest_ratio": float((np.array(plain) / np.array(ours)).min()),
        "largest_difference_of_nll": max(difference),
        "gain_from_all_cores": one_by_one / together,
    }


def recursive_logit(data: Path | None) -> dict[str, Any]:
    problem = boirl.load_problem("borlange-recursive-logit", data=data)
    problem.evaluate(RECURSIVE_LOGIT_THETA)
    taken = [seconds(partial(problem.evaluate, RECURSIVE_LOGIT_THETA))[0] for _ in range(5)]
    one_thread, _ = seconds(partial(boirl.explore, problem, SEARCH_EVALUATIONS, seed=SEED))
    with (
        patch("boirl.problem.base.single_thread", nullcontext),
        patch("boirl.search.sampler.single_thread", nullcontext),
        patch("boirl.surrogate.fitting.single_thread", nullcontext),
        patch("boirl.surrogate.fitted.single_thread", nullcontext),
    ):
        all_threads, _ = seconds(partial(boirl.explore, problem, SEARCH_EVALUATIONS, seed=SEED))
    return {
        "trips": len(problem.demonstrations),
        "median_seconds": float(np.median(taken)),
        "search_evaluations": SEARCH_EVALUATIONS,
        "search_seconds_one_thread": one_thread,
        "search_seconds_all_threads": all_threads,
        "gain_from_one_thread": all_threads / one_thread,
    }


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, default=None, help="folder with the Borlange data")
    parser.add_argument("--out", type=Path, default=Path("results/bench"))
    parser.add_argument("--tiny", action="store_true", help="a small town, to see that it runs")
    arguments = parser.parse_args(argv)
    console = Console(soft_wrap=True)
    report: dict[str, Any] = {}
    options: dict[str, Any] = {"name": "borlange-virtual", "data": arguments.data}
    n_thetas = 2 if arguments.tiny else THETAS
    if arguments.tiny:
        options = {"name": "road-network", "n_links": 200}
    else:
        try:
            report["recursive_logit"] = recursive_logit(arguments.data)
        except InvalidInputError as error:
            console.print(f"on a generated town of the same size, because {error}", markup=False)
            options = {"name": "road-network", "n_links": TOWN_LINKS}
    rows = [compare(options, n_thetas, *comparison) for comparison in COMPARISONS]
    report["evaluation"] = rows
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "roads_speed.json"
    path.write_text(json.dumps(report, indent=2) + "\n")
    title = f"{rows[0]['problem']}, {rows[0]['states']:,} states: one NLL, median of {n_thetas}"
    table = Table(box=None, title=title)
    headings = (
        "operator",
        "ours",
        "plain sweeps",
        "ratio",
        "with gradient",
        "smallest",
        "all cores",
    )
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row["bellman"],
            f"{1000 * row['our_median_seconds']:.0f} ms to {row['our_residual']:g}",
            f"{1000 * row['plain_median_seconds']:.0f} ms to {row['plain_residual']:g}",
            f"{row['ratio_of_medians']:.1f}",
            f"{row['evaluation_ratio_of_medians']:.1f}",
            f"{row['smallest_ratio']:.1f}",
            f"{row['gain_from_all_cores']:.2f} x",
        )
    console.print(table)
    if "recursive_logit" in report:
        console.print(
            f"recursive logit, {report['recursive_logit']['trips']} trips: "
            f"{report['recursive_logit']['median_seconds']:.2f} s per evaluation; a search is "
            f"{report['recursive_logit']['gain_from_one_thread']:.1f} times faster on one thread"
        )
    console.print(f"written: {path}")


if __name__ == "__main__":
    main()
