"""How do time and memory of one evaluation grow with the size of a town?

Run with `make bench`, or `python benchmarks/roads_growth.py --out results/bench`. Each size is
measured in a process of its own.
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


def measure(states: int, bellman: str) -> dict[str, Any]:
    """One evaluation on a generated town; runs in a process of its own."""
    import boirl

    began = time.perf_counter()
    links = round(states / STATES_PER_LINK)
    problem = boirl.load_problem("road-network", n_links=links, seed=0, bellman=bellman)
    built = time.perf_counter()
    evaluation = problem.evaluate(THETA)
    return {
        "bellman": bellman,
        "states": problem.mdp.n_states,
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
    for bellman in OPERATORS:
        own = [row for row in rows if row["bellman"] == bellman]
        states = [row["states"] for row in own]
        seconds.loglog(states, [row["evaluation_seconds"] for row in own], "o-", label=bellman)
        memory.loglog(states, [row["peak_gigabytes"] for row in own], "o-", label=bellman)
    reference = np.array([rows[0]["states"], rows[-1]["states"]], dtype=float)
    start = rows[0]["evaluation_seconds"]
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
    if arguments.tiny:
        arguments.states = [500, 1000]
    console = Console(soft_wrap=True)
    context = multiprocessing.get_context("spawn")
    rows = []
    for bellman in OPERATORS:
        for states in arguments.states:
            with (
                console.status(f"{bellman}, {states} states"),
                context.Pool(1, maxtasksperchild=1) as pool,
            ):
                rows.append(pool.apply(measure, (states, bellman)))
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "roads_growth.json"
    path.write_text(json.dumps(rows, indent=2) + "\n")
    draw(rows, path.with_suffix(".png"))
    table = Table(box=None, title="one evaluation on generated towns")
    for heading in ("operator", "states", "seconds", "peak GB", "seconds to build"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row["bellman"],
            f"{row['states']:,}",
            f"{row['evaluation_seconds']:.2f}",
            f"{row['peak_gigabytes']:.2f}",
            f"{row['build_seconds']:.1f}",
        )
    console.print(table)
    console.print(f"written: {path} {path.with_suffix('.png')}")


if __name__ == "__main__":
    main()
