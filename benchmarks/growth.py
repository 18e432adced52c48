"""How do time and memory of one evaluation grow with the size of a problem?

Generated towns of up to a million states, and a problem whose 25 actions may lead from each of 716
states to any other. Run with `make bench`, or `python benchmarks/growth.py --out results/bench`.
Each size is measured in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

SIZES = (20_000, 100_000, 300_000, 1_000_000)
STATES_PER_LINK = 3.2
OPERATORS = ("max", "logsumexp")
THETA = (-1.5, -0.7, -0.8)
DENSE_STATES, DENSE_ACTIONS, DENSE_GAMMA = 716, 25, 0.99


def town(states: int, bellman: str) -> Any:
    import boirl

    links = round(states / STATES_PER_LINK)
    return boirl.load_problem("road-network", n_links=links, seed=0, bellman=bellman)


def dense(states: int, bellman: Any) -> Any:
    """Every action may lead from any state to any other."""
    import boirl

    rng = np.random.default_rng(0)
    probabilities = rng.random((states, DENSE_ACTIONS, states)) ** 8
    probabilities /= probabilities.sum(axis=2, keepdims=True)
    mdp = boirl.TabularMDP.from_probabilities(probabilities, DENSE_GAMMA)
    bounds = dict.fromkeys(("first", "second", "third"), (-2.5, 0.0))
    reward = boirl.LinearReward(rng.normal(size=(states, 3)), bounds)
    problem = boirl.TabularProblem(mdp, reward, solver=boirl.TabularSolver(bellman), name="dense")
    return problem.with_demonstrations(problem.demonstrate(THETA, 50, seed=0, horizon=30))


def measure(kind: str, states: int, bellman: str) -> dict[str, Any]:
    """One evaluation; runs in a process of its own."""
    began = time.perf_counter()
    problem = {"town": town, "dense": dense}[kind](states, bellman)
    built = time.perf_counter()
    evaluation = problem.evaluate(THETA)
    return {
        "kind": kind,
        "bellman": bellman,
        "states": problem.mdp.n_states,
        "transitions": problem.mdp.transition.nnz,
        "build_seconds": built - began,
        "evaluation_seconds": time.perf_counter() - built,
        "nll": evaluation.nll,
        "failure": evaluation.failure,
        # The kernel counts in kilobytes. The whole process, with Python and the problem.
        "peak_gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    seconds, memory = figure.subplots(1, 2)
    towns = [row for row in rows if row["kind"] == "town"]
    for bellman in OPERATORS:
        own = [row for row in towns if row["bellman"] == bellman]
        states = [row["states"] for row in own]
        seconds.loglog(states, [row["evaluation_seconds"] for row in own], "o-", label=bellman)
        memory.loglog(states, [row["peak_gigabytes"] for row in own], "o-", label=bellman)
    reference = np.array([towns[0]["states"], towns[-1]["states"]], dtype=float)
    start = towns[0]["evaluation_seconds"]
    seconds.loglog(reference, start * reference / reference[0], "k:", label="proportional")
    seconds.set_ylabel("seconds of one evaluation")
    memory.set_ylabel("peak memory of the process, GB")
    for axes in (seconds, memory):
        axes.set_xlabel("states")
        axes.grid(True, which="both", alpha=0.3)
        axes.legend()
    figure.suptitle("One evaluation on generated towns")
    figure.savefig(path, dpi=130)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/bench"))
    parser.add_argument("--states", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--tiny", action="store_true", help="small towns, to see that it runs")
    arguments = parser.parse_args(argv)
    full = DENSE_STATES
    if arguments.tiny:
        arguments.states, full = [500, 1000], 30
    console = Console(soft_wrap=True)
    context = multiprocessing.get_context("spawn")
    rows = []
    for bellman in OPERATORS:
        for kind, states in [("town", size) for size in arguments.states] + [("dense", full)]:
            with (
                console.status(f"{kind}, {bellman}, {states} states"),
                context.Pool(1, maxtasksperchild=1) as pool,
            ):
                rows.append(pool.apply(measure, (kind, states, bellman)))
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "growth.json"
    path.write_text(json.dumps(rows, indent=2) + "\n")
    draw(rows, path.with_suffix(".png"))
    table = Table(box=None, title="one evaluation")
    for heading in (
        "problem",
        "operator",
        "states",
        "transitions",
        "seconds",
        "peak GB",
        "seconds to build",
    ):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row["kind"],
            row["bellman"],
            f"{row['states']:,}",
            f"{row['transitions']:,}",
            f"{row['evaluation_seconds']:.2f}",
            f"{row['peak_gigabytes']:.2f}",
            f"{row['build_seconds']:.1f}",
        )
    console.print(table)
    console.print(f"written: {path} {path.with_suffix('.png')}")


if __name__ == "__main__":
    main()
